import { createHash } from 'node:crypto'

const MOST_CHARS = 64
const HASH_CHARS = 8

/** What models and rules call a tool of a server: `mcp__server__tool`, at most 64 characters, the same for the same two names. */
export function toolName(server: string, tool: string): string {
  const name = `mcp__${plain(server)}__${plain(tool)}`
  if (name.length <= MOST_CHARS && !loses(server, tool)) return name
  return shortened(name, `${server}\0${tool}`)
}

/** The toolset of a server's tools. */
export function toolsetName(server: string): string {
  return `mcp-${plain(server)}`
}

/** Letters of other alphabets all become the same sign, so that two names could. */
const loses = (server: string, tool: string) => [server, tool].some((name) => /[^\w.\-/: ]/.test(name))

const plain = (name: string) => name.replace(/[^a-zA-Z0-9_-]/g, '_')

function shortened(name: string, meant: string): string {
  const hash = createHash('sha256').update(meant).digest('hex').slice(0, HASH_CHARS)
  return `${name.slice(0, MOST_CHARS - HASH_CHARS - 1)}_${hash}`
}

/**
 * Names for the tools of a server, in its order: two that would be called the same are told apart by a part of a hash, so that neither's name
 * depends on whether the other is there. Of two with the very same name the first counts.
 */
export function toolNames(server: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  for (const tool of new Set(tools)) {
    const name = toolName(server, tool)
    counts.set(name, (counts.get(name) ?? 0) + 1)
    names.set(tool, name)
  }
  for (const [tool, name] of names) if (counts.get(name)! > 1) names.set(tool, shortened(name, `${server}\0${tool}`))
  return names
}
