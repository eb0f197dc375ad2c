// A home that is served: its sessions, chats and API. A reload closes it and opens the next.
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { loadConfig, loadSecrets } from '@hermes/config'
import { errorLine, HermesError, type Logger, systemClock } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import { createSessionHost, type OpenRequest, type SessionHost, unattendedMode } from '@hermes/host'
import { type ChatVariables, openHome, type Runtime } from '@hermes/runtime'
import type { Io } from '@hermes/runtime/app'
import { watchDeafness } from './deafness.js'
import { type Api, openApi } from './open-api.js'
import { type ConfiguredPlatform, configuredPlatforms } from './platforms/open-platforms.js'
import { fileNotes } from './platforms/outgoing-files.js'
import type { RunningPlatforms } from './platforms/run-platforms.js'
import { type Flags, resolveSettings, type Settings } from './settings.js'
import { StreamMemory } from './stream-memory.js'

const ALERT_MS = 10_000
const MAX_AGENTS = 1_024
/** Each of them may hold a shell, a container or a page. */
const MAX_AGENTS_WITH_TOOLS = 64
/** Of the conversations that are kept ready: some 100 MB. */
const MAX_CHARS = 50_000_000
const IDLE_MS = 30 * 60_000

/** What to serve. */
export interface GatewayOptions {
  readonly flags: Flags
  readonly version: string
  /** Without what others brought: extensions, hooks, MCP servers, plugins. */
  readonly isSafe: boolean
}

/** A home while it is served. */
export interface OpenGateway {
  readonly home: string
  readonly settings: Settings
  readonly model: string
  readonly runtime: Runtime
  readonly logger: Logger
  readonly api: Api
  readonly chats: RunningPlatforms | null
  /** Takes up what was left by a process before. Never rejects. */
  takeUp(): Promise<void>
  /**
   * Hears nothing more, lets what is under way go on until the signals fire, for chats and for requests, interrupts the rest, stores what
   * was said and lets go of all.
   */
  close(until: { readonly chats: AbortSignal; readonly requests: AbortSignal }): Promise<void>
}

/**
 * Opens a home to serve it.
 * @throws HermesError of one line, with what to do
 */
export async function openGateway(io: Io, { flags, version, isSafe }: GatewayOptions): Promise<OpenGateway> {
  const cwd = await folderOf(io, flags)
  let opened: Runtime | null = null
  const notes = fileNotes(async () => (await opened!.storage()).meta)
  const memory = new StreamMemory()
  const { home, runtime, logger } = await openHome(io, {
    ...{ program: 'hermes gateway', log: 'gateway.log', cwd },
    extensions: (builtIn: readonly Extension[]) => [...builtIn, notes, memory],
    ...(isSafe ? { safe: true } : {}),
  })
  opened = runtime
  try {
    const { values: variables } = await loadSecrets({ home, env: io.env })
    const platforms = configuredPlatforms(runtime.config, variables, runtime.chatPlatforms)
    const config = runtime.config.gateway.api_server
    const settings = resolveSettings({
      ...{ flags, variables, config, people: runtime.people },
      // In safe mode those of plugins are missing, which is no reason to end.
      hasPlatforms: platforms.length > 0 || isSafe,
    })
    return await openParts(io, { flags, version, home, cwd, settings, platforms, variables, runtime, memory, logger })
  } catch (error) {
    await runtime.close('server_stop')
    throw error
  }
}

/**
 * Looks whether a home could be opened again with what config.yaml and .env say now.
 * @throws HermesError of one line, as {@link openGateway}
 */
export async function checkReload(
  { env }: Io,
  flags: Flags,
  { home, runtime, settings, logger }: OpenGateway,
): Promise<void> {
  const [loaded, { values: variables }] = await Promise.all([loadConfig({ home, env }), loadSecrets({ home, env })])
  const { config, source, problems } = loaded
  if (source !== 'file' && source !== 'defaults')
    throw new HermesError(problems[0]?.message ?? 'config.yaml cannot be used.', { code: 'gateway.bad_config' })
  const sources = { flags, variables, config: config.gateway.api_server, people: runtime.people }
  const platforms = configuredPlatforms(config, variables, runtime.chatPlatforms)
  const next = resolveSettings({ ...sources, hasPlatforms: platforms.length > 0 })
  const keeper = { get: async () => null, set: async () => undefined }
  const tools = { fetchTo: (address: string) => runtime.fetchTo(address), keeper, clock: systemClock, logger }
  // Nothing is connected by that: what has no token, or nobody who vouches for senders, says so.
  for (const platform of platforms) if (!platform.isForeign) await platform.create(tools)
  if (next.host === settings.host && (next.port === settings.port || next.port === 0)) return
  const message = `The address becomes ${next.host}:${next.port}, which takes a restart: hermes gateway restart`
  throw new HermesError(message, { code: 'gateway.needs_restart' })
}

