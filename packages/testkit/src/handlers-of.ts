import type { Extension, ExtensionApi, HookHandlers, HookName } from '@hermes/contracts/extension'

/** The handlers that extensions have now, by point and in the order of registration; what else they register is left alone. */
export function handlersOf(extensions: readonly Extension[]) {
  const registered: { readonly name: HookName; readonly handler: HookHandlers[HookName] }[] = []
  const on: ExtensionApi['hooks']['on'] = (name, handler) => {
    const one = { name, handler }
    registered.push(one)
    return { dispose: () => void registered.splice(registered.indexOf(one), 1) }
  }
  const toolData: ExtensionApi['toolData'] = { from: () => ({ dispose: () => undefined }) }
  for (const extension of extensions) extension.setup({ hooks: { on }, toolData } as ExtensionApi)
  return <Name extends HookName>(name: Name) =>
    registered.filter((one) => one.name === name).map(({ handler }) => handler as HookHandlers[Name])
}
