import { basename, isAbsolute, resolve } from 'node:path'
import { isJsonObject, type JsonObject } from '@hermes/contracts'
import type { ImportItem } from './item.js'
import { left, object } from './read-data.js'
import { withoutSecrets } from './secrets.js'

/** Where a list of servers was found. */
export interface ServersPlace {
  /** What `${workspaceFolder}` and paths of folders stand in. Absolute; `null` for servers of a person. */
  readonly folder: string | null
  readonly userHome: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Keys that an entry may have elsewhere and that do nothing here, and why. Others that are not read are named too. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  envFile: 'files of variables are not read: name its variables under env',
  headersHelper: 'no program is asked for headers: name them under headers',
  autoApprove: 'what may go unasked is a rule: hermes permissions',
  alwaysAllow: 'what may go unasked is a rule: hermes permissions',
  default_tools_approval_mode: 'what may go unasked is a rule: hermes permissions',
  sandbox: 'an isolated server is held as commands are',
  settings: 'they belong to an extension of the editor',
  required: 'no session waits for a server',
  timeout: 'its unit differs from program to program: here it is in seconds',
  tools: 'which of its tools are on is said with tools.include here',
}
/** Keys that say nothing that matters here. */
const SILENT = ['type', 'transport', 'source', 'name', 'description', 'gallery', 'version', 'dev']

/**
 * Servers of `mcpServers`, `servers`, `context_servers` or `mcp_servers`, as entries of ours; secrets apart. Never throws: what cannot be one is
 * left, with the reason.
 * @see https://code.claude.com/docs/en/mcp https://developers.openai.com/codex/mcp https://cursor.com/docs/mcp
 *   https://code.visualstudio.com/docs/agents/reference/mcp-configuration https://zed.dev/docs/ai/mcp
 */
export function serversOf(servers: JsonObject, place: ServersPlace): readonly ImportItem[] {
  return Object.entries(servers).flatMap(([name, value]) => serverOf(name, object(value), place))
}

function serverOf(theirs: string, written: JsonObject, place: ServersPlace): readonly ImportItem[] {
  const name = theirs.replace(/[^a-zA-Z0-9_-]+/g, '-').slice(0, 40)
  const read = new Reader(fill(written, place) as JsonObject)
  const address = addressOf(read, place)
  if (typeof address === 'string') return [left(`server ${theirs}`, address)]
  const { value, secrets } = withoutSecrets({ ...address, ...limitsOf(read) }, `MCP_${name}`)
  return [
    ...(name === theirs ? [] : [left(`the name ${theirs}`, `here it is ${name}`)]),
    { type: 'setting', path: ['mcp_servers', name], value },
    ...Object.entries(secrets).map(([variable, one]) => ({ type: 'secret', name: variable, value: one }) as const),
    ...read.unread().map((key) => left(`server ${theirs}: ${key}`, WITHOUT_EFFECT[key] ?? 'it has no meaning here')),
  ]
}

type Loose = Readonly<Record<string, unknown>>

