import { networkNeeds } from './command/needs-network.js'
import type { AnalyzedAction } from './match-rules.js'

/**
 * What is asked before an isolated command gets the network that others of its session do without; `null` where nothing is. Package managers
 * reach their registries, and one answer counts for a program and a host. The one place that says when.
 */
export function askForNetwork({
  action,
  command,
}: AnalyzedAction): { readonly rules: readonly string[]; readonly reason: string } | null {
  if (action.type !== 'spawn' || action.network !== 'on' || action.outside || !command) return null
  const needs = networkNeeds(command.collected)
  const remote = needs.filter(({ kind }) => kind === 'far')
  const others = needs.filter(({ kind }) => kind === 'none')
  const isPlain = command.collected.complete && remote.length === 0 && others.length === 0
  if (isPlain && needs.length > 0) return null
  const named = remote.map(({ name, host }) => (host === null ? name : `${name} to ${host}`))
  const rules = remote.map(({ name, host }) => (host === null ? `network-${name}` : `network-${name}-${host}`))
  const beside = others.map(({ name }) => name)
  return {
    // Programs beside it would have the network too.
    rules: [
      ...new Set([
        ...rules,
        ...beside.map((name) => `network-beside-${name}`),
        ...(rules.length === 0 ? ['network'] : []),
      ]),
    ],
    reason: `it needs the network${named.length > 0 ? ` (${[...new Set(named)].join(', ')})` : ''}${beside.length > 0 ? `, which ${[...new Set(beside)].join(' and ')} would have too` : ''}, and text from outside was read, which may have asked for that`,
  }
}
