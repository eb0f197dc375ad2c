export { type Checkpoints, createCheckpoints } from './checkpoints.js'
export { printableName } from './objects/file-name.js'
export type { SkipReason } from './objects/tree.js'
export type { ChangedPath } from './records/look.js'
export type { Pruned, PruneOptions } from './records/prune.js'
export type { Checkpoint, CheckpointKind } from './records/record.js'
export {
  createTurnRecorder,
  type TurnRecorder,
} from './records/turn-recorder.js'
export { RemoteKeeper } from './remote/remote-keeper.js'
export { pruneRemote } from './remote/remote-records.js'
export { reportLines } from './restore/report-lines.js'
export type { RestoreReport, RestoreRequest } from './restore/restore-workspace.js'
export type { CheckpointLimits } from './scan/limits.js'
export { workspaceRoot } from './scan/workspace-root.js'
