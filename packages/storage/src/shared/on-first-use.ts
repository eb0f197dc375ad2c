/** An object whose methods all give promises, loaded by the first call of one of them. */
export function onFirstUse<Loaded extends object>(load: () => Promise<Loaded>): Loaded {
  type Method = (...args: readonly unknown[]) => Promise<unknown>
  let loading: Promise<Loaded> | undefined
  const get = (_: Loaded, name: string | symbol): Method | undefined =>
    // Whoever awaits the object itself asks for this one.
    name === 'then'
      ? undefined
      : async (...args) => {
          const loaded = await (loading ??= load())
          return (loaded as Record<string | symbol, Method>)[name]!(...args)
        }
  return new Proxy({} as Loaded, { get })
}
