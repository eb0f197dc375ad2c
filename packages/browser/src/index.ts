export type { BrowserOptions } from './browser-options.js'
export { createBrowser, type HomeBrowser } from './extension.js'
export type { Login, LoginInfo, Vault } from './vault/vault.js'