/** Program or address, or what is missing. */
function addressOf(read: Reader, { folder }: ServersPlace): Loose | string {
  // Zed had the program in a map of its own.
  const command = read.take('command')
  const program = isJsonObject(command) ? command['path'] : command
  const { args, env } = isJsonObject(command) ? command : { args: read.take('args'), env: read.take('env') }
  const url = read.take('url') ?? read.take('serverUrl') ?? read.take('httpUrl')
  const isExtension = read.peek('source') === 'extension'
  if (typeof program === 'string' && program !== '') {
    if (Array.isArray(args) && !args.every((arg) => typeof arg === 'string')) return 'its args are not all texts'
    const cwd = read.take('cwd')
    const isSandboxed = read.take('sandboxEnabled') === true
    return present({
      command: program,
      args: Array.isArray(args) && args.length > 0 ? args : undefined,
      env: filled({ ...object(env), ...ofVariables(read.take('env_vars')) }),
      cwd: typeof cwd === 'string' ? (isAbsolute(cwd) ? cwd : resolve(folder ?? '/', cwd)) : undefined,
      isolated: isSandboxed || undefined,
    })
  }
  if (typeof url !== 'string' || url === '')
    return isExtension ? 'it is an extension of the editor' : 'it has no command and no url'
  if (!/^https?:|^\$\{/i.test(url)) return `${url.split(':')[0]}: is no way to a server here; http and https are`
  const wanted = read.peek('type') ?? read.peek('transport')
  const bearer = read.take('bearer_token_env_var')
  return present({
    url,
    transport: wanted === 'sse' ? 'sse' : undefined,
    headers: filled({
      ...object(read.take('headers')),
      ...object(read.take('http_headers')),
      ...ofNames(read.take('env_http_headers')),
      ...(typeof bearer === 'string' ? { Authorization: `Bearer \${${bearer}}` } : {}),
    }),
    oauth: oauthOf(read),
  })
}

function oauthOf(read: Reader): Loose | undefined {
  const { clientId, client_id = clientId, clientSecret, scopes: within } = object(read.take('oauth'))
  // Cursor: `auth: { CLIENT_ID, CLIENT_SECRET, scopes }`.
  const { CLIENT_ID, CLIENT_SECRET, scopes: beside } = object(read.take('auth'))
  const scopes = read.take('scopes') ?? within ?? beside
  return filled(
    present({
      client_id: client_id ?? CLIENT_ID,
      client_secret: clientSecret ?? CLIENT_SECRET,
      scope: Array.isArray(scopes) ? scopes.join(' ') : undefined,
    }),
  )
}

function limitsOf(read: Reader): Loose {
  const startMs = read.take('startup_timeout_ms')
  const startSeconds = read.take('startup_timeout_sec')
  const isOff = read.take('enabled') === false || read.take('disabled') === true
  const tools = filled(present({ include: read.take('enabled_tools'), exclude: read.take('disabled_tools') }))
  return present({
    enabled: isOff ? false : undefined,
    timeout: read.take('tool_timeout_sec'),
    connect_timeout: startSeconds ?? (typeof startMs === 'number' ? Math.ceil(startMs / 1000) : undefined),
    supports_parallel_tool_calls: read.take('supports_parallel_tool_calls') === true || undefined,
    tools,
  })
}

/** Codex names variables that are handed on: each alone, or with where it is. */
function ofVariables(value: unknown): JsonObject {
  const names = (Array.isArray(value) ? value : []).map((one: unknown) => (isJsonObject(one) ? one['name'] : one))
  return Object.fromEntries(names.filter((name) => typeof name === 'string').map((name) => [name, `\${${name}}`]))
}

/** A map of names of variables as one of references to them. */
function ofNames(value: unknown): JsonObject {
  return Object.fromEntries(Object.entries(object(value)).map(([key, name]) => [key, `\${${String(name)}}`]))
}

/** With what editors put in place of `${…}`: folders as they are here; `${VAR:-word}` is the word where VAR is not set; an input is a variable. */
function fill(value: unknown, place: ServersPlace): unknown {
  if (Array.isArray(value)) return value.map((item) => fill(item, place))
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, place)]))
  if (typeof value !== 'string') return value
  const folder = place.folder ?? place.userHome
  const fixed: Readonly<Record<string, string>> = {
    userHome: place.userHome,
    workspaceFolder: folder,
    workspaceRoot: folder,
    workspaceFolderBasename: basename(folder),
    pathSeparator: '/',
    '/': '/',
  }
  return value.replace(/\$\{([^{}]*)\}/g, (written, inner: string) => {
    if (Object.hasOwn(fixed, inner)) return fixed[inner]!
    const input = /^input:(.+)$/.exec(inner)?.[1]
    if (input !== undefined) return `\${${variableOf(input)}}`
    const [, name, word] = /^(\w+):-(.*)$/s.exec(inner) ?? []
    if (name === undefined) return written
    return place.env[name] === undefined ? word! : `\${${name}}`
  })
}

/** The variable that stands for an input of VS Code. */
export function variableOf(input: string): string {
  return input
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_')
}

/** Takes keys of an entry, and knows which nobody took. */
class Reader {
  readonly #entry: JsonObject
  readonly #taken = new Set(SILENT)

  constructor(entry: JsonObject) {
    this.#entry = entry
  }

  take(key: string): unknown {
    this.#taken.add(key)
    return this.#entry[key] ?? undefined
  }

  peek(key: string): unknown {
    return this.#entry[key]
  }

  unread(): readonly string[] {
    return Object.keys(this.#entry).filter((key) => !this.#taken.has(key))
  }
}

function present(map: Loose): Loose {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => value !== undefined))
}

const filled = (map: Loose): Loose | undefined => (Object.keys(map).length > 0 ? map : undefined)
