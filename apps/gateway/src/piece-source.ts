import type { AgentEvent } from '@hermes/agent-core'
import type { ReplySummary } from './completion.js'
import type { Piece, ReplyReader } from './reply.js'

/** What a reply is made of, taken one by one, and what it came to once all was taken. */
export interface ReplySource {
  readonly reader: ReplySummary
  /** The next piece, or `null` after the end. */
  next(): Promise<Piece | null>
  /** Nobody reads on: what is under way is ended. */
  leave(): Promise<void>
}

/** The pieces of one run. What is not taken waits with its reader, where deltas merge. */
export class PieceSource implements ReplySource {
  readonly #events: AsyncIterator<AgentEvent>
  readonly reader: ReplyReader
  readonly #ready: Piece[] = []

  readonly #stop: () => void

  /** `stop` interrupts the run. */
  constructor(events: AsyncIterable<AgentEvent>, reader: ReplyReader, stop: () => void) {
    this.#events = events[Symbol.asyncIterator]()
    this.#stop = stop
    this.reader = reader
  }

  async next(): Promise<Piece | null> {
    for (;;) {
      const piece = this.#ready.shift()
      if (piece) return piece
      const result = await this.#events.next()
      if (result.done) return null
      this.#ready.push(...this.reader.read(result.value))
    }
  }

  async leave(): Promise<void> {
    this.#stop()
    await this.#events.return?.()
  }
}
