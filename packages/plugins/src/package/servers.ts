// `mcp.json` of a plugin, as entries of `mcp_servers`. @see Agent Plugins 1.0, section 7.2
import { resolve } from 'node:path'
import { isJsonObject, type JsonObject } from '@hermes/contracts'
import { z } from 'zod'
import { insidePath, isInside } from './inside-path.js'
import { parseJson } from './parse-json.js'
import { expandPlaces, type Reader, readInside } from './reader.js'
import { shortened } from './shortened.js'

const SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json'
const MAX_SERVERS = 50

const texts = z.record(z.string(), z.string())
const stdio = z.strictObject({
  type: z.literal('stdio'),
  command: z
    .string()
    .min(1)
    .refine((text) => text.startsWith('./') || !/[\s/]/.test(text), 'it is a name, or a path that begins with ./'),
  args: z.array(z.string()).default([]),
  env: texts
    .default({})
    .refine((env) => !('PLUGIN_ROOT' in env || 'PLUGIN_DATA' in env), 'PLUGIN_ROOT and PLUGIN_DATA are not its own'),
  cwd: z
    .string()
    .regex(/^(?:\.\/|\$\{PLUGIN_(?:ROOT|DATA)\}(?:\/|$))/, 'it begins with ./, PLUGIN_ROOT or PLUGIN_DATA')
    .optional(),
})
const remote = z.strictObject({
  type: z.enum(['streamable-http', 'sse']),
  url: z.string().refine(isAllowed, 'it is no https address, or none of this machine'),
  headers: texts.default({}),
})
const entry = z.discriminatedUnion('type', [stdio, remote])
/** As the dot form has it: without `type`, and with absolute commands. */
const loose = z.looseObject({
  command: z.string().optional(),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
  url: z.string().optional(),
  headers: texts.default({}),
  cwd: z.string().optional(),
  type: z.string().optional(),
})

/** Reads the servers of a plugin; a line for each that is left out. */
export async function readServers(reader: Reader): Promise<Readonly<Record<string, JsonObject>>> {
  const isDot = reader.manifest.form === 'dot'
  const listed = isDot ? await listedLoosely(reader) : await listedStrictly(reader)
  const servers: Record<string, JsonObject> = {}
  for (const [name, value] of Object.entries(listed).slice(0, MAX_SERVERS)) {
    try {
      servers[serverName(reader.manifest.name, name)] = isDot
        ? looseEntry(value, reader)
        : await strictEntry(value, reader)
    } catch (error) {
      const reason = error instanceof z.ZodError ? lineOf(error) : (error as Error).message
      reader.problems.push(`the MCP server ${shortened(name, 60)} is left out: ${shortened(reason)}.`)
    }
  }
  return servers
}

async function listedStrictly(reader: Reader): Promise<JsonObject> {
  const text = await readInside(reader, './mcp.json')
  if (text === null) return {}
  const value: unknown = parseJson(text)
  if (!isJsonObject(value)) throw new Error('mcp.json holds no JSON object')
  const more = Object.keys(value).find((key) => key !== '$schema' && key !== 'mcpServers')
  if (more !== undefined) throw new Error(`mcp.json: ${shortened(more)} is no member of it`)
  if (value['$schema'] !== SCHEMA)
    throw new Error(`mcp.json is for another version of the standard; this one reads ${SCHEMA}`)
  if (!isJsonObject(value['mcpServers'])) throw new Error('mcp.json: mcpServers is no object')
  return value['mcpServers']
}

async function listedLoosely(reader: Reader): Promise<JsonObject> {
  const { mcpServers = './.mcp.json' } = reader.manifest.raw
  if (isJsonObject(mcpServers)) return mcpServers
  const text = typeof mcpServers === 'string' ? await readInside(reader, mcpServers) : null
  const value: unknown = text === null ? {} : parseJson(text)
  if (!isJsonObject(value)) throw new Error(`${String(mcpServers)} holds no JSON object`)
  return isJsonObject(value['mcpServers']) ? value['mcpServers'] : value
}

async function strictEntry(value: unknown, { places }: Reader): Promise<JsonObject> {
  const read = entry.parse(value)
  if (read.type !== 'stdio')
    return { url: read.url, headers: read.headers, transport: read.type === 'sse' ? 'sse' : 'http' }
  const command = read.command.startsWith('./') ? await insidePath(places.root, read.command) : read.command
  if (command === null) throw new Error(`its command ${read.command} is not in the plugin`)
  const { root, data } = places
  const cwd = resolve(root, expandPlaces(read.cwd ?? root, places))
  if ((await insidePath(root, cwd)) === null && !isInside(data, cwd)) throw new Error('its cwd is not in the plugin')
  return program(command, { ...read, cwd }, places)
}

function looseEntry(value: unknown, { places }: Reader): JsonObject {
  const { command, url, headers, cwd, type, ...read } = loose.parse(value)
  if (url !== undefined) return { url, headers, transport: type === 'sse' ? 'sse' : 'http' }
  if (command === undefined) throw new Error('it has no command and no url')
  const placed = expandPlaces(command, places)
  const path = placed.startsWith('./') ? resolve(places.root, placed) : placed
  return program(path, { ...read, cwd: resolve(places.root, expandPlaces(cwd ?? '.', places)) }, places)
}

function program(
  command: string,
  {
    args,
    env,
    cwd,
  }: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>>; readonly cwd: string },
  places: Reader['places'],
): JsonObject {
  const filled = Object.entries(env).map(([name, text]) => [name, expandPlaces(text, places)])
  return {
    command,
    args: args.map((text) => expandPlaces(text, places)),
    env: { ...Object.fromEntries(filled), PLUGIN_ROOT: places.root, PLUGIN_DATA: places.data },
    cwd,
  }
}

/** Names of servers are short, and those of different plugins never meet. */
function serverName(plugin: string, name: string): string {
  const own = name.replaceAll(/[^a-zA-Z0-9_-]+/g, '-')
  const full = own === plugin ? own : `${plugin.replaceAll('.', '-')}-${own}`
  if (full.length > 40) throw new Error(`${full} has more than 40 characters`)
  return full
}

function isAllowed(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, hash } = new URL(text)
  const isNear = hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  return username === '' && hash === '' && (protocol === 'https:' || (protocol === 'http:' && isNear))
}

function lineOf({ issues: [issue] }: z.ZodError): string {
  const at = issue?.path.map(String).join('.') ?? ''
  return `${at === '' ? '' : `${at}: `}${(issue?.message ?? 'it is not valid').replace(/\.$/, '')}`
}
