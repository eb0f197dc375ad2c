import { isJsonObject, type JsonObject } from '@hermes/contracts'
import type { CommandContext, CommandOutput, CommandResult, ExtensionApi } from '@hermes/contracts/extension'
import { changedTools } from '../servers/listing.js'
import type { McpServer } from '../servers/server.js'
import type { ServerAddress } from '../settings/server-settings.js'
import { cleanLine } from '../tools/clean-text.js'
import { toolNames } from '../tools/names.js'
import { isWanted } from '../tools/server-tools.js'
import { type McpCommandParts, serverOf, unknown, usage } from './parts.js'

const VERBS = ['list', 'add', 'test', 'tools', 'login', 'logout', 'reload', 'remove']

/** Adds `/mcp`, which `hermes mcp` is too, and `/reload-mcp`. */
export function mcpCommands(api: ExtensionApi, parts: McpCommandParts): void {
  api.commands.add({
    name: 'mcp',
    summary: 'servers of tools: list, test, add, log in, remove',
    usage: '[add NAME COMMAND | test|tools|login|logout|remove SERVER]',
    duringRun: 'allowed',
    needsSession: false,
    parameters: {
      type: 'object',
      properties: {
        accept: { type: 'boolean', default: false, description: 'take tools as they are now' },
        device: { type: 'boolean', default: false, description: 'log in with a code that is entered on any device' },
        words: { type: 'array', items: { type: 'string' }, default: [], description: VERBS.join(', ') },
      },
    },
    complete: (words) =>
      words.length === 0 ? VERBS : words.length === 1 ? parts.servers.list().map(({ name }) => name) : [],
    run: (args, context) => run(parts, args, context),
  })
  api.commands.add({
    name: 'reload-mcp',
    summary: 'reads mcp_servers again; servers that changed are started anew',
    duringRun: 'allowed',
    needsSession: false,
    run: () => reload(parts),
  })
}

async function run(
  parts: McpCommandParts,
  args: JsonObject,
  { session, signal, notice, ask }: CommandContext,
): Promise<CommandResult> {
  const [verb = 'list', ...rest] = args['words'] as readonly string[]
  switch (verb) {
    case 'list':
      return list(parts)
    case 'add':
      return add(parts, rest, signal)
    case 'test':
      return test(parts, rest, signal)
    case 'tools':
      return tools(parts, rest, { signal, accepts: args['accept'] === true })
    case 'login':
      // Chats show nothing before the result, so nobody would see where to go.
      if (session && !ask)
        throw usage(`Nobody can be asked here. Log in in a terminal: hermes mcp login ${rest[0] ?? 'SERVER'}`)
      return (await import('./login-commands.js')).login(parts, rest, {
        ...{ signal, notice, isByCode: args['device'] === true },
        ...(ask ? { ask } : {}),
      })
    case 'logout':
      return (await import('./login-commands.js')).logout(parts, rest)
    case 'reload':
      return reload(parts)
    case 'remove':
      return remove(parts, rest)
    case 'import':
      throw usage('Servers of other programs are taken over in a terminal: hermes mcp import')
    default:
      throw usage(`There is no "/mcp ${verb}". It can be ${VERBS.join(', ')}.`)
  }
}

async function list({ servers, reread }: McpCommandParts): Promise<CommandResult> {
  const all = await reread()
  const rows = await Promise.all(
    all.servers.map(async ({ name, address, isEnabled }) => {
      const server = servers.get(name)
      await server?.load()
      const state = !isEnabled ? 'off' : server ? stateOf(server) : 'not loaded: /reload-mcp'
      const tools = server?.listing?.tools.length ?? null
      const where = placeOf(address)
      return {
        cells: [name, state, tools === null ? '' : `${tools} tools`, where],
        isDim: !isEnabled,
        data: { name, state, tools, where },
      }
    }),
  )
  const problems = all.problems.map(({ path, message }) => `mcp_servers.${path.join('.')}: ${message}`)
  const table = { type: 'table', rows, empty: 'No MCP server yet. Add one: hermes mcp add NAME -- COMMAND' } as const
  return problems.length === 0 ? table : [table, { type: 'text', text: problems.join('\n'), isProblem: true }]
}

function stateOf({ state, listing }: McpServer): string {
  if (state.type === 'failed') return `failed: ${state.message}`
  if (state.type === 'stopped') return listing ? 'starts when needed' : 'not started yet'
  return state.type
}

/** The program or address, without its secrets. */
function placeOf(address: ServerAddress): string {
  if (address.type === 'stdio') return cleanLine(address.argv.join(' '), 120)
  const url = new URL(address.url)
  return `${url.origin}${url.pathname}`
}

