import { errorLine, type JsonObject } from '@hermes/contracts'
import { type Entry, type TextPart, toolCalls } from '@hermes/contracts/conversation'
import type { Extension, Finding, HookEvent } from '@hermes/contracts/extension'
import type { ToolSource } from '@hermes/contracts/tool'
import { answersFor } from './answers/answers.js'
import { RunningCalls } from './answers/running-calls.js'
import { mcpCommands } from './commands/mcp-commands.js'
import { type ReadServers, serverOf, unknown } from './commands/parts.js'
import { lateLine } from './connection/fetched-program.js'
import { loginFetch } from './login/login-fetch.js'
import { LoginFiles } from './login/login-files.js'
import { ProgramAuth } from './login/program-auth.js'
import { ServerAuth } from './login/server-auth.js'
import type { ConfiguredServers, McpOptions } from './mcp-options.js'
import { PromptCommands } from './prompts/prompt-commands.js'
import { createServer, HomeServers, toSource, untilHeard } from './servers/home-servers.js'
import { changedTools, type Listing, ListingFiles } from './servers/listing.js'
import type { McpServer } from './servers/server.js'
import type { ServerSkill } from './servers/server-skills.js'
import { readServers } from './settings/read-servers.js'
import type { ServerSettings } from './settings/server-settings.js'
import { cleanLine } from './tools/clean-text.js'
import { isUnresolved } from './tools/unresolved.js'

/** Servers that nothing is known about are started so long after a session began, or when a search asks for them. */
const START_AFTER_MS = 400
/** What is known of the others is read so long after the home was opened, unless a run needs it sooner. */
const REVEALED_AFTER_MS = 1_000
/** Both wait so long after the first request of a run that has begun by then: the request is out for certain. */
const AFTER_REQUEST_MS = 100
/** How long that request is waited for; a run may make none. */
const REQUESTED_WITHIN_MS = 5_000
/** How long a search of tools waits for servers that nothing is known about. */
const HEARD_WITHIN_MS = 3_000
const DOCTOR_WITHIN_MS = 20_000
/** How old what is known of config.yaml may be as a run begins. */
const REREAD_AFTER_MS = 60_000
const MOST_NAMED = 5

/** Servers of one session alone, such as those an editor passes. */
interface SessionServers {
  readonly sources: readonly ToolSource[]
  /** What is wrong with those that are left out, a line each. */
  readonly problems: readonly string[]
  /** Ends them. Never rejects. */
  close(): Promise<void>
}

/** MCP in a home. */
export interface HomeMcp {
  readonly extension: Extension
  /**
   * The skills that a server of the home hands out.
   * @throws HermesError `mcp.unknown_server`, `mcp.no_skills`; as connecting to it.
   */
  skills(server: string, signal: AbortSignal): Promise<readonly ServerSkill[]>
  /** Servers for one session, from entries as `mcp_servers` has them. They start at once and end with `close`. */
  forSession(sessionId: string, entries: Readonly<Record<string, unknown>>): SessionServers
}

