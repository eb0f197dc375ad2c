export { TOOLSETS } from '@hermes/registry'
export { createCommandSession } from './agents/command-session.js'
export { type OpenedHome, openHome } from './app/open-home.js'
export { type ChatVariables, emailAccount, ownAccount, telegramAccount } from './chats/chat-accounts.js'
export { takenKeys } from './chats/home-platforms.js'
export type { OwnPlatform } from './chats/own-platform.js'
export type { BackendStatus } from './environment/terminal-backends.js'
export { createFileLogger } from './home/file-logger.js'
export { secretsOfHome } from './home/secrets-of-home.js'
export { configuredModels, toolsetsOf } from './home/settings.js'
export { borrowedKeys, oauthSettings, poolStrategy } from './models/credentials.js'
export type { Fallbacks } from './models/fallbacks.js'
export { toRequestedModel } from './models/home-models.js'
export { isListed } from './models/listed-models.js'
export { MIXTURE, type MixtureChoice } from './models/mixtures.js'
export {
  type ConfiguredEndpoint,
  chooseModel,
  type ModelChoice,
  type ModelChoiceOptions,
  plainName,
  poolName,
} from './models/model-choice.js'
export { API_MODE_NAMES } from './models/named-endpoints.js'
export { openRuntime } from './open-runtime.js'
export type { AgentRequest, ReadyAgent, Runtime, RuntimeOptions, SessionJob, ToolStatus } from './runtime.js'
export { trustQuestion } from './trust/trust-question.js'
