export { type Checkpoints, type CheckpointsOptions, createCheckpoints, type WorkspaceInfo } from './checkpoints.js'
export { printableName } from './file-name.js'
export { type CheckpointLimits, defaultLimits } from './limits.js'
export type { ChangedPath } from './look.js'
export type { Pruned, PruneOptions } from './prune.js'
export type { Checkpoint, CheckpointKind } from './record.js'
export { reportLines } from './report-lines.js'
export type { RestoreReport, RestoreRequest } from './restore-workspace.js'
export type { TakeOptions } from './take.js'
export type { SkipReason } from './tree.js'
export {
  createTurnRecorder,
  type RecordedAction,
  type TurnRecorder,
  type TurnRecorderOptions,
} from './turn-recorder.js'
export { type WorkspaceRootOptions, workspaceRoot } from './workspace-root.js'
