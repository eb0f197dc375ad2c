// Which answers are on their way to clients: one that was lost there is given again when the same words come again.
import { createHash } from 'node:crypto'
import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import { type Entry, liveEntries, messageText, type UserMessage } from '@hermes/contracts/conversation'
import type { MetaStore } from '@hermes/storage'
import { isSame, isWords } from './history.js'

const BEGUN = 'api.begun:'
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
  /** What is demanded of it, and the tools it may call. */
  readonly terms: object
}

/** Notes of each session the newest answer that was begun for a client, and whether it has left whole. */
export class HeardAnswers {
  readonly #options: HeardAnswersOptions
  /** What a store that is slow has not written yet, and what was asked for last. */
  readonly #known = new Map<string, Note>()

  constructor(options: HeardAnswersOptions) {
    this.#options = options
  }

  /** Notes that an answer is on its way. What this resolves to notes that it has left whole. Neither rejects. */
  async begin(sessionId: string, { afterSeq, words, key, terms }: BegunAnswer): Promise<() => Promise<void>> {
    const atMs = this.#options.clock.now()
    const note: Note = {
      ...{ afterSeq, words, atMs, terms: digest(JSON.stringify(terms)), isHeard: false },
      ...(key === undefined ? {} : { key: digest(key) }),
    }
    await this.#write(sessionId, note)
    const text = JSON.stringify(note)
    return () => this.#left(sessionId, (newest) => JSON.stringify(newest) === text)
  }

  /** The answer that was begun under this key has left, as a replay. Never rejects. */
  heardUnder(sessionId: string, key: string): Promise<void> {
    return this.#left(sessionId, (newest) => newest.key === digest(key))
  }

  /**
   * Whether the log ends in a whole answer to these very words that was begun for a client and has not reached it. What was answered
   * elsewhere, under another key, or with other demands, is not.
   */
  async isLost(
    sessionId: string,
    entries: readonly Entry[],
    { message, key, terms }: Pick<BegunAnswer, 'key' | 'terms'> & { readonly message: UserMessage | null },
  ): Promise<boolean> {
    const messages = messagesIn(entries)
    const last = messages.at(-1)
    // Something came by itself since, where nobody spoke.
    const newest = messages.findLast(({ message: one }) => one.role === 'user')
    if (!message || !newest || last?.message.role !== 'assistant' || last.message.finishReason !== 'stop') return false
    if (messageText(last.message).trim() === '' || this.#options.clock.now() - last.atMs > KEEP_MS) return false
    if (!isSame(newest.message, message)) return false
    const note = await this.#noteOf(sessionId, messages)
    if (!note || note.isHeard || note.terms !== digest(JSON.stringify(terms))) return false
    return key === undefined || note.key === digest(key)
  }

  /** Whether the last answer of the log was given to a request with other demands or other tools. */
  async hasOtherTerms(sessionId: string, entries: readonly Entry[], terms: object): Promise<boolean> {
    const note = await this.#noteOf(sessionId, messagesIn(entries))
    return note !== null && note.terms !== digest(JSON.stringify(terms))
  }

  /** The note of the turn that the log ends in; `null` where that was begun elsewhere, or a day ago. */
  async #noteOf(sessionId: string, messages: ReturnType<typeof messagesIn>): Promise<Note | null> {
    const note = await this.#read(sessionId)
    const words = messages.filter(({ seq, message }) => seq > (note?.afterSeq ?? 0) && isWords(message))
    return words.length === note?.words ? note : null
  }

  /** Forgets what nobody asks for any more. */
  async prune(): Promise<void> {
    const meta = await this.#options.meta()
    const now = this.#options.clock.now()
    for (const { key, value } of await meta.list(BEGUN))
      if (!(now - noteIn(value).atMs <= KEEP_MS)) await meta.set(key, null)
  }

  async #left(sessionId: string, isMeant: (newest: Note) => boolean): Promise<void> {
    try {
      const newest = await this.#read(sessionId)
      // Another answer may have been begun meanwhile.
      if (newest && isMeant(newest)) await this.#write(sessionId, { ...newest, isHeard: true })
    } catch (error) {
      this.#warn(error)
    }
  }

  async #read(sessionId: string): Promise<Note | null> {
    const known = this.#known.get(sessionId)
    if (known) return known
    const text = await (await this.#options.meta()).get(BEGUN + sessionId)
    return text === null ? null : noteIn(text)
  }

  async #write(sessionId: string, note: Note): Promise<void> {
    this.#known.delete(sessionId)
    this.#known.set(sessionId, note)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break
      this.#known.delete(oldest)
    }
    try {
      await (await this.#options.meta()).set(BEGUN + sessionId, JSON.stringify(note))
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
  readonly terms: string
  readonly isHeard: boolean
  readonly key?: string
}

function noteIn(text: string): Note {
  return JSON.parse(text) as Note
}

function messagesIn(entries: readonly Entry[]) {
  return liveEntries(entries).flatMap((entry) => (entry.type === 'message' ? [entry] : []))
}

function digest(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
