import type { ActingPlugin, Action } from '@hermes/contracts/policy'

/** Why a plugin may not do something that it has not declared; `null` when it has, or need not. Files go by the rules for files. */
export function undeclared(action: Action, plugin: ActingPlugin | undefined): string | null {
  if (plugin === undefined) return null
  if (action.type === 'spawn' && !plugin.exec) return `the plugin ${plugin.name} has not declared that it runs commands`
  if (action.type !== 'fetch' || !URL.canParse(action.url)) return null
  const url = new URL(action.url)
  return isDeclared(url, plugin.network) ? null : `the plugin ${plugin.name} has not declared the host ${url.host}`
}

function isDeclared({ host, hostname }: URL, network: ActingPlugin['network']): boolean {
  if (typeof network === 'boolean') return network
  return network.some(
    (one) => one === host || one === hostname || (one.startsWith('*.') && hostname.endsWith(one.slice(1))),
  )
}
