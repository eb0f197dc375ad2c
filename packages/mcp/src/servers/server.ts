import type { Clock, Logger } from '@hermes/contracts'
import { HermesError } from '@hermes/contracts'
import type { Client, ClientCapabilities, PriorDiscovery } from '@modelcontextprotocol/client'
import { isLate } from '../connection/is-late.js'
import {
  type Connection,
  type ConnectionAuth,
  type ConnectionPorts,
  isForgotten,
  openConnection,
} from '../connection/open-connection.js'
import type { ServerSettings } from '../settings/server-settings.js'
import { listTools } from './list-tools.js'
import { type Listing, type ListingFiles, toolHash, withAccepted } from './listing.js'

/** Failures in a row after which a server is left alone for a while. */
const FAILURES = 3
const COOLDOWN_MS = 30_000
const LONGEST_COOLDOWN_MS = 600_000

/** What every server of a home works with. */
export interface ServerOptions extends ConnectionPorts {
  readonly settings: ServerSettings
  readonly listings: ListingFiles
  readonly version: string
  /** Adds to a client what answers the questions of its server. Default: it may ask nothing. */
  readonly answers?: {
    readonly capabilities: ClientCapabilities
    /** `refused` is told of each secret that it asked for in vain. */
    prepare(client: Client, refused: (secret: string) => void): void
  }
  /** The login of the server. Default: there is none. */
  readonly auth?: ConnectionAuth
  readonly clock: Clock
  readonly logger: Logger
}

/** Where a server stands. */
type ServerState =
  | { readonly type: 'stopped' | 'starting' | 'connected' }
  | { readonly type: 'failed'; readonly message: string }

/** One server of a home: connected when it is first needed, shared by all, ended with the home. */
export class McpServer {
  readonly settings: ServerSettings
  readonly #options: ServerOptions
  readonly #closing = new AbortController()
  readonly #listeners = new Set<() => void>()
  #listing: Listing | null = null
  #isLate = false
  #loading: Promise<void> | null = null
  #connecting: Promise<Connection> | null = null
  #connection: Connection | null = null
  #connectedAtMs = 0
  /** Connections that their server forgot, on which calls may still end. */
  readonly #forgotten = new Set<Connection>()
  #active = 0
  #idle: AbortController | null = null
  #failures = 0
  #coolsDownUntilMs = 0
  #problem: HermesError | null = null
  /** Whether it has said since its last list that it offers something else. */
  #isStale = false
  #isRelisting = false
  #isLeft = false
  /** Called once nothing is under way, or it ends. */
  #calm: (() => void) | null = null
  #ended: Promise<void> | null = null

  constructor(options: ServerOptions) {
    this.settings = options.settings
    this.#options = options
  }

  get name(): string {
    return this.settings.name
  }

  /** What it offered last; `null` before anybody knows. */
  get listing(): Listing | null {
    return this.#listing
  }

  get state(): ServerState {
    if (this.#connection) return { type: 'connected' }
    if (this.#connecting) return { type: 'starting' }
    return this.#problem ? { type: 'failed', message: this.#problem.message } : { type: 'stopped' }
  }

  /** Calls `changed` whenever its listing is another one, until what it gives back is called. */
  onChange(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => void this.#listeners.delete(changed)
  }

  /** Reads what is known of it from before. Never rejects. */
  load(): Promise<void> {
    this.#loading ??= this.#options.listings.read(this.settings).then(({ listing, isLate }) => {
      this.#listing ??= listing
      this.#isLate = isLate
    })
    return this.#loading
  }

