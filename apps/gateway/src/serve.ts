import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { loadSecrets } from '@hermes/config'
import { errorLine, HermesError, type Logger, systemClock } from '@hermes/contracts'
import { createSessionHost, unattendedMode } from '@hermes/host'
import { openHome, type Runtime } from '@hermes/runtime'
import type { Io } from '@hermes/runtime/app'
import { createAdaptorServer } from '@hono/node-server'
import { createApp } from './app.js'
import { Chat } from './chat.js'
import { ChatCommands } from './commands.js'
import { Conversations } from './conversations.js'
import { ExtensionRoutes } from './extension-routes.js'
import { SessionRoutes } from './session-routes.js'
import { type Flags, resolveSettings, type Settings } from './settings.js'

const EXIT_FAILED = 1
const EXIT_USAGE = 2
const HEADERS_TIMEOUT_MS = 20_000
const REQUEST_TIMEOUT_MS = 120_000
// Longer than clients keep idle connections, so that none is closed under a request.
const KEEP_ALIVE_MS = 65_000
const FLUSH_MS = 1_000
const MAX_AGENTS = 64
const IDLE_MS = 30 * 60_000

type FetchCallback = Parameters<typeof createAdaptorServer>[0]['fetch']

/** What to serve. */
export interface ServeOptions {
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
      const settings = resolveSettings({ flags: options.flags, variables, config, people: runtime.people })
      return await serveUntilStopped(io, { ...options, cwd, settings, runtime, logger })
    } finally {
      await runtime.close('server_stop')
    }
  } catch (error) {
    io.stderr.write(`hermes gateway: ${errorLine(error)}\n`)
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
  readonly cwd: string
  readonly settings: Settings
  readonly runtime: Runtime
  readonly logger: Logger
}

async function serveUntilStopped(io: Io, serving: Serving): Promise<number> {
  const { flags, cwd, settings, runtime, version, logger } = serving
  const { access, modelName, maxRuns, references } = settings
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
  const conversations = new Conversations({ storage: () => runtime.storage(), host, request })
  const commands = new ChatCommands({ runtime, host, cwd })
  const chat = new Chat({ conversations, commands, models, maxRuns })
  const startedAt = Math.floor(systemClock.now() / 1000)
  const parts = { chat, sessions: new SessionRoutes(host), extensions: new ExtensionRoutes(runtime) }
  const app = createApp({ ...parts, access, models, startedAt, version, logger })
  const stopping = new AbortController()
  const jobs = runtime.runJobs(stopping.signal)
  const server = await listen(app.fetch, settings)
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  const unsubscribe = io.onInterrupt(() => {
    stop()
    return true
  })
  const who = access.type === 'key' ? 'bearer key needed' : 'this machine only, no key'
  io.stdout.write(`Hermes gateway: ${addressOf(server)}/v1 (${who}), model ${model}\n`)
  await stopped
  unsubscribe()
  const closed = once(server, 'close')
  server.close()
  stopping.abort()
  await jobs
  await chat.stop()
  await host.close('server_stop')
  await closeConnections(server, closed)
  return 0
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