/** The servers of a home and what people do with them. Nothing is loaded or started before there is a session. */
export function createMcp(options: McpOptions): HomeMcp {
  const calls = new RunningCalls()
  const { sample = null, clock, logger } = options
  const answersOf = (settings: ServerSettings) => answersFor(settings, { calls, sample, clock, logger })
  const logins = new LoginFiles(options.loginDir)
  const authOf = (settings: ServerSettings) => {
    const { address } = settings
    if (address.type !== 'http' || !settings.oauth.isAllowed) return undefined
    if (settings.oauth.grant === 'client_credentials')
      return new ProgramAuth(settings, { ...options, fetch: loginFetch(address.url, options.fetchTo) })
    return new ServerAuth(settings, { ...options, logins, fetch: loginFetch(address.url, options.fetchTo) })
  }
  const read = ({ value = {}, written = value, brought = [] }: ConfiguredServers): ReadServers => ({
    ...readServers(value, { folders: options.folders, written }),
    brought,
  })
  const shared = { ...options, listings: new ListingFiles(options.cacheDir), calls, answersOf, authOf }
  /** Of sessions that have servers of their own. */
  const ofSessions = new Map<string, readonly McpServer[]>()
  /** What became of those that did not start, for the person of the session; said once. */
  const failures = new Map<string, readonly string[]>()
  /** Says to each session once about each server that it does not start, was lost, or is left out. */
  const tell = (event: HookEvent, servers: readonly McpServer[], leftOut: readonly string[]) => {
    const { session } = event
    const known = session.state.scratch('mcp-problems', () => new Set<string>())
    const failed = servers.flatMap(({ name, state }) =>
      state.type === 'failed' ? [[name, state.message] as const] : [],
    )
    const own = (failures.get(session.id) ?? []).map((line) => [line, line] as const)
    for (const [about, line] of [...own, ...leftOut.map((one) => [one, one] as const), ...failed]) {
      if (!known.has(about)) event.notice(line, 'warning')
      known.add(about)
    }
    failures.delete(session.id)
    return undefined
  }
  let ofHome: HomeServers | null = null
  return {
    skills: async (name, signal) => {
      if (ofHome === null) throw unknown(name, [])
      return (await import('./servers/server-skills.js')).skillsOf(serverOf(ofHome, name), signal)
    },
    extension: {
      name: 'mcp',
      setup(api) {
        const servers = new HomeServers(api, new PromptCommands(api.commands), shared)
        ofHome = servers
        /** Of servers that plugins bring: nobody else says what is wrong with them. */
        let brought: readonly string[] = []
        const use = ({ servers: all, problems, brought: names }: ReadServers) => {
          for (const one of all) concealSecrets(one, options)
          brought = problems
            .filter(({ path: [name] }) => names.includes(name ?? ''))
            .map(({ path, message }) => `MCP server ${path.join('.')} of a plugin: ${message}`)
          return servers.set(all)
        }
        api.config.section<ReadServers>({
          key: 'mcp_servers',
          schema: { '~standard': { version: 1, vendor: 'hermes', validate: (value) => ({ value: read({ value }) }) } },
          namesUnset: true,
          problems: ({ problems }) => problems,
        })
        if (options.configured.value !== undefined) use(read(options.configured))
        const left = new AbortController()
        let isRunning = false
        let hasRequested = false
        const requested = Promise.withResolvers<void>()
        /** A machine under load comes to its first request late. */
        const untilRequested = async () => {
          const over = new AbortController()
          const late = clock.sleep(REQUESTED_WITHIN_MS, AbortSignal.any([left.signal, over.signal]))
          await Promise.race([requested.promise, late])
          over.abort()
          late.catch(() => undefined)
          await clock.sleep(AFTER_REQUEST_MS, left.signal)
        }
        let isOut: Promise<void> | null = null
        /** Does what would hold up the first request after so long, or after that request. */
        const later = async (ms: number, work: () => unknown) => {
          await clock.sleep(ms, left.signal)
          if (isRunning && !hasRequested) await (isOut ??= untilRequested())
          await work()
        }
        if (servers.list().length > 0) later(REVEALED_AFTER_MS, () => servers.reveal()).catch(() => undefined)
        api.hooks.on('session-start', () => {
          // Twenty programs that start at once would hold the first request up by more than a model takes to answer.
          later(START_AFTER_MS, () => servers.begin()).catch(() => undefined)
        })
        api.hooks.on('before-tool-call', async ({ tool, session, signal }) => {
          const known = [...servers.list(), ...(ofSessions.get(session.id) ?? [])]
          if (tool.name !== 'tool_search' || known.length === 0) return undefined
          await servers.reveal()
          await untilHeard(known, { clock, signal, withinMs: HEARD_WITHIN_MS })
          return undefined
        })
        // It may take as long as the first answer until one is known not to start.
        const leftOut = () => [...brought, ...servers.collisions()]
        api.hooks.on('before-model-call', (event) => {
          hasRequested = true
          requested.resolve()
          return tell(event, servers.list(), leftOut())
        })
        api.hooks.on('after-model-call', async (event) => {
          tell(event, servers.list(), leftOut())
          // It may call what it knows from before.
          await servers.reveal()
        })
        api.hooks.on('tool-result', ({ toolName, session }) => {
          const known = [...servers.list(), ...(ofSessions.get(session.id) ?? [])]
          return toolName === 'tool_search' ? missingFrom(known) : undefined
        })
        api.doctor.check({
          name: 'mcp',
          run: async ({ isOffline, signal }) => [
            ...leftOut().map((text) => ({ level: 'warn', text }) as const),
            ...(await findings(servers.list(), { isOffline, signal })),
          ],
        })
        const reread = async () => read(await options.reread())
        // Nothing watches the file: what began after it changed has what it says, a minute later at most.
        let readAtMs = clock.now()
        api.hooks.on('run-start', async ({ session }) => {
          isRunning = true
          if (mayHaveOpenCalls(session.entries)) await servers.reveal()
          if (clock.now() - readAtMs < REREAD_AFTER_MS) return
          readAtMs = clock.now()
          const now = await options.changed()
          if (now !== null && use(read(now)).added.length > 0) servers.begin()
        })
        const useNow: typeof use = (all) => {
          const changes = use(all)
          void servers.reveal()
          return changes
        }
        mcpCommands(api, { servers, options, logins, read, reread, use: useNow })
        return () => {
          left.abort()
          return servers.close()
        }
      },
    },
    forSession(sessionId, entries) {
      const { servers, problems } = read({ value: entries })
      for (const one of servers) concealSecrets(one, options)
      const made = servers.map((settings) => createServer(settings, shared))
      ofSessions.set(sessionId, made)
      for (const server of made)
        void server.connect().catch((error: unknown) => {
          const line = errorLine(error)
          const named = line.includes(server.name) ? line : `The MCP server ${server.name} does not start: ${line}`
          if (ofSessions.get(sessionId) === made) failures.set(sessionId, [...(failures.get(sessionId) ?? []), named])
        })
      return {
        sources: made.map((server) => toSource(server, calls)),
        problems: problems.map(({ path, message }) => `MCP server ${path.join('.')}: ${message}`),
        close: async () => {
          if (ofSessions.get(sessionId) === made) {
            ofSessions.delete(sessionId)
            failures.delete(sessionId)
          }
          await Promise.all(made.map((server) => server.close()))
        },
      }
    },
  }
}

