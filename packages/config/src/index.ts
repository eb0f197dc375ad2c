export { checkConfig } from './check-config.js'
export { changeConfigList, getConfigValue, setConfigValue, setOwnValue, unsetConfigValue } from './edit-config.js'
export { parseEnv } from './env-file.js'
export { expandReferences, type Unset } from './expand.js'
export { readText } from './files.js'
export {
  type FolderCover,
  openTrust,
  type TrustStore,
} from './folder-trust.js'
export type { ApiServerSettings, HermesConfig, ProviderSettings, TerminalSettings } from './hermes-config.js'
export { defaultHome, homeLayout } from './home.js'
export { defaultConfig, type LoadConfigOptions, loadConfig, type OwnValue } from './load-config.js'
export { migrateConfig } from './migrate-config.js'
export { allowNothing, appendPermission, loadPermissions, removePermission } from './permissions.js'
export { type PlatformSettings, platformEntry } from './platform-entry.js'
export type { ConfigProblem } from './problem.js'
export { chooseProfile, rootOfHome, takeProfileFlag } from './profiles/choose.js'
export { loadSecrets, setSecret, type Variables } from './secrets.js'
export { withTerminalVariables } from './terminal-variables.js'
export { parseYamlText, writtenConfig } from './written-config.js'
