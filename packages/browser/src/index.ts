export type { BrowserOptions } from './browser-options.js'
export { createBrowser, type HomeBrowser } from './extension.js'
