/** What one command is held to beyond its environment: it runs a program of somebody whom nobody gave more. */
export interface CommandHold {
  /** Folders that it reads although they are hidden. Absolute; those that are missing are passed over. */
  readonly readable: readonly string[]
  /** Whether it has the network as others do; without, it has none where it is isolated. */
  readonly network: boolean
  /** Variables that it gets, added to those it keeps; `null`: it keeps all, and what it exports stays. */
  readonly variables: {
    readonly withholds: (name: string, value: string) => boolean
    readonly added: Readonly<Record<string, string>>
  } | null
}

/** The variables of a command that is held. */
export function heldVariables(
  env: Readonly<Record<string, string>>,
  hold: CommandHold | null | undefined,
): Readonly<Record<string, string>> {
  if (hold?.variables == null) return env
  const { withholds, added } = hold.variables
  return { ...Object.fromEntries(Object.entries(env).filter(([name, value]) => !withholds(name, value))), ...added }
}

/** How a command that is held is isolated. */
export function isolateOptions(
  { network }: { readonly network?: 'on' | 'off' },
  hold: CommandHold | null | undefined,
): { readonly network?: 'on' | 'off'; readonly readable?: readonly string[] } {
  const own = network === undefined ? {} : { network }
  if (!hold) return own
  return { ...own, ...(hold.network ? {} : { network: 'off' }), readable: hold.readable }
}
