export { type HookDeclaration, type ReadHooks, readHookFile } from './declarations.js'
export { hooksExtension } from './extension.js'
export { type HomeHooks, openHooks } from './home-hooks.js'
