import type { Extension, HookHandlers, HookName } from '@hermes/contracts/extension'

/** The handlers that extensions have now, by point and in the order of registration. */
export function handlersOf(extensions: readonly Extension[]) {
  const registered: { readonly name: HookName; readonly handler: HookHandlers[HookName] }[] = []
  for (const extension of extensions)
    extension.setup({
      toolData: { from: () => ({ dispose: () => undefined }) },
      hooks: {
        on: (name, handler) => {
          const one = { name, handler }
          registered.push(one)
          return { dispose: () => void registered.splice(registered.indexOf(one), 1) }
        },
      },
    })
  return <Name extends HookName>(name: Name) =>
    registered.filter((one) => one.name === name).map(({ handler }) => handler as HookHandlers[Name])
}
