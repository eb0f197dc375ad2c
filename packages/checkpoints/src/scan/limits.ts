/** How much checkpoints may take. */
export interface CheckpointLimits {
  /** Checkpoints kept of one workspace; the oldest goes first. Default 20. */
  readonly maxSnapshots: number
  /** Of all workspaces together. Default 500 MiB. */
  readonly maxTotalBytes: number
  /** Larger files are named, not kept. Default 10 MiB. */
  readonly maxFileBytes: number
  /** A workspace with more names than this is not kept at all. Default 200,000. */
  readonly maxFiles: number
  /** How long taking one may last. Default 30,000. */
  readonly timeoutMs: number
}

/** The defaults documented at {@link CheckpointLimits}. */
export const defaultLimits: CheckpointLimits = Object.freeze({
  maxSnapshots: 20,
  maxTotalBytes: 500 * 2 ** 20,
  maxFileBytes: 10 * 2 ** 20,
  maxFiles: 200_000,
  timeoutMs: 30_000,
})