/** Writes the entry, then tries it: what a server needs is often missing the first time. */
async function add(
  { servers, options, read, reread, use }: McpCommandParts,
  [name, first, ...rest]: readonly string[],
  signal: AbortSignal,
): Promise<CommandResult> {
  if (name === undefined || first === undefined) throw usage('Use /mcp add NAME COMMAND … or /mcp add NAME ADDRESS.')
  const entry = entryOf(first, rest)
  const entered = read({ value: { [name]: entry } })
  // A variable may be set later; what stands in the file is the reference.
  const wrong = entered.problems.filter(({ message }) => !message.includes('is not set'))
  if (wrong.length > 0) throw usage(`${wrong[0]!.path.join('.')}: ${wrong[0]!.message}`)
  if (name.includes('.')) throw usage(`"${name}": name it without a dot.`)
  if (isThere((await options.reread()).value, name))
    throw usage(`There is an MCP server "${name}" already. Remove it first: /mcp remove ${name}`)
  await options.writeServer(name, entry)
  const now = await reread()
  use(now)
  const added = { type: 'text', text: `Added ${name} to mcp_servers of config.yaml.` } as const
  if (!servers.get(name) || entered.servers.length === 0) {
    const line = now.problems.find(({ path }) => path[0] === name)?.message ?? 'it is switched off.'
    return [added, { type: 'text', text: `It is not used yet: ${line}`, isProblem: true }]
  }
  return [added, await test({ servers }, [name], signal)].flat()
}

const isThere = (configured: unknown, name: string) => isJsonObject(configured) && Object.hasOwn(configured, name)

function entryOf(first: string, rest: readonly string[]): JsonObject {
  if (first.startsWith('{')) {
    const entry = parsed(first)
    if (isJsonObject(entry)) return entry
    throw usage('What follows the name begins with "{", and is no JSON.')
  }
  if (/^https?:/i.test(first)) return { url: first }
  return { command: first, ...(rest.length > 0 ? { args: rest } : {}) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

async function test(
  { servers }: Pick<McpCommandParts, 'servers'>,
  [name, ...more]: readonly string[],
  signal: AbortSignal,
): Promise<CommandOutput> {
  if (more.length > 0) throw usage('Use /mcp test [SERVER].')
  const tested = name === undefined ? servers.list() : [serverOf(servers, name)]
  if (tested.length === 0) return { type: 'text', text: 'There is no MCP server to test.' }
  const found = await Promise.all(
    tested.map(async (server) => {
      try {
        server.forgive()
        await server.disconnect()
        const client = await server.connect(signal)
        const { tools, version } = server.listing!
        const protocol = client.getNegotiatedProtocolVersion() ?? 'unknown'
        return { level: 'ok', text: `${server.name}: ${tools.length} tools, protocol ${protocol}, ${version}` } as const
      } catch (error) {
        if (signal.aborted) throw error
        return { level: 'fail', text: (error as Error).message } as const
      }
    }),
  )
  return { type: 'findings', findings: found }
}

async function tools(
  { servers }: McpCommandParts,
  [name, ...more]: readonly string[],
  { signal, accepts }: { readonly signal: AbortSignal; readonly accepts: boolean },
): Promise<CommandResult> {
  if (name === undefined || more.length > 0) throw usage('Use /mcp tools SERVER.')
  const server = serverOf(servers, name)
  await server.load()
  if (!server.listing) await server.connect(signal)
  const accepted = accepts ? await server.accept() : []
  const listing = server.listing!
  const changed = new Set(changedTools(listing))
  const names = toolNames(
    name,
    listing.tools.map((tool) => tool.name),
  )
  const rows = listing.tools.map((tool) => {
    const isOn = isWanted(tool.name, server.settings.tools)
    const about = cleanLine(tool.description ?? tool.title ?? '', 300)
    const marks = [...(isOn ? [] : ['off']), ...(changed.has(tool.name) ? ['changed'] : [])]
    return {
      cells: [names.get(tool.name)!, marks.join(', '), about],
      isDim: !isOn,
      data: {
        name: names.get(tool.name)!,
        tool: tool.name,
        isOn,
        isChanged: changed.has(tool.name),
        description: about,
      },
    }
  })
  const table = { type: 'table', rows, empty: `${name} has no tools.` } as const
  if (!accepts) return table
  const text = accepted.length === 0 ? 'Nothing had changed.' : `Accepted as they are now: ${accepted.join(', ')}`
  return [table, { type: 'text', text }]
}

async function reload({ servers, reread, use }: McpCommandParts): Promise<CommandResult> {
  const read = await reread()
  for (const server of servers.list()) server.forgive()
  const { added, removed } = use(read)
  servers.begin()
  const changes = [
    ...(added.length > 0 ? [`Started anew: ${added.join(', ')}.`] : []),
    ...(removed.length > 0 ? [`Gone: ${removed.join(', ')}.`] : []),
  ]
  const lines = changes.length > 0 ? changes : ['No server changed.']
  const problems = read.problems.map(({ path, message }) => `mcp_servers.${path.join('.')}: ${message}`)
  const text = { type: 'text', text: lines.join('\n') } as const
  return problems.length === 0 ? text : [text, { type: 'text', text: problems.join('\n'), isProblem: true }]
}

async function remove(parts: McpCommandParts, [name, ...more]: readonly string[]): Promise<CommandResult> {
  if (name === undefined || more.length > 0) throw usage('Use /mcp remove SERVER.')
  const { value } = await parts.options.reread()
  if (!isThere(value, name)) throw unknown(name, isJsonObject(value) ? Object.keys(value) : [])
  await parts.options.writeServer(name, null)
  parts.use(await parts.reread())
  return { type: 'text', text: `Removed ${name} from mcp_servers of config.yaml.` }
}
