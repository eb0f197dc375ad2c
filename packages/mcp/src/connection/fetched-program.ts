import { basename } from 'node:path'
import type { ServerSettings } from '../settings/server-settings.js'

/** Programs that may first fetch what they start, which can take a minute. */
const FETCHING = /^(?:npx|npm|pnpm|pnpx|yarn|bunx?|uvx?|pipx|deno|docker|podman)$/

/** The program that may have to fetch the server first; `null` where none does. */
export function fetchedBy({ address }: Pick<ServerSettings, 'address'>): string | null {
  if (address.type === 'http') return null
  const name = basename(address.argv[0])
  return FETCHING.test(name) ? name : null
}

/** That a server did not answer within so long, what it may be waiting for, and what helps. */
export function lateLine(server: ServerSettings, withinMs: number): string {
  const late = `did not answer within ${withinMs / 1000} s`
  const program = fetchedBy(server)
  if (program === null) return `${late}.`
  const fetching = `${late}; ${program} may still be fetching its package`
  const { connectTimeoutMs } = server
  if (withinMs < connectTimeoutMs)
    return `${fetching}, for which connect_timeout gives it ${connectTimeoutMs / 1000} s.`
  return `${fetching}. Raise connect_timeout of its entry, or install the package first.`
}
