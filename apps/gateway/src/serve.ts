import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { loadSecrets } from '@hermes/config'
import { errorLine, HermesError, type Logger, systemClock } from '@hermes/contracts'
import { createSessionHost, type OpenRequest, type SessionHost, unattendedMode } from '@hermes/host'
import { openHome, type Runtime } from '@hermes/runtime'
import type { Io } from '@hermes/runtime/app'
import { createAdaptorServer } from '@hono/node-server'
import { platformHealth, stateFile } from './gateway-state.js'
import { openApi } from './open-api.js'
import { type ConfiguredPlatform, configuredPlatforms } from './platforms/open-platforms.js'
import type { RunningPlatforms } from './platforms/run-platforms.js'
import { type Flags, resolveSettings, type Settings } from './settings.js'

const EXIT_FAILED = 1
const EXIT_USAGE = 2
/** For supervisors: to start it again changes nothing. */
const EXIT_CONFIGURATION = 78
const HEADERS_TIMEOUT_MS = 20_000
const REQUEST_TIMEOUT_MS = 120_000
// Longer than clients keep idle connections, so that none is closed under a request.
const KEEP_ALIVE_MS = 65_000
const FLUSH_MS = 1_000
const MAX_AGENTS = 64
const IDLE_MS = 30 * 60_000
/** How long runs in chats may go on before they are interrupted; they are taken up by the next start. */
const DRAIN_MS = 15_000
const TELL_EVERY_MS = 30_000

type FetchCallback = Parameters<typeof createAdaptorServer>[0]['fetch']

/** What to serve. */
interface ServeOptions {
  readonly flags: Flags
  readonly version: string
}

/** Opens the home, serves until a signal and closes everything; resolves with the exit code. */
export async function serve(io: Io, options: ServeOptions): Promise<number> {
  try {
    const cwd = await folderOf(io, options.flags)
    const { home, runtime, logger } = await openHome(io, { program: 'hermes gateway', log: 'gateway.log', cwd })
    try {
      const { values: variables } = await loadSecrets({ home, env: io.env })
      const config = runtime.config.gateway.api_server
      const platforms = configuredPlatforms(runtime.config, variables)
      const sources = { flags: options.flags, variables, config, people: runtime.people }
      const settings = resolveSettings({ ...sources, hasPlatforms: platforms.length > 0 })
      return await serveUntilStopped(io, { ...options, home, cwd, settings, platforms, runtime, logger })
    } finally {
      await runtime.close('server_stop')
    }
  } catch (error) {
    io.stderr.write(`hermes gateway: ${errorLine(error)}\n`)
    if (HermesError.isInstance(error) && error.code === 'gateway.account_taken') return EXIT_CONFIGURATION
    const isUsage = HermesError.isInstance(error) && /^(?:gateway|models|runtime|config)\./.test(error.code)
    return isUsage ? EXIT_USAGE : EXIT_FAILED
  }
}

async function folderOf(io: Io, flags: Flags): Promise<string> {
  const folder = resolve(io.cwd, flags.cwd ?? '')
  const problem = await stat(folder).then((found) => (found.isDirectory() ? null : 'it is no folder'), errorLine)
  if (problem === null) return folder
  throw new HermesError(`--cwd ${folder} cannot be used: ${problem}.`, { code: 'gateway.bad_cwd' })
}

interface Serving extends ServeOptions {
  readonly home: string
  readonly platforms: readonly ConfiguredPlatform[]
  readonly cwd: string
  readonly settings: Settings
  readonly runtime: Runtime
  readonly logger: Logger
}

