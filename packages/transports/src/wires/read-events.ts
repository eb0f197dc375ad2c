import type { ModelEvent, ModelFinish } from '@hermes/contracts/model'

/** An answer that is being read. */
export interface Reading {
  /** What comes from the server, where a list stands for as many chunks; `null` when the answer came in one piece. */
  readonly chunks: AsyncIterable<unknown> | null
  /** Takes in one of the chunks and gives what it added. */
  readonly push: (chunk: unknown) => readonly ModelEvent[]
  /** Whether nothing more is wanted; the rest is then left alone. Default: only the end of the chunks says so. */
  readonly isOver?: () => boolean
  /** A better error for one that ended the chunks. Default: the same. */
  explain?(error: unknown): unknown
  /** The complete answer, after the last chunk. Throws when it is not complete. */
  finish(): Promise<ModelFinish>
}

/** A reading whose chunks have a type. */
export function reading<Chunk>(
  parts: Omit<Reading, 'chunks' | 'push'> & {
    readonly chunks: AsyncIterable<Chunk | readonly Chunk[]>
    readonly push: (chunk: Chunk) => readonly ModelEvent[]
  },
): Reading {
  return parts as Reading
}

/** The reading of an answer that came in one piece. */
export function wholeAnswer(finish: () => Promise<ModelFinish>): Reading {
  return { chunks: null, push: () => NONE, finish }
}

/**
 * What a call does around its reading: it yields the reading once, is gone on with when the chunks have ended or thrown, and yields the
 * last event.
 */
export type CallFrame = AsyncGenerator<Reading | ModelEvent, void>

type Step = IteratorResult<ModelEvent, undefined>

const NONE: readonly ModelEvent[] = []
const END: Step = Object.freeze({ done: true, value: undefined })

/**
 * The events of a call. It stands in for a generator that would loop over the chunks and yield what they add, for one more generator
 * around those of an SDK costs a third of the decoding. `next` is to be called by one reader, after its last result.
 */
export class CallReader implements AsyncGenerator<ModelEvent, undefined> {
  readonly #frame: CallFrame
  #reading: Reading | null = null
  #chunks: AsyncIterator<unknown> | null = null
  #batch: readonly unknown[] = NONE
  #batchAt = 0
  #events = NONE
  #at = 0

  constructor(frame: CallFrame) {
    this.#frame = frame
  }

  next(): Promise<Step> {
    if (this.#at < this.#events.length) return Promise.resolve({ done: false, value: this.#events[this.#at++]! })
    if (!this.#chunks) return this.#goOn(this.#frame.next())
    const step = this.#fromBatch()
    return step === null ? this.#chunks.next().then(this.#take, this.#fail) : Promise.resolve(step)
  }

  /** Ends the call; the rest of the answer is left alone. */
  async return(): Promise<Step> {
    this.#events = NONE
    try {
      await this.#leave()
    } finally {
      await this.#frame.return()
    }
    return END
  }

  async throw(error: unknown): Promise<Step> {
    await this.return()
    throw error
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  readonly #take = ({ done, value }: IteratorResult<unknown>): Step | Promise<Step> => {
    if (done) {
      this.#chunks = null
      return this.next()
    }
    this.#batch = Array.isArray(value) ? value : [value]
    this.#batchAt = 0
    return this.#fromBatch() ?? this.next()
  }

  /** The next event out of chunks that are here; `null` when they have none left. */
  #fromBatch(): Step | Promise<Step> | null {
    const { isOver, push } = this.#reading!
    while (!isOver?.()) {
      if (this.#batchAt === this.#batch.length) return null
      try {
        this.#events = push(this.#batch[this.#batchAt++])
      } catch (error) {
        const fail = () => this.#fail(error)
        return this.#leave().then(fail, fail)
      }
      this.#at = 0
      if (this.#events.length > 0) return { done: false, value: this.#events[this.#at++]! }
    }
    return this.#leave().then(() => this.next(), this.#fail)
  }

  readonly #fail = (error: unknown): Promise<Step> => {
    this.#chunks = null
    return this.#goOn(this.#frame.throw(error))
  }

  async #goOn(framed: Promise<IteratorResult<Reading | ModelEvent, void>>): Promise<Step> {
    const { done, value } = await framed
    if (done || !value) return END
    if (!('push' in value)) return { done: false, value }
    this.#reading = value
    try {
      this.#chunks = value.chunks?.[Symbol.asyncIterator]() ?? null
    } catch (error) {
      return this.#fail(error)
    }
    return this.next()
  }

  async #leave(): Promise<void> {
    const chunks = this.#chunks
    this.#chunks = null
    this.#batch = NONE
    this.#batchAt = 0
    await chunks?.return?.()
  }
}
