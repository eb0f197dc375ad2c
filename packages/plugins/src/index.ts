export { pluginsExtension } from './commands/plugins-extension.js'
export { type HomePlugins, openPlugins } from './open-plugins.js'
export type { PluginHooks } from './package/components.js'
export type { PluginHost, PluginProgram, ProgramResult } from './plugin-host.js'
