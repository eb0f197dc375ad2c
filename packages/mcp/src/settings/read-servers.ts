import { isJsonObject, type JsonObject, nearestName } from '@hermes/contracts'
import type { OAuthSettings, SamplingLimits, ServerAddress, ServerSettings, ToolFilter } from './server-settings.js'
import { type Folders, identityOf, withFolders } from './written-entry.js'

/** What is wrong with `mcp_servers`, and where. */
interface SettingsProblem {
  readonly path: readonly string[]
  readonly message: string
}

/** The servers that can be used, and what is wrong with the others. */
export interface ReadServers {
  readonly servers: readonly ServerSettings[]
  readonly problems: readonly SettingsProblem[]
}

const NAME = /^[a-zA-Z0-9_.-]{1,40}$/
const UNSET = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}/
const DEFAULT_TIMEOUT_S = 300
const DEFAULT_CONNECT_TIMEOUT_S = 60

/** Keys that other clients know and that do nothing here, and what does; by their place in an entry. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  ssl_verify: 'name the certificate in NODE_EXTRA_CA_CERTS instead',
  client_cert: 'a proxy in front of the server can present it',
  client_key: 'a proxy in front of the server can present it',
  skip_preflight: 'there is no such check here',
  keepalive_interval: 'a connection that was lost is made again by the next call',
  'sampling.model': 'the model of the session answers; sampling.allowed_models says which may',
  'sampling.max_tool_rounds': 'no model is given tools by a server',
  'sampling.log_level': 'logging.level says what is logged',
  'oauth.client_name': 'it registers as Hermes',
}

/** The keys of an entry, and of the maps in it. */
const KEYS = {
  '': [
    ...['command', 'args', 'env', 'cwd', 'isolated', 'url', 'headers', 'transport', 'type', 'enabled', 'timeout'],
    ...['connect_timeout', 'idle_timeout_seconds', 'max_lifetime_seconds', 'tools', 'trust', 'protocol', 'auth'],
    ...['oauth', 'supports_parallel_tool_calls', 'sampling', 'elicitation', 'disabled'],
  ],
  tools: ['include', 'exclude', 'resources', 'prompts'],
  sampling: ['enabled', 'max_tokens', 'max_tokens_cap', 'max_rpm', 'timeout', 'allowed_models'],
  elicitation: ['enabled', 'timeout'],
  oauth: [
    ...['client_id', 'client_secret', 'scope', 'client_metadata_url', 'redirect_port', 'private_key'],
    ...['signing_algorithm', 'issuer', 'grant'],
  ],
} as const
/** What one of these was meant to keep a server from must not be lost with a slip of the pen. */
const BOUNDS = new Set([
  'tools',
  'trust',
  'isolated',
  'enabled',
  'disabled',
  'sampling',
  'elicitation',
  'auth',
  'oauth',
])

/** What an entry is read with. */
export interface ReadOptions {
  /** What `${userHome}`, `${workspaceFolder}` and `${workspaceFolderBasename}` stand for. Absolute. Default: they are variables like any other. */
  readonly folders?: Folders
  /** `mcp_servers` before its variables were put in. Default: as it is. */
  readonly written?: unknown
}

/**
 * Reads `mcp_servers`. One entry that is wrong is left out and named, and so is one with an unknown key that may have been a bound; any other key
 * without effect is named and the entry stays. Never throws.
 */
export function readServers(value: unknown, { folders, written = value }: ReadOptions = {}): ReadServers {
  if (!isJsonObject(value)) return { servers: [], problems: [{ path: [], message: 'it must be a map of servers.' }] }
  const servers: ServerSettings[] = []
  const problems: SettingsProblem[] = []
  for (const [name, entry] of Object.entries(value)) {
    const reader = new EntryReader(name)
    const writtenEntry = isJsonObject(written) ? (written[name] ?? entry) : entry
    try {
      const read = readServer(name, folders ? withFolders(entry, folders) : entry, reader)
      servers.push({ ...read, identity: identityOf(writtenEntry) })
    } catch (error) {
      if (!(error instanceof WrongEntry)) throw error
      problems.push(error.problem)
    }
    problems.push(...reader.problems)
  }
  return { servers, problems }
}

function readServer(name: string, entry: unknown, read: EntryReader): Omit<ServerSettings, 'identity'> {
  if (!NAME.test(name)) read.fail([], 'a server is named in at most 40 letters, digits, dots, dashes and underscores.')
  if (!isJsonObject(entry)) return read.fail([], 'it must be a map with a command or an url.')
  read.known(entry, '')
  const address = readAddress(entry, read)
  const idle = read.seconds(entry, 'idle_timeout_seconds')
  const lifetime = read.seconds(entry, 'max_lifetime_seconds')
  return {
    name,
    address,
    isEnabled: read.flag(entry, 'enabled', true) && !read.flag(entry, 'disabled', false),
    timeoutMs: read.seconds(entry, 'timeout') ?? DEFAULT_TIMEOUT_S * 1000,
    connectTimeoutMs: read.seconds(entry, 'connect_timeout') ?? DEFAULT_CONNECT_TIMEOUT_S * 1000,
    idleMs: idle,
    lifetimeMs: lifetime,
    tools: readFilter(read.part(entry, 'tools'), read),
    trust: read.oneOf(entry, 'trust', ['full', 'untrusted']),
    protocol: read.oneOf(entry, 'protocol', ['auto', 'stateless', 'legacy']),
    isParallel: read.flag(entry, 'supports_parallel_tool_calls', false),
    sampling: readSampling(entry, read),
    elicitationMs: readElicitation(entry, read),
    oauth: readOAuth(entry, read),
  }
}

