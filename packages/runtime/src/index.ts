export { findContextFile, readSoul } from './context-files.js'
export { createFileLogger } from './file-logger.js'
export {
  type ConfiguredEndpoint,
  type ConfiguredModel,
  chooseModel,
  type ModelChoice,
  type ModelWishes,
} from './model-choice.js'
export {
  type AgentRequest,
  openRuntime,
  type ReadyAgent,
  type Runtime,
  type RuntimeOptions,
  type ToolStatus,
} from './open-runtime.js'
