import type { Extension, HookHandlers, HookName, HookOptions } from '@hermes/contracts/extension'

/** An extension with one handler. */
export function hook<Name extends HookName>(name: Name, handler: HookHandlers[Name], options?: HookOptions): Extension {
  return { name: `test-${name}`, setup: ({ hooks }) => void hooks.on(name, handler, options) }
}
