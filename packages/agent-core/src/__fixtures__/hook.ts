import type { Extension, HookHandlers, HookName, HookOptions } from '@hermes/contracts/extension'

/** An extension with one handler. `options.by` is its name; several of an agent need one each. */
export function hook<Name extends HookName>(
  name: Name,
  handler: HookHandlers[Name],
  options: HookOptions & { readonly by?: string } = {},
): Extension {
  return { name: options.by ?? `test-${name}`, setup: ({ hooks }) => void hooks.on(name, handler, options) }
}
