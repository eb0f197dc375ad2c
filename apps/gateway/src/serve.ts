import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defaultHome } from '@hermes/config'
import { errorLine, HermesError, systemClock } from '@hermes/contracts'
import type { Io } from '@hermes/runtime/app'
import { createAdaptorServer } from '@hono/node-server'
import { noteBoot } from './boots.js'
import { stateFile } from './gateway-state.js'
import { watchLoop } from './loop-watch.js'
import { checkReload, type OpenGateway, openGateway } from './open-gateway.js'
import type { Flags, Settings } from './settings.js'

const EXIT_FAILED = 1
const EXIT_USAGE = 2
/** For supervisors: to start it again changes nothing. */
const EXIT_CONFIGURATION = 78
/** For supervisors: start it again. */
const EXIT_AGAIN = 75
const HEADERS_TIMEOUT_MS = 20_000
const REQUEST_TIMEOUT_MS = 120_000
// Longer than clients keep idle connections, so that none is closed under a request.
const KEEP_ALIVE_MS = 65_000
const FLUSH_MS = 1_000
/** How long runs may go on before they are interrupted at a stop; they are taken up by the next start. */
const STOP_DRAIN_MS = 15_000
const TELL_EVERY_MS = 30_000
/** A start went well when it still runs then. */
const WELL_AFTER_MS = 60_000

type FetchCallback = Parameters<typeof createAdaptorServer>[0]['fetch']

/** What to serve. */
interface ServeOptions {
  readonly flags: Flags
  /** The same as they were typed. */
  readonly argv: readonly string[]
  readonly version: string
}

/** Opens the home, serves until a signal and closes everything; resolves with the exit code. */
export async function serve(io: Io, options: ServeOptions): Promise<number> {
  const boot = await noteBoot(defaultHome(io), { pid: process.pid, nowMs: systemClock.now() }).catch(() => null)
  const isSafe = boot?.isSafe ?? false
  if (isSafe)
    io.stderr.write(
      'hermes gateway: Three starts came to nothing, so this one is in safe mode: without plugins, hooks, MCP servers and instructions of projects. See hermes gateway logs, then: hermes gateway restart\n',
    )
  const { exitCode, isExplained } = await serveHome(io, { ...options, isSafe, well: () => boot?.passed() })
  // What ended with a line that says why, such as a port that is taken, is no start that came to nothing.
  if (isExplained) await boot?.passed()
  // launchd starts again after all but 0.
  const isForPeople = exitCode === EXIT_USAGE || exitCode === EXIT_CONFIGURATION
  return isForPeople && io.env['HERMES_SUPERVISOR'] === 'launchd' ? 0 : exitCode
}

type Serving = ServeOptions & { readonly isSafe: boolean; readonly well: () => unknown }

interface Ended {
  readonly exitCode: number
  /** Whether nothing failed, or it is known what did. */
  readonly isExplained: boolean
}

async function serveHome(io: Io, serving: Serving): Promise<Ended> {
  try {
    return { exitCode: await new Served(io, serving).run(), isExplained: true }
  } catch (error) {
    io.stderr.write(`hermes gateway: ${errorLine(error)}\n`)
    return { exitCode: exitCodeOf(error), isExplained: HermesError.isInstance(error) }
  }
}

function exitCodeOf(error: unknown): number {
  if (!HermesError.isInstance(error)) return EXIT_FAILED
  if (error.code === 'gateway.account_taken' || error.code === 'platform.bad_options') return EXIT_CONFIGURATION
  // A store that is away comes back.
  if (/^(?:store\.(?:unreachable|busy|disk_full)|gateway\.gone_at_reload)$/.test(error.code)) return EXIT_AGAIN
  return /^(?:gateway|models|runtime|config)\./.test(error.code) ? EXIT_USAGE : EXIT_FAILED
}

type Ending = 'stop' | 'restart'

/** A server and the home behind it, which a reload replaces while requests wait. */
class Served {
  readonly #io: Io
  readonly #serving: Serving
  /** Whom requests go to; while a reload is under way they wait for it. */
  #gateway: Promise<OpenGateway>
  readonly #ended = Promise.withResolvers<Ending>()
  #reloading: Promise<void> = Promise.resolve()

  constructor(io: Io, serving: Serving) {
    this.#io = io
    this.#serving = serving
    this.#gateway = openGateway(io, serving)
  }

  async run(): Promise<number> {
    // Whoever stops it while it starts is heard too: it ends as soon as it could have begun.
    const leave = this.#listen()
    try {
      return await this.#run(leave)
    } finally {
      leave()
    }
  }

