// A platform that a person can rest: nothing is heard, and what is to be sent waits. What was said meanwhile comes when it goes on.
// Its adapter may be of an extension: what throws where none may is how that platform is doing, and nobody else's trouble.
import { type Clock, errorLine, systemClock } from '@hermes/contracts'
import type {
  IncomingAttachment,
  Platform,
  PlatformListener,
  PlatformMessage,
  PlatformState,
} from '@hermes/contracts/platform'
import { platformError, Reconnection } from '@hermes/platform'

/** How long an adapter is waited for to end. */
const CLOSED_WITHIN_MS = 10_000
/** How long another one is waited for; those of extensions have a shorter limit of their own, which says more. */
const MADE_WITHIN_MS = 30_000
const MOST_ERROR_CHARS = 300

/** Keeps the account and all that stands around a platform while its adapter is closed and, later, made anew. */
export class PausablePlatform implements Platform {
  readonly name
  readonly abilities
  readonly edit?: NonNullable<Platform['edit']>
  readonly draft?: NonNullable<Platform['draft']>
  readonly sendFile?: NonNullable<Platform['sendFile']>
  readonly showTyping?: NonNullable<Platform['showTyping']>
  readonly react?: NonNullable<Platform['react']>
  readonly receive?: NonNullable<Platform['receive']>
  readonly #create: () => Promise<Platform>
  readonly #clock: Clock
  #adapter: Platform
  /** Why the adapter cannot be used, where it could not say so itself. */
  #broken: PlatformState | null = null
  #listener: PlatformListener | null = null
  #isPaused = false
  #isClosed = false
  readonly #reconnection: Reconnection
  readonly #closing = new AbortController()
  #changing: Promise<void> = Promise.resolve()

  /** `create` makes another adapter of the same account. */
  constructor(adapter: Platform, create: () => Promise<Platform>, clock: Clock = systemClock) {
    this.#adapter = adapter
    this.#create = create
    this.#clock = clock
    this.#reconnection = new Reconnection(clock)
    this.name = adapter.name
    this.abilities = adapter.abilities
    if (adapter.edit) this.edit = async (...args) => this.#used().edit!(...args)
    if (adapter.draft) this.draft = async (...args) => this.#used().draft!(...args)
    if (adapter.sendFile) this.sendFile = async (...args) => this.#used().sendFile!(...args)
    if (adapter.showTyping) this.showTyping = async (...args) => this.#used().showTyping!(...args)
    if (adapter.react) this.react = async (...args) => this.#used().react!(...args)
    // A closed adapter tells its server to come again.
    if (adapter.receive) this.receive = (request) => this.#adapter.receive!(request)
  }

