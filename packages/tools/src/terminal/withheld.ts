import type { ToolContext } from '@hermes/contracts/tool'

const MOST_CHARS = 100_000

/** Says, once for each, which variables a command names that it does not get because they look like credentials. */
export function withheldNotes(
  command: string,
  { environment, state }: Pick<ToolContext, 'environment' | 'state'>,
): readonly string[] {
  const { withheld = [] } = environment.capabilities
  if (withheld.length === 0) return []
  const notified = state.scratch('withheld-variables', () => new Set<string>())
  const words = new Set(command.slice(0, MOST_CHARS).match(/\w+/g))
  const named = withheld.filter((name) => words.has(name) && !notified.has(name))
  for (const name of named) notified.add(name)
  return named.map(
    (name) =>
      `[${name} looks like a credential, so commands do not get it. The user can pass it on: terminal.env_passthrough: [${name}] in config.yaml.]`,
  )
}