function readAddress(entry: JsonObject, read: EntryReader): ServerAddress {
  const { command, url } = entry
  if (command !== undefined && url !== undefined) return read.fail([], 'it has a command and an url; keep one of them.')
  const wanted = read.text(entry, 'type') ?? read.text(entry, 'transport')
  if (url !== undefined) {
    const text = read.text(entry, 'url')!
    if (!/^https?:/i.test(text) || !URL.canParse(text))
      return read.fail(['url'], 'it must be an http or https address.')
    const known = [undefined, 'http', 'sse', 'streamable-http', 'streamableHttp', 'streamable_http']
    if (!known.includes(wanted)) return read.fail(['transport'], 'it can be http or sse.')
    return { type: 'http', url: text, headers: read.texts(entry, 'headers'), isSse: wanted === 'sse' }
  }
  const program = read.text(entry, 'command')
  if (program === undefined || program.trim() === '') return read.fail([], 'it needs a command or an url.')
  if (wanted !== undefined && wanted !== 'stdio') return read.fail(['transport'], `${wanted} needs an url.`)
  const args = read.list(entry, 'args')
  const cwd = read.text(entry, 'cwd')
  if (cwd !== undefined && !cwd.startsWith('/')) return read.fail(['cwd'], 'it must be an absolute path.')
  return {
    type: 'stdio',
    argv: [program, ...args],
    env: read.texts(entry, 'env'),
    isIsolated: read.flag(entry, 'isolated', false),
    ...(cwd === undefined ? {} : { cwd }),
  }
}

function readFilter(tools: JsonObject, read: EntryReader): ToolFilter {
  return {
    include: read.list(tools, 'include', ['tools']),
    exclude: read.list(tools, 'exclude', ['tools']),
    resources: read.flag(tools, 'resources', true, ['tools']),
    prompts: read.flag(tools, 'prompts', true, ['tools']),
  }
}

function readSampling(entry: JsonObject, read: EntryReader): SamplingLimits {
  const map = read.switched(entry, 'sampling')
  return {
    isEnabled: read.flag(map, 'enabled', true, ['sampling']),
    models: read.list(map, 'allowed_models', ['sampling']),
    maxTokens: read.number(map, 'max_tokens', ['sampling']) ?? read.number(map, 'max_tokens_cap', ['sampling']) ?? 4096,
    perMinute: read.number(map, 'max_rpm', ['sampling']) ?? 10,
    timeoutMs: read.seconds(map, 'timeout', ['sampling']) ?? 30_000,
  }
}

function readElicitation(entry: JsonObject, read: EntryReader): number | null {
  const map = read.switched(entry, 'elicitation')
  if (!read.flag(map, 'enabled', true, ['elicitation'])) return null
  return read.seconds(map, 'timeout', ['elicitation']) ?? 300_000
}

