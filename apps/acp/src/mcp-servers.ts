import type { McpServer } from '@agentclientprotocol/sdk'

const MOST_NAME_CHARS = 40

/** The servers an editor gives, as entries of `mcp_servers`. Their names become such as tools can be called by; of two with one name the last counts. */
export function serverEntries(servers: readonly McpServer[]): Readonly<Record<string, object>> {
  return Object.fromEntries(servers.map((server) => [plainName(server.name), entryOf(server)]))
}

function entryOf(server: McpServer): object {
  if (!('type' in server)) {
    const { command, args, env } = server
    return { command, args, env: pairs(env) }
  }
  if (server.type === 'http' || server.type === 'sse')
    return { url: server.url, transport: server.type, headers: pairs(server.headers) }
  // What is spoken over the editor's own connection is not asked for: the capability is missing from our greeting.
  return {}
}

function pairs(list: readonly { readonly name: string; readonly value: string }[]): Readonly<Record<string, string>> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]))
}

function plainName(name: string): string {
  return name.replace(/[^\w.-]+/g, '_').slice(0, MOST_NAME_CHARS) || 'server'
}
