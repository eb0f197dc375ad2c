import type { Clock, Logger } from '@hermes/contracts'
import { errorLine, HermesError, isAbort } from '@hermes/contracts'
import type { RunningProgram } from '@hermes/contracts/environment'
import type { AuthProvider, Client, ClientCapabilities, PriorDiscovery, Transport } from '@modelcontextprotocol/client'
import { loginNeeded, needed } from '../login/login-needed.js'
import type { ServerSettings } from '../settings/server-settings.js'
import { cleanLine } from '../tools/clean-text.js'
import { leaveOutDeep } from './deep-messages.js'
import { fetchedBy, lateLine } from './fetched-program.js'
import { innermostLine } from './innermost-line.js'
import { isLate } from './is-late.js'
import { limitedFetch } from './limited-fetch.js'
import { tellingLine } from './telling-line.js'

/** What a connection needs of the home it is made in. */
export interface ConnectionPorts {
  /** Starts the program of a server, against a permit. */
  startProgram(server: ServerSettings): Promise<RunningProgram>
  /** A `fetch` to the origin of a server's address and nowhere else. */
  fetchTo(address: string): typeof globalThis.fetch
  readonly clock: Clock
  readonly logger: Logger
}

/** The login that requests to a server carry. */
export interface ConnectionAuth extends AuthProvider {
  /** Told what rights a request lacked. */
  wants(scope: string): Promise<void>
  /** Resolves once a token under way is kept, or after a few seconds. Never rejects. Default: none has to be. */
  settle?(): Promise<void>
}

/** What one connection is made with. */
interface ConnectionRequest {
  readonly server: ServerSettings
  /** What was found out about its protocol before; `null` where nothing was. */
  readonly prior: PriorDiscovery | null
  /** Handlers of what servers ask; added to a client before it connects. */
  readonly prepare: (client: Client) => void
  readonly capabilities: ClientCapabilities
  /** Told when the server says that it offers something else. */
  readonly listChanged: () => void
  readonly auth: ConnectionAuth | null
  readonly version: string
  readonly signal: AbortSignal
}

/** A server that answers. */
export interface Connection {
  readonly client: Client
  /** Resolves with why it is over, `null` when we ended it. Never rejects. */
  readonly closed: Promise<string | null>
  /** Why it is over, where its transport knows; else `null`. */
  ending(): string | null
  /** Ends it, with the program and all it started. Never rejects. */
  close(): Promise<void>
}

/**
 * How long a program that may know only the older protocol has for the question which one it speaks. Over HTTP such a server answers the
 * question with an error, and one that is silent is slow, so it has all the time there is; and so has one that may have to be fetched first.
 */
const PROBE_MS = 5_000
const probeMs = (server: ServerSettings) => {
  const isHurried = server.address.type === 'stdio' && server.protocol === 'auto' && fetchedBy(server) === null
  return Math.min(isHurried ? PROBE_MS : Infinity, server.connectTimeoutMs)
}
/** The code of a server's answer to a request in a protocol that it does not speak. */
const UNSUPPORTED_PROTOCOL = -32022

/**
 * Connects to a server, in the newest protocol it speaks. Abort rejects and leaves nothing running.
 * @throws HermesError `mcp.not_connected` in a line that names the server and what is wrong; `mcp.login_needed`.
 */
export async function openConnection(request: ConnectionRequest, ports: ConnectionPorts): Promise<Connection> {
  const { server, prior } = request
  const { address, protocol } = server
  if (address.type === 'http') return openHttp(request, ports)
  try {
    return await openStdio(request, ports)
  } catch (error) {
    // What kept its program from being started keeps it from it again.
    const { code } = error as { code?: unknown }
    if (request.signal.aborted || protocol !== 'auto' || code !== 'mcp.not_connected') throw error
    const { cause } = error as { cause?: { code?: unknown } }
    // It speaks the newest protocol alone, and was too slow to say so when it was asked.
    if (cause?.code === UNSUPPORTED_PROTOCOL)
      return openStdio({ ...request, server: { ...server, protocol: 'stateless' } }, ports)
    // Some of the older ones end when they are asked what they do not know; others have become newer or older than they were.
    const isKnown = prior?.kind === 'legacy'
    if (isKnown || HermesError.isInstance(cause) || (fetchedBy(server) !== null && (await isLate(cause)))) throw error
    return openConnection({ ...request, prior: { kind: 'legacy' } }, ports)
  }
}

async function openStdio(request: ConnectionRequest, ports: ConnectionPorts): Promise<Connection> {
  const { server, signal } = request
  const sdk = await import('@modelcontextprotocol/client')
  const { NOT_FOUND, StdioTransport } = await import('./stdio-transport.js')
  const program = await ports.startProgram(server)
  const transport = new StdioTransport({
    program,
    parse: (value) => sdk.parseJSONRPCMessage(value),
    serialize: sdk.serializeMessage,
    now: () => ports.clock.now(),
  })
  try {
    signal.throwIfAborted()
    return await connect(request, transport, {
      sdk,
      why: () => {
        const reason = transport.ending?.reason
        const last = tellingLine(transport.errors)
        const output = last === '' ? '' : ` It output: ${cleanLine(last, 300)}`
        const noise =
          transport.firstNoise === null ? '' : ` Its output begins with: ${cleanLine(transport.firstNoise, 120)}`
        if (reason === undefined) return null
        const missing = 'was not found; install it, or write its whole path'
        const [name] = server.address.type === 'stdio' ? server.address.argv : []
        return `${reason === NOT_FOUND ? `its program ${name} ${missing}` : reason}.${output || noise}`
      },
    })
  } catch (error) {
    await transport.close()
    throw error
  }
}

