import type { Checkpoints } from '../checkpoints.js'
import type { RemoteKeeper } from '../remote/remote-keeper.js'

/** What the tools of this package need of a home. */
export interface CheckpointsToolServices {
  /** The checkpoints of the home; opened with the first call. */
  checkpoints(): Promise<OpenedCheckpoints>
}

/** Checkpoints, and which workspace a folder belongs to. */
export interface OpenedCheckpoints {
  readonly checkpoints: Checkpoints
  /** The workspace of a folder on this machine; `null` for what is none, such as the person's home. */
  rootOf(folder: string): string | null
  /** The run under way in a session, and where its turn began in the log; `null` when there is none. */
  runOf(sessionId: string): Promise<{ readonly runId: string; readonly turnSeq: number | null } | null>
  /** Notes that a checkpoint was taken for a run. */
  adopt(root: string, runId: string): void
  /** What keeps files of another machine; `null` for an agent without a session. */
  remote(): Promise<RemoteKeeper | null>
}
