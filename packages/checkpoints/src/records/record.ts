import type { SkipReason } from '../objects/tree.js'

/**
 * Why a checkpoint was taken. `automatic`: before a turn changed something. `manual`: somebody asked for it. `restore`: before a restore,
 * so that it can be undone.
 */
export type CheckpointKind = 'automatic' | 'manual' | 'restore'

/** The state of a workspace at one moment. */
export interface Checkpoint {
  /** Grows from 1 within a workspace and is never used again. */
  readonly number: number
  /** Unix time in milliseconds. */
  readonly atMs: number
  readonly kind: CheckpointKind
  /** A name somebody gave it. */
  readonly label: string | null
  /** One line: what was about to happen. */
  readonly reason: string
  readonly sessionId: string | null
  /** The run it was taken in. */
  readonly runId: string | null
  /** The entry of the session's log from which on the conversation is undone together with it. */
  readonly undoFromSeq: number | null
  readonly tree: string
  /** Permission bits of the workspace's own folder. */
  readonly rootMode: number
  readonly files: number
  readonly bytes: number
  /** What was left out, counted by reason. */
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>
  /** The state once the work was done for which it was taken: what changed until then was us. `null` while that is not known. */
  readonly after: {
    readonly tree: string
    readonly atMs: number
    /** The number of the next checkpoint at that moment: those before it lie within this one's work. */
    readonly nextNumber: number
  } | null
}
