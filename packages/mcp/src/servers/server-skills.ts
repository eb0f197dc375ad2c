// Skills that a server hands out by the extension `io.modelcontextprotocol/skills`; each file is checked against the digest in the server's list.
// @see https://modelcontextprotocol.io/seps/2640-skills-extension, as of protocol 2026-07-28
import { errorLine, HermesError } from '@hermes/contracts'
import type { Client } from '@modelcontextprotocol/client'
import type { Skill, SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { cleanLine } from '../tools/clean-text.js'
import type { McpServer } from './server.js'

/** A skill of a server. Its words are the server's. */
export interface ServerSkill {
  readonly name: string
  readonly description: string
  /** How many files it has, and their bytes together, as the server says. */
  readonly size: { readonly files: number; readonly bytes: number }
  /** Its files, as its list has them. Rejects with `mcp.bad_skill`. */
  read(signal: AbortSignal): Promise<readonly { readonly path: string; readonly bytes: Uint8Array }[]>
}

const MAIN = 'SKILL.md'

/** @throws HermesError `mcp.no_skills` for a server without the extension; as `McpServer.connect`. */
export async function skillsOf(server: McpServer, signal: AbortSignal): Promise<readonly ServerSkill[]> {
  const options = { signal, timeout: server.settings.timeoutMs }
  const entries = await server.use(async (client) => {
    const skills = await clientOf(client)
    if (!skills.supported)
      throw new HermesError(`The MCP server ${server.name} has no skills.`, { code: 'mcp.no_skills' })
    return (await skills.list(undefined, options)).skills
  }, signal)
  return entries.map((entry) => {
    const files = Array.isArray(entry.resources) ? entry.resources : []
    return {
      name: entry.frontmatter.name,
      description: cleanLine(entry.frontmatter.description, 300),
      size: { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) },
      read: (stop) => read(server, entry, stop),
    }
  })
}

async function clientOf(client: Client): Promise<SkillsClient> {
  const { SkillsClient: Skills } = await import('@modelcontextprotocol/client/ext/skills')
  return new Skills(client, { skipInvalid: true })
}

async function read(server: McpServer, entry: Skill, signal: AbortSignal) {
  const { name } = entry.frontmatter
  const bad = (why: string) =>
    new HermesError(`The skill ${cleanLine(name, 64)} of the MCP server ${server.name} is not taken: ${why}.`, {
      code: 'mcp.bad_skill',
    })
  if (!Array.isArray(entry.resources)) throw bad('its server does not say which files it has')
  const root = entry.uri.slice(0, -MAIN.length)
  const paths = entry.resources.map(({ uri }) => ({ uri, path: pathOf(uri, root) }))
  if (paths.some(({ path }) => path === null)) throw bad('it names files that lie elsewhere')
  const options = { signal, timeout: server.settings.timeoutMs, cacheMode: 'refresh' as const }
  return server.use(async (client) => {
    const skills = await clientOf(client)
    const files: { path: string; bytes: Uint8Array }[] = []
    for (const { uri, path } of paths) {
      const { bytes } = await skills.read(entry, uri, options).catch((error: unknown) => {
        signal.throwIfAborted()
        throw bad(cleanLine(errorLine(error), 200).replace(/\.$/, ''))
      })
      files.push({ path: path!, bytes })
    }
    return files
  }, signal)
}

/** Where a file lies in its skill; `null` for one that does not. */
function pathOf(uri: string, root: string): string | null {
  if (!uri.startsWith(root)) return null
  try {
    return decodeURIComponent(uri.slice(root.length))
  } catch {
    return null
  }
}
