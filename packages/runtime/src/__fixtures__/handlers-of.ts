import { createExtensionRegistry } from '@hermes/agent-core'
import { silentLogger } from '@hermes/contracts'
import type { Extension, HookHandlers, HookName } from '@hermes/contracts/extension'

/** The handlers that extensions have now, by point and in their order. */
export function handlersOf(extensions: readonly Extension[]) {
  const { hooks } = createExtensionRegistry(extensions, { logger: silentLogger })
  return <Name extends HookName>(name: Name) =>
    hooks.at(name).map(({ handler }) => handler as HookHandlers[Name])
}
