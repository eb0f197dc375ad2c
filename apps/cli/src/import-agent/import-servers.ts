import { stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isJsonObject } from '@hermes/contracts'
import { UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { type ImportFlags, takeOver } from './import-agent.js'
import type { ImportItem } from './item.js'
import { left, object, readData } from './read-data.js'
import { serversOf, variableOf } from './servers.js'

/** The programs whose lists of MCP servers are found by themselves. */
const CLIENTS = ['claude-code', 'claude-desktop', 'codex', 'cursor', 'vscode', 'zed'] as const
/** One of {@link CLIENTS}. */
type Client = (typeof CLIENTS)[number]

interface ServersFile {
  readonly client: Client | null
  readonly path: string
  /** What is open when it counts; `null`: anything. */
  readonly folder: string | null
}

/** `hermes mcp import [CLIENT|FILE]`: shows the servers of another program, asks, and writes them into config.yaml. Starts none of them. */
export async function importServers(io: Io, from: string | undefined, flags: ImportFlags): Promise<number> {
  const files = from === undefined ? filesOf(CLIENTS, io) : isClient(from) ? filesOf([from], io) : [named(from, io)]
  const there = await Promise.all(
    files.map(async (file) => ((await stat(file.path).catch(() => null))?.isFile() ? [file] : [])),
  )
  const found = there.flat()
  if (found.length === 0)
    throw new UsageError(
      from === undefined || isClient(from)
        ? `No list of servers of ${from ?? CLIENTS.join(', ')} is where it usually is. Name the file: hermes mcp import FILE`
        : `There is no file ${files[0]!.path}, and no program ${from} whose servers are known: ${CLIENTS.join(', ')}`,
    )
  const items = await Promise.all(found.map((file) => readServersFile(file, io)))
  const whose = [...new Set(found.map(({ client, path }) => client ?? path))].join(', ')
  return takeOver(io, { items: items.flat(), from: found.map(({ path }) => path).join(', '), agent: whose }, flags)
}

function isClient(text: string): text is Client {
  return CLIENTS.some((client) => client === text)
}

/** A file that a person names stands for the folder it is in, as far as its form has one. */
function named(path: string, io: Io): ServersFile {
  const whole = resolve(io.cwd, path)
  const isInside = ['.cursor', '.vscode', '.zed', '.codex'].includes(basename(dirname(whole)))
  const folder = isInside ? dirname(dirname(whole)) : dirname(whole)
  return { client: null, path: whole, folder: folder === io.userHome ? null : folder }
}

/** Of the person first, then of the folder one is in: the first of a name counts. */
function filesOf(clients: readonly Client[], { env, userHome, cwd }: Io): readonly ServersFile[] {
  const own = (client: Client, ...paths: readonly string[]) =>
    paths.map((path): ServersFile => ({ client, path: resolve(userHome, path), folder: null }))
  const here = (client: Client, path: string): ServersFile => ({ client, path: join(cwd, path), folder: cwd })
  const support = join('Library', 'Application Support')
  const all: Readonly<Record<Client, readonly ServersFile[]>> = {
    'claude-code': [
      ...own('claude-code', '.claude.json', join(env['CLAUDE_CONFIG_DIR'] ?? '.claude', '.claude.json')),
      here('claude-code', '.mcp.json'),
    ],
    'claude-desktop': own(
      'claude-desktop',
      ...['.config/Claude', join(support, 'Claude')].map((at) => join(at, 'claude_desktop_config.json')),
    ),
    codex: [...own('codex', join(env['CODEX_HOME'] ?? '.codex', 'config.toml')), here('codex', '.codex/config.toml')],
    cursor: [...own('cursor', '.cursor/mcp.json'), here('cursor', '.cursor/mcp.json')],
    vscode: [
      ...own('vscode', '.config/Code/User/mcp.json', join(support, 'Code/User/mcp.json')),
      here('vscode', '.vscode/mcp.json'),
    ],
    zed: [
      ...own('zed', join(env['XDG_CONFIG_HOME'] ?? '.config', 'zed/settings.json')),
      here('zed', '.zed/settings.json'),
    ],
  }
  return clients
    .flatMap((client) => all[client])
    .filter(({ path }, at, files) => files.findIndex((file) => file.path === path) === at)
}

/** All lists of servers that a file has, whoever's form it is. Never rejects. */
async function readServersFile(
  { path, folder }: ServersFile,
  { env, userHome, cwd }: Io,
): Promise<readonly ImportItem[]> {
  const { data, items } = await readData(path)
  const place = { folder, userHome, env }
  const lists = [data['mcpServers'], data['mcp_servers'], data['context_servers'], data['servers']]
  const inside = object(data['mcp'])['servers']
  const project = object(object(data['projects'])[cwd])['mcpServers']
  const servers = [
    ...[...lists, inside].flatMap((list) => serversOf(object(list), place)),
    ...serversOf(object(project), { ...place, folder: cwd }),
  ]
  const isEmpty = items.length === 0 && servers.length === 0
  return [
    ...items,
    ...servers,
    ...inputsOf(data['inputs']),
    ...(isEmpty ? [left(path, 'it has no list of servers')] : []),
  ]
}

/** What VS Code would ask a person for is a variable here. */
function inputsOf(inputs: unknown): readonly ImportItem[] {
  return (Array.isArray(inputs) ? inputs : []).flatMap((input: unknown) => {
    if (!isJsonObject(input) || typeof input['id'] !== 'string') return []
    const what = typeof input['description'] === 'string' ? ` (${input['description']})` : ''
    return [left(`input ${input['id']}${what}`, `put it into .env of the home as ${variableOf(input['id'])}`)]
  })
}
