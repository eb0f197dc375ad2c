import type { AgentEvent, Run } from '@hermes/agent-core'
import type { Piece, ReplyReader } from './reply.js'

/** The pieces of one run, taken one by one. What is not taken waits in the run's queue, where deltas merge. */
export class PieceSource {
  readonly #events: AsyncIterator<AgentEvent>
  readonly #reader: ReplyReader
  readonly #ready: Piece[] = []
  #pending: Promise<IteratorResult<AgentEvent>> | null = null

  constructor(run: Run, reader: ReplyReader) {
    this.#events = run[Symbol.asyncIterator]()
    this.#reader = reader
  }

  /** The next piece, `idle` when nothing happened for `waitMs`, or `null` after the end. */
  async next(waitMs: number): Promise<Piece | 'idle' | null> {
    for (;;) {
      const piece = this.#ready.shift()
      if (piece) return piece
      this.#pending ??= this.#events.next()
      const result = await within(this.#pending, waitMs)
      if (result === 'idle') return 'idle'
      this.#pending = null
      if (result.done) return null
      this.#ready.push(...this.#reader.read(result.value))
    }
  }

  /** Nobody reads on: the run is interrupted. */
  async leave(): Promise<void> {
    await this.#events.return?.()
  }
}

function within<T>(promise: Promise<T>, waitMs: number): Promise<T | 'idle'> {
  const { promise: idle, resolve } = Promise.withResolvers<'idle'>()
  const timer = setTimeout(() => resolve('idle'), waitMs)
  return Promise.race([promise, idle]).finally(() => clearTimeout(timer))
}