async function openHttp(request: ConnectionRequest, ports: ConnectionPorts): Promise<Connection> {
  const { server, auth } = request
  const { address } = server
  if (address.type !== 'http') throw new TypeError('Not an address of the network.')
  const sdk = await import('@modelcontextprotocol/client')
  const url = new URL(address.url)
  const options = {
    fetch: heeding(limitedFetch(ports.fetchTo(address.url)), auth, sdk) as never,
    requestInit: { headers: { ...address.headers } },
    ...(auth ? { authProvider: auth } : {}),
  }
  const sse = () => connect(request, new sdk.SSEClientTransport(url, options) as Transport, { sdk })
  if (address.isSse) return sse()
  try {
    return await connect(request, new sdk.StreamableHTTPClientTransport(url, options) as Transport, { sdk })
  } catch (error) {
    if (request.signal.aborted || !isOlder(error)) throw error
    return await sse().catch(() => {
      throw error
    })
  }
}

/** Keeps what rights a refused request would have needed, for the next login. */
function heeding(
  send: typeof fetch,
  auth: ConnectionAuth | null,
  { extractWWWAuthenticateParams }: Connecting['sdk'],
): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init)
    if (response.status !== 403 || auth === null) return response
    const { error, scope } = extractWWWAuthenticateParams(response)
    if (error === 'insufficient_scope' && scope !== undefined) await auth.wants(scope)
    return response
  }
}

/** Whether the answer is that of a server that knows the older transport only. */
function isOlder(error: unknown): boolean {
  const status = statusOf(error)
  return status !== null && status >= 400 && status < 500 && status !== 401 && status !== 403
}

/** Whether a server of the older protocol took nothing of a request since it restarted and knows nobody any more: 404, or 400 by many. */
export function isForgotten(error: unknown, client: Client): boolean {
  if (client.getProtocolEra() !== 'legacy') return false
  const status = statusOf(error)
  return status === 404 || (status === 400 && /session|not initialized/i.test(errorLine(error)))
}

function statusOf(error: unknown): number | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { status, code, data } = at as {
      status?: unknown
      code?: unknown
      data?: { status?: unknown; cause?: unknown }
    }
    for (const found of [status, data?.status, code]) if (typeof found === 'number' && found >= 100) return found
    if (data?.cause instanceof Error) return statusOf(data.cause)
  }
  return null
}

interface Connecting {
  readonly sdk: typeof import('@modelcontextprotocol/client')
  /** Why the transport is over, where it knows. */
  readonly why?: () => string | null
}

async function connect(
  request: ConnectionRequest,
  transport: Transport,
  { sdk, why = () => null }: Connecting,
): Promise<Connection> {
  const { server, prior, prepare, capabilities, listChanged, version, signal } = request
  leaveOutDeep(transport)
  const client = new sdk.Client(
    { name: 'hermes', version },
    {
      capabilities,
      versionNegotiation: {
        mode: server.protocol === 'auto' ? 'auto' : server.protocol === 'legacy' ? 'legacy' : { pin: '2026-07-28' },
        probe: { timeoutMs: probeMs(server) },
      },
      inputRequired: { maxRounds: 10 },
      listChanged: {
        tools: { autoRefresh: false, onChanged: listChanged },
        prompts: { autoRefresh: false, onChanged: listChanged },
      },
    },
  )
  prepare(client)
  let over: (reason: string | null) => void = () => undefined
  const closed = new Promise<string | null>((resolve) => {
    over = resolve
  })
  client.onclose = () => over(why() ?? null)
  let isClosing = false
  const close = async () => {
    isClosing = true
    await client.close().catch(() => undefined)
    await transport.close().catch(() => undefined)
    over(null)
  }
  try {
    const timeout = server.connectTimeoutMs
    await untilAbort(
      client.connect(transport, { timeout, signal, ...(prior && server.protocol === 'auto' ? { prior } : {}) }),
      signal,
    )
    return {
      client,
      ending: why,
      closed: closed.then((reason) => (isClosing ? null : (reason ?? 'the connection was lost'))),
      close,
    }
  } catch (error) {
    const reason = why()
    await close()
    if (signal.aborted || isAbort(error)) throw error
    throw await notConnected(server, error, reason)
  }
}

async function notConnected(settings: ServerSettings, error: unknown, reason: string | null): Promise<HermesError> {
  if (HermesError.isInstance(error)) return error
  const { name, connectTimeoutMs } = settings
  const status = statusOf(error)
  const missing = await loginNeeded(settings, error)
  if (missing) return missing
  if (status === 401) return needed(name, 'wants a login. Log in with:', error)
  const line = reason ?? ((await isLate(error)) ? `it ${lateLine(settings, connectTimeoutMs)}` : innermostLine(error))
  const message = `The MCP server ${name} cannot be used: ${line.replace(/\.?$/, '.')}`
  const about = { server: name, ...(status === null ? {} : { status }) }
  return new HermesError(message, { code: 'mcp.not_connected', retryable: true, details: about, cause: error })
}

/** The SDK hears of an abort between two steps only. */
function untilAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
