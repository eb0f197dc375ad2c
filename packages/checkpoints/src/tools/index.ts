export { createCheckpointTool } from './checkpoint.js'
export { createRestoreTool } from './restore.js'
export type { CheckpointsToolServices, OpenedCheckpoints } from './tool-services.js'