  /** Connects, if it is not connected, and lists. Abort of `signal` ends the wait alone. @throws HermesError as {@link openConnection}. */
  async connect(signal?: AbortSignal): Promise<Client> {
    if (this.#closing.signal.aborted) throw closed(this.name)
    await this.#retire()
    if (this.#connection) return this.#connection.client
    if (!this.#connecting) {
      const rest = this.#coolsDownUntilMs - this.#options.clock.now()
      if (rest > 0 && this.#problem) throw resting(this.#problem, rest)
      this.#connecting = this.#open().finally(() => {
        this.#connecting = null
      })
      // Who waits hears of it; nobody has to.
      this.#connecting.catch(() => undefined)
    }
    return (await untilAbort(this.#connecting, signal)).client
  }

  /** Does something with its client; a connection that is not needed any more ends once nothing is under way. */
  async use<T>(work: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#retire()
    if (this.#isLeft) throw closed(this.name)
    this.#active++
    this.#idle?.abort()
    try {
      const result = await this.#try(work, signal)
      // Only one that does what it is for is a good one: many start well and end in every call.
      this.#failures = 0
      this.#problem = null
      return result
    } catch (error) {
      if (await isLate(error)) await this.#hang()
      throw error
    } finally {
      if (--this.#active === 0) {
        for (const connection of this.#forgotten) void connection.close()
        this.#forgotten.clear()
        this.#rest()
        this.#calm?.()
      }
    }
  }

  /** One that restarted meanwhile is connected anew: it took nothing. */
  async #try<T>(work: (client: Client) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const client = await this.connect(signal)
    try {
      return await work(client)
    } catch (error) {
      if (signal?.aborted || !isForgotten(error, client)) throw error
      if (this.#connection?.client === client) {
        this.#forgotten.add(this.#connection)
        this.#connection = null
      }
      return work(await this.connect(signal))
    }
  }

  /** Forgets that it failed: the next call tries it. */
  forgive(): void {
    this.#failures = 0
    this.#coolsDownUntilMs = 0
  }

  /** Takes its tools as they are now. Resolves with the names of those that had changed. */
  async accept(): Promise<readonly string[]> {
    await this.load()
    const listing = this.#listing
    if (!listing) return []
    const now = Object.fromEntries(listing.tools.map((tool) => [tool.name, toolHash(tool)]))
    const changed = Object.keys(now).filter((name) => listing.accepted[name] !== now[name])
    await this.#keep({ ...listing, accepted: { ...listing.accepted, ...now } })
    return changed
  }

  /**
   * Waits at most `withinMs` for what it offers where it is starting for the first time, so that the next start need not find it out anew. One that
   * was waited for in vain is not waited for again. Never rejects.
   */
  async settle(withinMs: number): Promise<void> {
    if (this.#connecting === null || this.#listing !== null || this.#isLate) return
    const over = new AbortController()
    const late = this.#options.clock.sleep(withinMs, over.signal).catch(() => undefined)
    await Promise.race([this.#connecting.catch(() => undefined), late])
    over.abort()
    if (this.#connecting === null || this.#listing !== null) return
    await this.#options.listings.write(this.settings, { isLate: true }).catch(() => undefined)
  }

  /** Takes no more calls, and ends for good once those under way are over, or with `close`. Never rejects. */
  async leave(): Promise<void> {
    this.#isLeft = true
    this.#listeners.clear()
    if (this.#active > 0)
      await new Promise<void>((resolve) => {
        this.#calm = resolve
      })
    await this.close()
  }

  /** Ends it for good, with its program and all that started. Never rejects. */
  close(): Promise<void> {
    this.#ended ??= this.#end()
    return this.#ended
  }

  async #end(): Promise<void> {
    this.#closing.abort(closed(this.name))
    this.#calm?.()
    this.#idle?.abort()
    this.#listeners.clear()
    await this.#connecting?.catch(() => undefined)
    await Promise.all([
      this.disconnect(),
      this.#options.auth?.settle?.(),
      ...[...this.#forgotten].map((connection) => connection.close()),
    ])
  }

  async #open(): Promise<Connection> {
    const { answers, auth, version, clock, logger } = this.#options
    await this.load()
    try {
      const connection = await openConnection(
        {
          server: this.settings,
          prior: priorOf(this.#listing),
          capabilities: answers?.capabilities ?? {},
          prepare: (client) => answers?.prepare(client, (secret) => this.#noteSecret(secret)),
          listChanged: () => {
            this.#isStale = true
            this.#relist()
          },
          auth: auth ?? null,
          version,
          signal: this.#closing.signal,
        },
        this.#options,
      )
      try {
        this.#isStale = false
        await this.#keep(await this.#list(connection.client))
      } catch (error) {
        await connection.close()
        const reason = connection.ending()
        throw reason === null ? error : lost(this.name, reason)
      }
      if (this.#closing.signal.aborted) {
        await connection.close()
        throw closed(this.name)
      }
      this.#connection = connection
      this.#connectedAtMs = clock.now()
      this.#problem = null
      void connection.closed.then((reason) => this.#over(connection, reason))
      if (this.#active === 0) this.#rest()
      this.#relist()
      return connection
    } catch (error) {
      if (this.#closing.signal.aborted) throw error
      const problem = HermesError.isInstance(error) ? error : unlisted(this.name, error)
      this.#fail(problem)
      logger.warn(problem.message, { server: this.name })
      throw problem
    }
  }

  #fail(problem: HermesError): void {
    this.#problem = problem
    this.#failures++
    const over = this.#failures - FAILURES
    if (over >= 0)
      this.#coolsDownUntilMs =
        this.#options.clock.now() + Math.min(LONGEST_COOLDOWN_MS, COOLDOWN_MS * 2 ** Math.min(over, 10))
  }

  /** One that hangs again and again is ended, and left alone for a while. */
  async #hang(): Promise<void> {
    this.#fail(hung(this.name, this.settings.timeoutMs))
    if (this.#coolsDownUntilMs > this.#options.clock.now()) await this.disconnect()
  }

  /** Ends a connection that has lasted its time, once nothing is under way. */
  async #retire(): Promise<void> {
    const { lifetimeMs } = this.settings
    if (!this.#connection || lifetimeMs === null || this.#active > 0) return
    if (this.#options.clock.now() - this.#connectedAtMs > lifetimeMs) await this.disconnect()
  }

  #over(connection: Connection, reason: string | null): void {
    if (this.#connection !== connection) return
    this.#connection = null
    if (reason === null) return
    const problem = lost(this.name, reason)
    this.#fail(problem)
    this.#options.logger.warn(problem.message, { server: this.name })
  }

  /** Ends the connection; the next call makes another one. */
  async disconnect(): Promise<void> {
    const connection = this.#connection
    this.#connection = null
    await connection?.close()
  }

  /** Ends the connection after a while without a call. */
  #rest(): void {
    const { idleMs } = this.settings
    if (idleMs === null || !this.#connection) return
    const idle = new AbortController()
    this.#idle = idle
    this.#options.clock.sleep(idleMs, idle.signal).then(
      () => (this.#active === 0 ? this.disconnect() : undefined),
      () => undefined,
    )
  }

  /** Lists again when it said that it offers something else: one list after the other, so that the newest one stays. */
  #relist(): void {
    const connection = this.#connection
    if (!connection || !this.#isStale || this.#isRelisting) return
    this.#isStale = false
    this.#isRelisting = true
    this.#list(connection.client)
      .then((listing) => (this.#connection === connection ? this.#keep(listing) : undefined))
      .catch((error: unknown) => this.#options.logger.warn(unlisted(this.name, error).message, { server: this.name }))
      .finally(() => {
        this.#isRelisting = false
        this.#relist()
      })
  }

  async #list(client: Client): Promise<Listing> {
    const options = {
      timeout: this.settings.connectTimeoutMs,
      signal: this.#closing.signal,
      cacheMode: 'refresh',
    } as const
    const has = client.getServerCapabilities() ?? {}
    const [listed, prompts] = await Promise.all([
      has.tools ? listTools(client, options) : { tools: [], dropped: [] },
      has.prompts && this.settings.tools.prompts
        ? client.listPrompts(undefined, options).then((page) => page.prompts)
        : [],
    ])
    const discover = client.getDiscoverResult()
    const isModern = client.getProtocolEra() === 'modern'
    const { name = '', version = '' } = client.getServerVersion() ?? {}
    const offer = {
      atMs: this.#options.clock.now(),
      kind: isModern ? 'modern' : 'legacy',
      ...(isModern && discover ? { discover } : {}),
      version: `${name} ${version}`.trim(),
      ...listed,
      prompts,
      hasResources: has.resources !== undefined,
    } as const
    return withAccepted(offer, this.#listing)
  }

  /** Remembers that it asked for a secret, for who looks at it later. */
  #noteSecret(field: string): void {
    const listing = this.#listing
    if (!listing) return
    this.#listing = { ...listing, secret: { field, atMs: this.#options.clock.now() } }
    this.#options.listings.write(this.settings, { listing: this.#listing }).catch(() => undefined)
  }

  async #keep(listing: Listing): Promise<void> {
    const before = this.#listing
    this.#listing = listing
    if (before && sameOffer(before, listing)) {
      // Nothing to tell, and nothing to write but the time.
      if (listing.atMs - before.atMs < 60_000) return
    } else for (const changed of [...this.#listeners]) changed()
    try {
      await this.#options.listings.write(this.settings, { listing })
    } catch (error) {
      this.#options.logger.warn(`What the MCP server ${this.name} offers could not be kept.`, { error: String(error) })
    }
  }
}

function sameOffer(left: Listing, right: Listing): boolean {
  return JSON.stringify({ ...left, atMs: 0 }) === JSON.stringify({ ...right, atMs: 0 })
}

function priorOf(listing: Listing | null): PriorDiscovery | null {
  if (!listing) return null
  if (listing.kind === 'legacy') return { kind: 'legacy' }
  return listing.discover ? { kind: 'modern', discover: listing.discover } : null
}

const about = (server: string) => ({ details: { server } })

function closed(name: string): HermesError {
  return new HermesError(`The MCP server ${name} is not used any more.`, { code: 'mcp.closed', ...about(name) })
}

function lost(name: string, reason: string): HermesError {
  const message = `The MCP server ${name} was lost: ${reason.replace(/\.?$/, '.')}`
  return new HermesError(message, { code: 'mcp.lost', retryable: true, ...about(name) })
}

function hung(name: string, timeoutMs: number): HermesError {
  const message = `The MCP server ${name} did not answer a call within ${timeoutMs / 1000} s.`
  return new HermesError(message, { code: 'mcp.call_failed', retryable: true, ...about(name) })
}

function unlisted(name: string, error: unknown): HermesError {
  const line = error instanceof Error ? error.message : String(error)
  const message = `The MCP server ${name} cannot say what it offers: ${line.replace(/\s+/g, ' ').slice(0, 300)}`
  return new HermesError(message, { code: 'mcp.not_listed', retryable: true, cause: error, ...about(name) })
}

function resting(problem: HermesError, cooldownMs: number): HermesError {
  const message = `${problem.message} It is tried again in ${Math.ceil(cooldownMs / 1000)} s.`
  return new HermesError(message, { code: problem.code, retryable: true, details: problem.details, cause: problem })
}

function untilAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
