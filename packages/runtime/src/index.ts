export { TOOLSETS } from '@hermes/registry'
export { findContextFile, readSoul } from './context-files.js'
export { borrowedKeys, oauthSettings, poolStrategy } from './credentials.js'
export type { Fallbacks } from './fallbacks.js'
export { createFileLogger } from './file-logger.js'
export { HomeModels, toRequestedModel } from './home-models.js'
export { MIXTURE, type MixtureChoice } from './mixtures.js'
export {
  type ConfiguredEndpoint,
  type ConfiguredModel,
  chooseModel,
  type ModelChoice,
  type ModelChoiceOptions,
  plainName,
  poolName,
} from './model-choice.js'
export { API_MODE_NAMES } from './named-endpoints.js'
export { openRuntime } from './open-runtime.js'
export type { AgentRequest, ReadyAgent, Runtime, RuntimeOptions, ToolStatus } from './runtime.js'
export { configuredModels, toolsetsOf } from './settings.js'
export type { BackendStatus } from './terminal-backends.js'
