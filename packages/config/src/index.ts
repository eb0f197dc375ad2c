export { type CheckConfigOptions, checkConfig, type KnownNames } from './check-config.js'
export { getConfigValue } from './config-value.js'
export { changeConfigList, setConfigValue, unsetConfigValue } from './edit-config.js'
export { parseEnv } from './env-file.js'
export { readText } from './files.js'
export type {
  ApiServerSettings,
  CheckpointSettings,
  HermesConfig,
  ModelSettings,
  ProviderSettings,
  TerminalSettings,
} from './hermes-config.js'
export { type DefaultHomeOptions, defaultHome, type HomeLayout, homeLayout } from './home.js'
export { type LoadConfigOptions, type LoadedConfig, loadConfig, type OwnValue } from './load-config.js'
export {
  allowNothing,
  appendPermission,
  type Decision,
  loadPermissions,
  type Permissions,
  removePermission,
} from './permissions.js'
export type { ConfigProblem } from './problem.js'
export { loadSecrets, type Secrets, setSecret, type Variables } from './secrets.js'
export { withTerminalVariables } from './terminal-variables.js'