/** A search without the tools of a server says so. Why is the person's to know: it may be in words of that server. */
function missingFrom(servers: readonly McpServer[]): { readonly append: readonly TextPart[] } | undefined {
  const failed = servers.filter(({ state }) => state.type === 'failed')
  if (failed.length === 0) return undefined
  const text = `[MCP servers that cannot be used now, so that calls to them fail: ${failed.map(({ name }) => name).join(', ')}]`
  return { append: [{ type: 'text', text }] }
}

/** Whether a run may begin with calls that were left open. */
function mayHaveOpenCalls(entries: readonly Entry[]): boolean {
  const last = entries.findLast((entry) => entry.type === 'message')
  return last?.message.role === 'tool' || (last?.message.role === 'assistant' && toolCalls(last.message).length > 0)
}

const SECRET = /key|token|secret|passw|auth|cred|cookie|_pat$/i
const SHORTEST_SECRET = 8

function concealSecrets({ address, oauth }: ServerSettings, { conceal }: Pick<McpOptions, 'conceal'>): void {
  const named = Object.entries(address.type === 'http' ? address.headers : address.env)
  const values = named.flatMap(([name, value]) => (SECRET.test(name) ? [value, value.replace(/^\w+ /, '')] : []))
  for (const value of [...values, oauth.clientSecret ?? '', oauth.privateKey ?? ''])
    if (value.length >= SHORTEST_SECRET) conceal(value)
}

async function findings(
  servers: readonly McpServer[],
  { isOffline, signal }: { readonly isOffline: boolean; readonly signal: AbortSignal },
): Promise<readonly Finding[]> {
  return Promise.all(
    servers.map(async (server): Promise<Finding> => {
      await server.load()
      if (!isOffline) {
        try {
          server.forgive()
          await server.connect(AbortSignal.any([signal, AbortSignal.timeout(DOCTOR_WITHIN_MS)]))
        } catch (error) {
          const line =
            signal.aborted || !isTimeout(error)
              ? errorLine(error)
              : `The MCP server ${server.name} ${lateLine(server.settings, DOCTOR_WITHIN_MS)}`
          return { level: 'fail', text: line }
        }
      }
      const { listing, name } = server
      if (!listing) return { level: 'warn', text: `The MCP server ${name} was never connected.` }
      const changed = changedTools(listing)
      if (changed.length === 0) return offerOf(name, listing)
      const text = `MCP server ${name}: changed since you accepted them: ${changed.slice(0, MOST_NAMED).join(', ')}. Look at them and accept: hermes mcp tools ${name} --accept`
      return { level: 'warn', text }
    }),
  )
}

function offerOf(name: string, { tools, dropped, secret }: Listing): Finding {
  const text = `MCP server ${name}: ${count(tools.length, 'tool')}`
  const useless = tools.filter(({ inputSchema }) => isUnresolved(inputSchema as JsonObject))
  const lines = [
    ...named('Left out', dropped),
    ...(secret
      ? [
          `On ${new Date(secret.atMs).toISOString().slice(0, 10)} it asked for a secret (${secret.field}), which was declined.`,
        ]
      : []),
    ...named(
      'Calls may fail, since parameters lead nowhere',
      useless.map((tool) => cleanLine(tool.name, 60)),
    ),
  ]
  return lines.length === 0 ? { level: 'ok', text } : { level: 'warn', text: [`${text}.`, ...lines].join(' ') }
}

function named(what: string, names: readonly string[]): readonly string[] {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
  return names.length === 0 ? [] : [`${what}: ${names.slice(0, MOST_NAMED).join(', ')}${more}.`]
}

const isTimeout = (error: unknown) => error instanceof DOMException && error.name === 'TimeoutError'

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}
