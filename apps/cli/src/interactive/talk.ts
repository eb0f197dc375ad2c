import type { RunInput } from '@hermes/agent-core'
import type { SessionInfo } from '@hermes/contracts/store'
import type { Runtime } from '@hermes/runtime'
import type { Output } from '../io.js'
import type { Style } from '../render/style.js'
import type { Seat } from './seat.js'

/** A conversation as its commands see it. */
export interface Talk {
  readonly runtime: Runtime
  readonly seat: Seat
  readonly output: Output
  readonly style: Style
  readonly isBusy: boolean
  isYolo: boolean
  /** A name for a session that is not stored yet. */
  title: string | null
  /** The last task; `null` before the first. */
  readonly lastText: string | null
  /** Prints a paragraph. */
  say(text: string): void
  /** Goes on with `session`, or with a new one. */
  sit(session: SessionInfo | null): Promise<void>
  /** Goes on with another model, in the same session and shell. */
  changeModel: (change: Parameters<Seat['changeModel']>[0]) => Promise<void>
  /** One turn to its end. */
  turn(input: RunInput): Promise<void>
  /** Adds a line that is sent once nothing else is before it. */
  enqueue(text: string): void
  /** Tells the run under way; without one it is the next turn. */
  steer(text: string): Promise<void>
  stop(): void
  leave(): void
}