function readOAuth(entry: JsonObject, read: EntryReader): OAuthSettings {
  const auth = read.text(entry, 'auth')
  if (auth !== undefined && !['oauth', 'header', 'none'].includes(auth))
    return read.fail(['auth'], 'it can be oauth, header or none.')
  const oauth = read.part(entry, 'oauth')
  const clientId = read.text(oauth, 'client_id', ['oauth'])
  const clientSecret = read.text(oauth, 'client_secret', ['oauth'])
  const scope = read.text(oauth, 'scope', ['oauth'])
  const clientMetadataUrl = read.text(oauth, 'client_metadata_url', ['oauth'])
  if (clientMetadataUrl !== undefined && !/^https:\/\/[^/@#]+\/[^#]/i.test(clientMetadataUrl))
    return read.fail(['oauth', 'client_metadata_url'], 'it must be an https address with a path.')
  const redirectPort = read.number(oauth, 'redirect_port', ['oauth'])
  const privateKey = read.text(oauth, 'private_key', ['oauth'])
  const signingAlgorithm = read.text(oauth, 'signing_algorithm', ['oauth'])
  const issuer = readIssuer(oauth, read)
  const grant = read.oneOf(oauth, 'grant', ['authorization_code', 'client_credentials'], ['oauth'])
  if (grant === 'client_credentials' && (clientId === undefined || (clientSecret ?? privateKey) === undefined))
    return read.fail(['oauth'], 'with grant client_credentials it needs client_id, and client_secret or private_key.')
  if (issuer === undefined && (clientSecret ?? privateKey) !== undefined)
    return read.fail(['oauth', 'issuer'], 'it is needed with a secret or key: the authorization server that it is for.')
  return {
    isAllowed: auth === undefined || auth === 'oauth',
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(scope === undefined ? {} : { scope }),
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    grant,
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(signingAlgorithm === undefined ? {} : { signingAlgorithm }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(redirectPort === null ? {} : { redirectPort }),
  }
}

/** Without it the server would say who gets a secret. */
function readIssuer(oauth: JsonObject, read: EntryReader): string | undefined {
  const issuer = read.text(oauth, 'issuer', ['oauth'])
  if (issuer === undefined || (/^https?:/i.test(issuer) && URL.canParse(issuer))) return issuer
  return read.fail(['oauth', 'issuer'], 'it must be the address of an authorization server.')
}

class WrongEntry extends Error {
  readonly problem: SettingsProblem

  constructor(problem: SettingsProblem) {
    super(problem.message)
    this.problem = problem
  }
}

/** Reads the keys of one entry. */
class EntryReader {
  readonly problems: SettingsProblem[] = []
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  fail(path: readonly string[], message: string): never {
    throw new WrongEntry({ path: [this.#name, ...path], message })
  }

  note(path: readonly string[], message: string): void {
    this.problems.push({ path: [this.#name, ...path], message })
  }

  /** Names the keys of an entry, or of a map in it, that are none. */
  known(map: JsonObject, part: keyof typeof KEYS): void {
    const keys: readonly string[] = KEYS[part]
    for (const key of Object.keys(map)) {
      if (keys.includes(key)) continue
      const path = part === '' ? [key] : [part, key]
      const instead = WITHOUT_EFFECT[path.join('.')]
      const near = nearestName(key, [...keys])
      const meant = near ? `; ${near} is one` : ''
      if (instead !== undefined) this.note(path, `it has no effect; ${instead}.`)
      else if (part === '' && !BOUNDS.has(near ?? ''))
        this.note(path, `it is not a known key and has no effect${meant}.`)
      else this.fail(path, `it is not a known key${meant}. The server is not used, since it may be meant as a bound.`)
    }
  }

  /** A map in the entry, whose keys are known ones. */
  part(map: JsonObject, key: Exclude<keyof typeof KEYS, ''>): JsonObject {
    const part = this.map(map, key)
    this.known(part, key)
    return part
  }

  /** The same, which may be `true` or `false` too. */
  switched(map: JsonObject, key: Exclude<keyof typeof KEYS, ''>): JsonObject {
    return typeof map[key] === 'boolean' ? { enabled: map[key] } : this.part(map, key)
  }

  /** A text whose variables are set. */
  set(path: readonly string[], value: string): string {
    const name = UNSET.exec(value)?.[1]
    if (name === undefined) return value
    return this.fail(path, `\${${name}} is not set, so the server is not used. Put it into .env of the home.`)
  }

  text(map: JsonObject, key: string, above: readonly string[] = []): string | undefined {
    const value = map[key]
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'string') return this.fail([...above, key], 'it must be a text.')
    return this.set([...above, key], value)
  }

  texts(map: JsonObject, key: string): Readonly<Record<string, string>> {
    const entries = Object.entries(this.map(map, key)).map(([name, value]) => {
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
        return this.fail([key, name], 'it must be a text.')
      return [name, this.set([key, name], String(value))] as const
    })
    return Object.fromEntries(entries)
  }

  list(map: JsonObject, key: string, above: readonly string[] = []): readonly string[] {
    const value = map[key] ?? []
    if (!Array.isArray(value)) return this.fail([...above, key], 'it must be a list of texts.')
    return value.map((item: unknown, index) =>
      typeof item === 'string' || typeof item === 'number' || typeof item === 'boolean'
        ? this.set([...above, key, String(index)], String(item))
        : this.fail([...above, key], 'it must be a list of texts.'),
    )
  }

  map(map: JsonObject, key: string): JsonObject {
    const value = map[key] ?? {}
    return isJsonObject(value) ? value : this.fail([key], 'it must be a map.')
  }

  flag(map: JsonObject, key: string, standard: boolean, above: readonly string[] = []): boolean {
    const value = map[key] ?? standard
    return typeof value === 'boolean' ? value : this.fail([...above, key], 'it must be true or false.')
  }

  number(map: JsonObject, key: string, above: readonly string[] = []): number | null {
    const value = map[key] ?? null
    if (value === null) return null
    const isOne = typeof value === 'number' && Number.isFinite(value) && value > 0
    return isOne ? value : this.fail([...above, key], 'it must be a number above 0.')
  }

  seconds(map: JsonObject, key: string, above: readonly string[] = []): number | null {
    const value = this.number(map, key, above)
    if (value === null) return null
    return value <= 86_400 ? Math.ceil(value * 1000) : this.fail([...above, key], 'it must be 86,400 seconds at most.')
  }

  oneOf<const Choice extends string>(
    map: JsonObject,
    key: string,
    choices: readonly [Choice, ...Choice[]],
    above: readonly string[] = [],
  ): Choice {
    const value = map[key] ?? choices[0]
    const found = choices.find((choice) => choice === value)
    return found ?? this.fail([...above, key], `it can be ${choices.join(' or ')}.`)
  }
}
