import { HermesError } from '@hermes/contracts'
import type { LoginFiles } from '../login/login-files.js'
import type { ConfiguredServers, McpOptions } from '../mcp-options.js'
import type { HomeServers } from '../servers/home-servers.js'
import type { McpServer } from '../servers/server.js'
import type { ReadServers as ReadSettings } from '../settings/read-servers.js'

/** The servers of a configuration. */
export interface ReadServers extends ReadSettings {
  /** Names of those that plugins bring. */
  readonly brought: readonly string[]
}

/** What the commands work with. */
export interface McpCommandParts {
  readonly servers: HomeServers
  readonly options: McpOptions
  readonly logins: LoginFiles
  read(configured: ConfiguredServers): ReadServers
  /** Reads config.yaml again. */
  reread(): Promise<ReadServers>
  /** Has the servers of a configuration from now on. */
  use(read: ReadServers): { readonly added: readonly string[]; readonly removed: readonly string[] }
}

/** @throws HermesError `mcp.unknown_server` */
export function serverOf(servers: HomeServers, name: string): McpServer {
  const server = servers.get(name)
  if (server) return server
  throw unknown(
    name,
    servers.list().map((one) => one.name),
  )
}

/** Nobody of that name, and who there is. */
export function unknown(name: string, known: readonly string[]): HermesError {
  const there = known.length === 0 ? 'There is none yet.' : `There are ${known.join(', ')}.`
  return new HermesError(`There is no MCP server "${name}". ${there}`, {
    code: 'mcp.unknown_server',
    details: { name },
  })
}

/** What was typed cannot be done. */
export const usage = (message: string) => new HermesError(message, { code: 'commands.usage' })