interface Parts {
  readonly flags: Flags
  readonly version: string
  readonly home: string
  readonly cwd: string
  readonly settings: Settings
  readonly platforms: readonly ConfiguredPlatform[]
  readonly variables: ChatVariables
  readonly runtime: Runtime
  readonly memory: StreamMemory
  readonly logger: Logger
}

async function openParts(io: Io, parts: Parts): Promise<OpenGateway> {
  const { flags, version, home, cwd, settings, runtime, logger } = parts
  const { model } = runtime.chooseModel(flags.agent)
  const models = [...new Set([settings.modelName, model])]
  const limits = { maxAgents: MAX_AGENTS, maxAgentsWithTools: MAX_AGENTS_WITH_TOOLS, maxChars: MAX_CHARS }
  const host = createSessionHost({ runtime, idleMs: IDLE_MS, ...limits, logger })
  const request = {
    ...flags.agent,
    platform: 'gateway',
    references: settings.references,
    cwd,
    keepsFolder: true,
    permissions: unattendedMode('gateway', runtime.config.approvals),
    answersQuestions: 'later' as const,
  }
  const chats = await openChats(io, { ...parts, host, request })
  const api = openApi({
    ...{ runtime, host, request, settings, models, version, logger },
    receive: (name, incoming) => chats?.receive(name, incoming) ?? null,
    platforms: () => chats?.reports() ?? [],
  })
  const stopping = new AbortController()
  const jobs = [runtime.runJobs(stopping.signal), watchChats(chats, runtime, { logger, signal: stopping.signal })]
  let takenUp = Promise.resolve()
  return {
    ...{ home, settings, model, runtime, logger, api, chats },
    takeUp: () => (takenUp = api.takeUp()),
    close: async (until) => {
      stopping.abort()
      await Promise.all([chats?.drain(until.chats), api.drain(until.requests)])
      await Promise.all([...jobs, takenUp])
      await api.close()
      await host.close('server_stop')
      await chats?.close()
      await runtime.close('server_stop')
      parts.memory.end()
    },
  }
}

/** Chats, where there are any; loaded then. */
async function openChats(
  io: Io,
  {
    platforms,
    variables,
    home,
    runtime,
    logger,
    host,
    request,
  }: Parts & { readonly host: SessionHost; readonly request: OpenRequest & { readonly cwd: string } },
): Promise<RunningPlatforms | null> {
  if (platforms.length === 0) return null
  const { runPlatforms } = await import('./platforms/run-platforms.js')
  const { platform: _api, ...ofChats } = request
  return runPlatforms(platforms, { home, userHome: io.userHome, runtime, host, request: ofChats, variables, logger })
}

/** Tells the owner where a platform is deaf. Never rejects. */
async function watchChats(
  chats: RunningPlatforms | null,
  runtime: Runtime,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  if (!chats) return
  const { alert_url: url } = runtime.config.gateway
  const post = async (text: string) => {
    const body = JSON.stringify({ text })
    const headers = { 'content-type': 'application/json' }
    const answer = await runtime.fetchTo(url!)(url!, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(ALERT_MS),
    })
    await answer.body?.cancel()
    if (!answer.ok) throw new Error(`gateway.alert_url answered ${answer.status}`)
  }
  await watchDeafness(
    {
      reports: () => chats.reports(),
      owner: runtime.config.people['owner'] ?? {},
      outbox: async () => (await runtime.storage()).outbox,
      post: url ? post : null,
      ...{ clock: systemClock, logger },
    },
    signal,
  )
}

async function folderOf(io: Io, flags: Flags): Promise<string> {
  const folder = resolve(io.cwd, flags.cwd ?? '')
  const problem = await stat(folder).then((found) => (found.isDirectory() ? null : 'it is no folder'), errorLine)
  if (problem === null) return folder
  throw new HermesError(`--cwd ${folder} cannot be used: ${problem}.`, { code: 'gateway.bad_cwd' })
}