async function serveUntilStopped(io: Io, serving: Serving): Promise<number> {
  const { flags, cwd, settings, runtime, version, logger } = serving
  const { access, modelName, references } = settings
  // Streams make garbage that dies at once; left alone, V8 gathers more than 100 MB of it before it looks.
  setFlagsFromString('--semi-space-growth-factor=1')
  const { model } = runtime.chooseModel(flags.agent)
  const models = [...new Set([modelName, model])]
  const host = createSessionHost({ runtime, idleMs: IDLE_MS, maxAgents: MAX_AGENTS, logger })
  const permissions = unattendedMode('gateway', runtime.config.approvals)
  const request = {
    ...flags.agent,
    platform: 'gateway',
    references,
    cwd,
    keepsFolder: true,
    permissions,
    answersQuestions: 'later' as const,
  }
  const chats = await openChats(io, { ...serving, host, request })
  const api = openApi({
    ...{ runtime, host, request, settings, models, version, logger },
    receive: (name, incoming) => chats?.receive(name, incoming) ?? null,
    health: () => platformHealth(chats?.reports() ?? [], systemClock.now()),
  })
  const stopping = new AbortController()
  const jobs = runtime.runJobs(stopping.signal)
  const takenUp = api.takeUp()
  const server = await listen(api.app.fetch, settings)
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  const unsubscribe = io.onInterrupt(() => {
    stop()
    return true
  })
  const who = access.type === 'key' ? 'bearer key needed' : 'this machine only, no key'
  io.stdout.write(`Hermes gateway: ${addressOf(server)}/v1 (${who}), model ${model}\n`)
  const telling = tellState(serving, { address: `${addressOf(server)}/v1`, model, chats }, stopping.signal)
  await stopped
  unsubscribe()
  const closed = once(server, 'close')
  server.close()
  stopping.abort()
  await chats?.drain(AbortSignal.timeout(DRAIN_MS))
  await Promise.all([jobs, telling, takenUp])
  await api.close()
  await host.close('server_stop')
  await chats?.close()
  await closeConnections(server, closed)
  return 0
}

/** Writes down every half minute how things are, until the signal fires. Never rejects. */
async function tellState(
  { home, logger }: Serving,
  {
    address,
    model,
    chats,
  }: { readonly address: string; readonly model: string; readonly chats: RunningPlatforms | null },
  signal: AbortSignal,
): Promise<void> {
  const [file, startedAtMs] = [stateFile(home, process.pid), systemClock.now()]
  while (!signal.aborted) {
    const look = new AbortController()
    const ended = AbortSignal.any([signal, look.signal])
    const changed = chats?.changed(ended) ?? new Promise<void>(() => undefined)
    const state = { startedAtMs, address, model, platforms: chats?.reports() ?? [], updatedAtMs: systemClock.now() }
    await file
      .write(state)
      .catch((error: unknown) => logger.warn('How it goes could not be written down.', { error: errorLine(error) }))
    await Promise.race([systemClock.sleep(TELL_EVERY_MS, ended).catch(() => undefined), changed])
    look.abort()
  }
  await file.remove().catch(() => undefined)
}

/** Chats, where there are any; loaded then. */
async function openChats(
  io: Io,
  {
    platforms,
    home,
    runtime,
    logger,
    host,
    request,
  }: Serving & { readonly host: SessionHost; readonly request: OpenRequest & { readonly cwd: string } },
): Promise<RunningPlatforms | null> {
  if (platforms.length === 0) return null
  const { runPlatforms } = await import('./platforms/run-platforms.js')
  const { platform: _api, ...ofChats } = request
  return runPlatforms(platforms, { home, userHome: io.userHome, runtime, host, request: ofChats, logger })
}

async function listen(fetch: FetchCallback, { host, port }: Settings): Promise<Server> {
  const serverOptions = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  }
  const server = createAdaptorServer({ fetch, serverOptions }) as Server
  server.listen(port, host)
  try {
    await once(server, 'listening')
    return server
  } catch (error) {
    throw new HermesError(`Cannot listen on ${host}:${port}: ${whyNot(error)}`, { code: 'server.listen', cause: error })
  }
}

function whyNot(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return 'something else listens there. Stop it, or take another one with --port.'
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return 'this machine does not have that address. Choose another --host.'
    case 'EACCES':
      return 'this user may not. Take a --port from 1024 on.'
    default:
      return errorLine(error)
  }
}

function addressOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** What was answered gets a moment to leave; then whoever still reads is cut off. */
async function closeConnections(server: Server, closed: Promise<unknown>): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), FLUSH_MS)
  server.closeIdleConnections()
  await closed
  clearTimeout(timer)
}