  get state(): PlatformState {
    if (this.#isPaused && !this.#isClosed) return { type: 'paused' }
    try {
      const state: Partial<PlatformState> | null | undefined = this.#broken ?? this.#adapter.state
      return isState(state) ? state : brokenBy(new Error('It does not say how it is doing.'))
    } catch (error) {
      return brokenBy(error)
    }
  }

  get heardAtMs(): number | null {
    try {
      return this.#adapter.heardAtMs
    } catch {
      return null
    }
  }

  /** Nothing goes out. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Rests it, or has it go on; what is so already changes nothing. Rejects as the adapter does that is made anew; it rests on then. */
  setPaused(isPaused: boolean): Promise<void> {
    const changed = this.#changing.then(() => (isPaused ? this.#pause() : this.#resume()))
    this.#changing = changed.catch(() => undefined)
    return changed
  }

  /**
   * Tries at once to connect where it waits to do so, or was refused for good; connected or paused it is left alone. Rejects as the adapter does
   * that is made anew; the one before goes on then.
   */
  retry(): Promise<void> {
    const changed = this.#changing.then(() => this.#retry())
    this.#changing = changed.catch(() => undefined)
    return changed
  }

  async #retry(): Promise<void> {
    const { type } = this.state
    if (this.#isClosed || !this.#listener || (type !== 'waiting' && type !== 'failed')) return
    const next = await this.#another()
    if (next === null) return
    await this.#end()
    this.#adapter = next
    this.#begin(this.#listener)
  }

  /** Made anew, or `null` once this is being closed; one that comes later is ended. Rejects as `create` does, and after 30 seconds. */
  async #another(): Promise<Platform | null> {
    if (this.#closing.signal.aborted) return null
    const [made, over] = [this.#create(), new AbortController()]
    const late = this.#clock.sleep(MADE_WITHIN_MS, AbortSignal.any([over.signal, this.#closing.signal]))
    const first = await Promise.race([made, late.catch(() => undefined)]).finally(() => over.abort())
    if (first) return first
    made.then((unused) => unused.close()).catch(() => undefined)
    if (this.#closing.signal.aborted) return null
    throw platformError('unreachable', `It was not there within ${MADE_WITHIN_MS / 1_000} seconds.`)
  }

  /** Where `connect` throws, or is a promise that rejects, another adapter is tried after a while. */
  #begin(listener: PlatformListener): void {
    const adapter = this.#adapter
    const fail = (error: unknown) => {
      if (this.#adapter === adapter) this.#tryLater(error, listener)
    }
    const onState = (state: PlatformState) => {
      if (state.type === 'connected') this.#reconnection.delivers()
      listener.onState(state)
    }
    this.#broken = null
    this.#reconnection.tries()
    try {
      const connected: unknown = adapter.connect({ hear: (event) => listener.hear(event), onState })
      Promise.resolve(connected).catch(fail)
    } catch (error) {
      fail(error)
    }
  }

  /** Less and less often, up to every 5 minutes, until it connects, rests or is closed, or a person has it tried. */
  #tryLater(error: unknown, listener: PlatformListener): void {
    if (this.#isClosed || this.#closing.signal.aborted) return
    const line = shortLine(error)
    const waitMs = this.#reconnection.failed(line, { retryAfterMs: null })
    const { failures } = this.#reconnection
    const broken: PlatformState = { type: 'waiting', error: line, retryAtMs: this.#clock.now() + waitMs, failures }
    this.#broken = broken
    listener.onState(broken)
    const isStill = () => this.#broken === broken && !this.#isPaused
    const tried = this.#clock.sleep(waitMs, this.#closing.signal).then(() => (isStill() ? this.retry() : undefined))
    tried.catch((again: unknown) => isStill() && this.#tryLater(again, listener))
  }

  /** Ends the adapter; one that cannot, or takes too long, is left. Never rejects. */
  async #end(): Promise<void> {
    const adapter = this.#adapter
    const over = new AbortController()
    const ended = (async () => adapter.close())()
    await Promise.race([ended, this.#clock.sleep(CLOSED_WITHIN_MS, over.signal)]).catch(() => undefined)
    over.abort()
  }

  async #pause(): Promise<void> {
    if (this.#isPaused || this.#isClosed) return
    this.#isPaused = true
    await this.#end()
    this.#listener?.onState({ type: 'paused' })
  }

  async #resume(): Promise<void> {
    if (!this.#isPaused || this.#isClosed) return
    const next = await this.#another()
    if (next === null) return
    this.#adapter = next
    this.#isPaused = false
    if (this.#listener) this.#begin(this.#listener)
  }

  connect(listener: PlatformListener): void {
    this.#listener = listener
    if (!this.#isPaused) this.#begin(listener)
  }

  async send(message: PlatformMessage): Promise<string> {
    return this.#used().send(message)
  }

  async download(
    attachment: IncomingAttachment,
    options: { readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<Uint8Array> {
    return this.#used().download(attachment, options)
  }

  async probe(): Promise<string> {
    return this.#used().probe()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#changing
    this.#isClosed = true
    await this.#end()
  }

  #used(): Platform {
    if (this.#isPaused) throw platformError('unreachable', `${this.name} is paused.`)
    return this.#adapter
  }
}

const STATES: readonly PlatformState['type'][] = ['connecting', 'connected', 'waiting', 'failed', 'closed']

/** What an adapter of an extension says may be anything. */
function isState(state: Partial<PlatformState> | null | undefined): state is PlatformState {
  return STATES.some((type) => type === state?.type)
}

function brokenBy(error: unknown): PlatformState {
  return { type: 'failed', error: shortLine(error) }
}

function shortLine(error: unknown): string {
  return errorLine(error).slice(0, MOST_ERROR_CHARS)
}
