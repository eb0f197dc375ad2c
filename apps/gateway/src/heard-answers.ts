// Which answers are on their way to clients: one that was lost there is given again when the same words come again.
import { createHash } from 'node:crypto'
import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import { type Entry, liveEntries, messageText, type UserMessage } from '@hermes/contracts/conversation'
import type { MetaStore } from '@hermes/storage'
import { isSame, isWords } from './history.js'

const UNHEARD = 'api.unheard:'
/** Who lost an answer asks again within a day; later the same words want another one. */
const KEEP_MS = 24 * 3_600_000
const MAX_KNOWN = 1_000

/** Options of {@link HeardAnswers}. */
interface HeardAnswersOptions {
  readonly meta: () => Promise<MetaStore>
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/** An answer that is begun. */
interface BegunAnswer {
  /** The last entry of the log before. */
  readonly afterSeq: number
  /** So many messages of people the request adds there: what stands after more of them answers somebody else. */
  readonly words: number
  /** Its Idempotency-Key. */
  readonly key: string | undefined
}

/** Notes which answer of a session has not left whole yet: the newest that was begun for a client. */
export class HeardAnswers {
  readonly #options: HeardAnswersOptions
  /** What a store that is slow has not written yet, and what was asked for last. */
  readonly #known = new Map<string, string | null>()

  constructor(options: HeardAnswersOptions) {
    this.#options = options
  }

  /** Notes that an answer is on its way. What this resolves to takes the note away, once it has left whole. Neither rejects. */
  async begin(sessionId: string, { afterSeq, words, key }: BegunAnswer): Promise<() => Promise<void>> {
    const atMs = this.#options.clock.now()
    const note = JSON.stringify({ afterSeq, words, atMs, ...(key === undefined ? {} : { key: digest(key) }) })
    await this.#write(sessionId, note)
    return () => this.#take(sessionId, (newest) => newest === note)
  }

  /** The answer that was begun under this key has left, as a replay. Never rejects. */
  heardUnder(sessionId: string, key: string): Promise<void> {
    return this.#take(sessionId, (newest) => noteIn(newest)?.key === digest(key))
  }

  /**
   * Whether the log ends in a whole answer to these very words that was begun for a client and has not reached it. What was answered
   * elsewhere, or under another key, is not.
   */
  async isLost(
    sessionId: string,
    entries: readonly Entry[],
    { message, key }: { readonly message: UserMessage | null; readonly key: string | undefined },
  ): Promise<boolean> {
    const messages = liveEntries(entries).flatMap((entry) => (entry.type === 'message' ? [entry] : []))
    const last = messages.at(-1)
    // Something came by itself since, where nobody spoke.
    const newest = messages.findLast(({ message: one }) => one.role === 'user')
    if (!message || !newest || last?.message.role !== 'assistant' || last.message.finishReason !== 'stop') return false
    if (messageText(last.message).trim() === '' || this.#options.clock.now() - last.atMs > KEEP_MS) return false
    if (!isSame(newest.message, message)) return false
    const note = noteIn(await this.#read(sessionId))
    if (!note || (key !== undefined && note.key !== digest(key))) return false
    return messages.filter(({ seq, message: one }) => seq > note.afterSeq && isWords(one)).length === note.words
  }

  /** Forgets what nobody asks for any more. */
  async prune(): Promise<void> {
    const meta = await this.#options.meta()
    const now = this.#options.clock.now()
    for (const { key, value } of await meta.list(UNHEARD))
      if (!(now - (noteIn(value)?.atMs ?? 0) <= KEEP_MS)) await meta.set(key, null)
  }

  async #take(sessionId: string, isMeant: (newest: string) => boolean): Promise<void> {
    try {
      const newest = await this.#read(sessionId)
      // Another answer may have been begun meanwhile.
      if (newest !== null && isMeant(newest)) await this.#write(sessionId, null)
    } catch (error) {
      this.#warn(error)
    }
  }

  async #read(sessionId: string): Promise<string | null> {
    const known = this.#known.get(sessionId)
    return known === undefined ? (await this.#options.meta()).get(UNHEARD + sessionId) : known
  }

  async #write(sessionId: string, note: string | null): Promise<void> {
    this.#known.delete(sessionId)
    this.#known.set(sessionId, note)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break
      this.#known.delete(oldest)
    }
    try {
      await (await this.#options.meta()).set(UNHEARD + sessionId, note)
    } catch (error) {
      this.#warn(error)
    }
  }

  #warn(error: unknown): void {
    const text = 'Whether an answer was delivered could not be written down.'
    this.#options.logger.warn(text, { error: errorLine(error) })
  }
}

interface Note {
  readonly afterSeq: number
  readonly words: number
  readonly atMs: number
  readonly key?: string
}

function noteIn(text: string | null): Note | null {
  return text === null ? null : (JSON.parse(text) as Note)
}

function digest(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