  async #run(leave: () => void): Promise<number> {
    const first = await this.#gateway
    const handle: FetchCallback = async (request, env) => (await this.#gateway).api.app.fetch(request, env)
    const server = await listen(handle, first.settings).catch(async (error: unknown) => {
      await first.close(within(0))
      throw error
    })
    this.#greet(server, first)
    const closing = new AbortController()
    const state = stateFile(defaultHome(this.#io), process.pid)
    const [telling, watching] = [this.#tell(server, state, closing.signal), this.#beWell(closing.signal)]
    try {
      return await this.#serve(server, first, leave)
    } finally {
      closing.abort()
      await Promise.all([telling, watching])
      // It goes last: whoever waits for the end looks for it.
      await state.remove().catch(() => undefined)
    }
  }

  async #serve(server: Server, first: OpenGateway, leave: () => void): Promise<number> {
    void first.takeUp()
    const unwatch = first.runtime.config.gateway.loop_watchdog ? await watchLoop().catch(() => null) : null
    const ending = await this.#ended.promise.catch((error: unknown) => {
      server.close()
      server.closeAllConnections()
      throw error
    })
    leave()
    await this.#reloading
    const closed = once(server, 'close')
    server.close()
    const gateway = await this.#gateway
    // Clients ask again, and runs are taken up by the next start; who writes in a chat gets the answer that is about to come.
    await gateway.close(ending === 'restart' ? within(drainTimeMs(gateway)) : within(0, STOP_DRAIN_MS))
    await closeConnections(server, closed)
    await unwatch?.()
    return ending === 'restart' ? EXIT_AGAIN : 0
  }

  #listen(): () => void {
    const leaves = [
      this.#io.onInterrupt(() => {
        this.#ended.resolve('stop')
        return true
      }),
      this.#io.onSignal('SIGUSR2', () => this.#ended.resolve('restart')),
    ]
    // A terminal that is closed ends what runs in it.
    if (!this.#io.stdin.isTTY) leaves.push(this.#io.onSignal('SIGHUP', () => this.#reload()))
    return () => {
      for (const leave of leaves) leave()
    }
  }

  #greet(server: Server, { settings, model }: OpenGateway): void {
    const who = settings.access.type === 'key' ? 'bearer key needed' : 'this machine only, no key'
    this.#io.stdout.write(`Hermes gateway: ${addressOf(server)}/v1 (${who}), model ${model}\n`)
  }

  #reload(): void {
    this.#reloading = this.#reloading.then(() => this.#reloadOnce())
  }

  /** Opens the home anew, where that can be done; else all goes on as before. Never rejects. */
  async #reloadOnce(): Promise<void> {
    const { stderr } = this.#io
    // Where nothing is open that is told already, and it ends.
    const before = await this.#gateway.catch(() => null)
    if (before === null) return
    try {
      await checkReload(this.#io, this.#serving.flags, before)
    } catch (error) {
      before.logger.warn('Not reloaded.', { error: errorLine(error) })
      stderr.write(`hermes gateway: Not reloaded, all goes on as before. ${errorLine(error)}\n`)
      return
    }
    try {
      const next = before.close(within(drainTimeMs(before))).then(() => openGateway(this.#io, this.#serving))
      this.#gateway = next
      const gateway = await next
      void gateway.takeUp()
      gateway.logger.info('Reloaded.')
      this.#io.stdout.write(`Reloaded, model ${gateway.model}\n`)
    } catch (error) {
      // Nothing is open any more; who supervises it starts it again.
      const message = `The home could not be opened again: ${errorLine(error)}`
      this.#ended.reject(new HermesError(message, { code: 'gateway.gone_at_reload', cause: error }))
    }
  }

  /** A start that holds for a minute went well. Never rejects. */
  async #beWell(signal: AbortSignal): Promise<void> {
    await systemClock.sleep(WELL_AFTER_MS, signal).catch(() => undefined)
    if (!signal.aborted) await this.#serving.well()
  }

  /** Writes down every half minute how things are, until the signal fires. Never rejects. */
  async #tell(server: Server, file: ReturnType<typeof stateFile>, signal: AbortSignal): Promise<void> {
    const startedAtMs = systemClock.now()
    const { isSafe, argv: flags } = this.#serving
    const isSupervised = Boolean(this.#io.env['HERMES_SUPERVISOR'])
    const isInTerminal = Boolean(this.#io.stdin.isTTY)
    const address = `${addressOf(server)}/v1`
    while (!signal.aborted) {
      const look = new AbortController()
      const ended = AbortSignal.any([signal, look.signal])
      const gateway = await this.#gateway.catch(() => null)
      if (!gateway) break
      const { chats, model, logger } = gateway
      const changed = chats?.changed(ended) ?? new Promise<void>(() => undefined)
      const platforms = chats?.reports() ?? []
      const updatedAtMs = systemClock.now()
      await file
        .write({
          ...{ startedAtMs, address, model, isSafe, isSupervised, isInTerminal, flags },
          platforms,
          updatedAtMs,
        })
        .catch((error: unknown) => logger.warn('How it goes could not be written down.', { error: errorLine(error) }))
      await Promise.race([systemClock.sleep(TELL_EVERY_MS, ended).catch(() => undefined), changed])
      look.abort()
    }
  }
}

function within(requestsMs: number, chatsMs = requestsMs): Parameters<OpenGateway['close']>[0] {
  const after = (ms: number) => (ms === 0 ? AbortSignal.abort() : AbortSignal.timeout(ms))
  return { chats: after(chatsMs), requests: after(requestsMs) }
}

function drainTimeMs({ runtime }: OpenGateway): number {
  return runtime.config.gateway.restart_drain_timeout * 1_000
}

async function listen(fetch: FetchCallback, { host, port }: Settings): Promise<Server> {
  const serverOptions = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  }
  const server = createAdaptorServer({ overrideGlobalObjects: false, fetch, serverOptions }) as Server
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
