// Which answers have left for their clients whole: one that was lost on the way is given again when the same words come again.
import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import { type Entry, liveEntries, messageText, type UserMessage } from '@hermes/contracts/conversation'
import type { MetaStore } from '@hermes/storage'
import { textsIn } from './history.js'

const HEARD = 'api.heard:'
/** Who lost an answer asks again within a day; later the same words want another one. */
const KEEP_MS = 24 * 3_600_000
const MAX_KNOWN = 1_000

/** Options of {@link HeardAnswers}. */
interface HeardAnswersOptions {
  readonly meta: () => Promise<MetaStore>
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/** Notes which answers were delivered. */
export class HeardAnswers {
  readonly #options: HeardAnswersOptions
  /** What a store that is slow has not written yet, and what was asked for last. */
  readonly #known = new Map<string, number>()

  constructor(options: HeardAnswersOptions) {
    this.#options = options
  }

  /** What the session says up to this entry has left. Never rejects. */
  async heard(sessionId: string, seq: number): Promise<void> {
    const { meta, clock, logger } = this.#options
    this.#known.delete(sessionId)
    this.#known.set(sessionId, seq)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break
      this.#known.delete(oldest)
    }
    try {
      await (await meta()).set(HEARD + sessionId, `${seq} ${clock.now()}`)
    } catch (error) {
      logger.warn('That an answer was delivered could not be written down.', { error: errorLine(error) })
    }
  }

  /** Whether the log ends in a whole answer to these very words that has not reached who asked. */
  async isLost(sessionId: string, entries: readonly Entry[], message: UserMessage | null): Promise<boolean> {
    const messages = liveEntries(entries).flatMap((entry) => (entry.type === 'message' ? [entry] : []))
    const last = messages.at(-1)
    // Something came by itself since, where nobody spoke.
    const newest = messages.findLast(({ message: one }) => one.role === 'user')
    if (!message || !newest || last?.message.role !== 'assistant' || last.message.finishReason !== 'stop') return false
    if (messageText(last.message).trim() === '' || this.#options.clock.now() - last.atMs > KEEP_MS) return false
    if (JSON.stringify(textsIn([newest.message])) !== JSON.stringify(textsIn([message]))) return false
    const heard = this.#known.get(sessionId) ?? (await this.#stored(sessionId))
    return heard === null || heard < last.seq
  }

  async #stored(sessionId: string): Promise<number | null> {
    const text = await (await this.#options.meta()).get(HEARD + sessionId)
    return text === null ? null : Number.parseInt(text, 10)
  }

  /** Forgets what nobody asks for any more. */
  async prune(): Promise<void> {
    const meta = await this.#options.meta()
    const now = this.#options.clock.now()
    for (const { key, value } of await meta.list(HEARD))
      if (!(now - Number(value.split(' ')[1]) <= KEEP_MS)) await meta.set(key, null)
  }
}
