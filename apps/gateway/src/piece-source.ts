import type { AgentEvent } from '@hermes/agent-core'
import type { Piece, ReplyReader } from './reply.js'

/** The pieces of one run, taken one by one. What is not taken waits with its reader, where deltas merge. */
export class PieceSource {
  readonly #events: AsyncIterator<AgentEvent>
  readonly #reader: ReplyReader
  readonly #ready: Piece[] = []

  readonly #stop: () => void

  /** `stop` interrupts the run. */
  constructor(events: AsyncIterable<AgentEvent>, reader: ReplyReader, stop: () => void) {
    this.#events = events[Symbol.asyncIterator]()
    this.#stop = stop
    this.#reader = reader
  }

  /** The next piece, or `null` after the end. */
  async next(): Promise<Piece | null> {
    for (;;) {
      const piece = this.#ready.shift()
      if (piece) return piece
      const result = await this.#events.next()
      if (result.done) return null
      this.#ready.push(...this.#reader.read(result.value))
    }
  }

  /** Nobody reads on: the run is interrupted. */
  async leave(): Promise<void> {
    this.#stop()
    await this.#events.return?.()
  }
}
