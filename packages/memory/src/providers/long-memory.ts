import { type Clock, errorLine, type Logger, silentLogger } from '@hermes/contracts'
import type { KeptTurn, MemoryProvider, Recalled } from '@hermes/contracts/memory'

/** Options of {@link openLongMemory}. */
export interface LongMemoryOptions {
  /** Opened by the first call. */
  readonly open: () => Promise<MemoryProvider>
  /** Most memories for one message. Default 8. */
  readonly limit?: number
  /** How long a message waits for them. Default 3,000. What comes later is for the next message of its session. */
  readonly recallTimeoutMs?: number
  /** When a search that nobody waits for any more counts as failed. Default 30,000. */
  readonly searchTimeoutMs?: number
  readonly clock: Clock
  readonly logger?: Logger
}

/** A provider that never stops a turn: it is given a moment, and left alone for a while when it fails. */
export interface LongMemory {
  /**
   * What fits a text; `[]` also when the provider fails. What a slow provider gives too late is kept for the session: its next call gets that
   * nearly at once, unless the new search is as quick. While a search of a session is under way no other is begun. Rejects with an abort only.
   */
  recall(
    query: string,
    options: { readonly signal: AbortSignal; readonly sessionId?: string },
  ): Promise<readonly Recalled[]>
  /** Asks the provider for something else, now, rest or not; rejects as it does. */
  ask<Result>(call: (provider: MemoryProvider) => Promise<Result>): Promise<Result>
  /** Takes an exchange in, one after the other, without anybody waiting. Never throws. */
  keep(turn: KeptTurn): void
  /** Why the newest call failed; `null` when it did not. */
  problem(): string | null
  /** Waits a moment for exchanges that are still on their way, and closes the provider. Never rejects. */
  close(): Promise<void>
}

const QUERY_CHARS = 2_000
const KEEP_TIMEOUT_MS = 30_000
const CLOSE_TIMEOUT_MS = 3_000
/** After failures in a row: 30 s, a minute, two … up to ten minutes. */
const COOLDOWN_MS = 30_000
const MAX_COOLDOWN_MS = 600_000
const MAX_WAITING = 50
/** How long a message waits that has something of an earlier search already. */
const SHORT_WAIT_MS = 200
const MAX_LATE = 50

/**
 * Puts a provider behind limits of time. Opens nothing and never throws; the provider is opened by the first call, and again after a
 * failure to. After a failure it rests for 30 s, after each further one twice as long, ten minutes at most: until then `recall` gives `[]`
 * and `keep` drops what it gets. An exchange has 30 s to be taken in, and 50 at most wait. Abort ends a `recall` with the reason of
 * its signal and counts as no failure; only `ask` rejects with the errors of the provider, `memory.provider_*`.
 */
export function openLongMemory(options: LongMemoryOptions): LongMemory {
  return new RestingMemory(options)
}

class RestingMemory implements LongMemory {
  readonly #options: LongMemoryOptions
  readonly #logger: Logger
  readonly #stop = new AbortController()
  #provider: Promise<MemoryProvider> | null = null
  #keeping: Promise<void> = Promise.resolve()
  /** Searches under way, by session. */
  readonly #searches = new Map<string, Promise<readonly Recalled[] | null>>()
  /** What came too late, by session. */
  readonly #late = new Map<string, readonly Recalled[]>()
  #waiting = 0
  #failures = 0
  #coolsDownUntilMs = 0
  #problem: string | null = null

  constructor(options: LongMemoryOptions) {
    this.#options = options
    this.#logger = options.logger ?? silentLogger
  }

  async recall(
    query: string,
    { signal, sessionId = '' }: { readonly signal: AbortSignal; readonly sessionId?: string },
  ): Promise<readonly Recalled[]> {
    if (query.trim() === '') return []
    const late = this.#late.get(sessionId)
    this.#late.delete(sessionId)
    if (this.#isCoolingDown()) return late ?? []
    const underWay = this.#searches.get(sessionId)
    const search = underWay ?? this.#search(query, { signal, sessionId })
    const { recallTimeoutMs = 3_000 } = this.#options
    const waitMs = late || underWay ? Math.min(SHORT_WAIT_MS, recallTimeoutMs) : recallTimeoutMs
    const patience = AbortSignal.any([AbortSignal.timeout(waitMs), signal])
    const found = await untilAborted(search, patience).catch(() => null)
    signal.throwIfAborted()
    if (found) this.#late.delete(sessionId)
    return found ?? late ?? []
  }

  /** `null` when it fails. What it gives is there for the next message too, until somebody took it. */
  #search(
    query: string,
    { signal, sessionId }: { readonly signal: AbortSignal; readonly sessionId: string },
  ): Promise<readonly Recalled[] | null> {
    const { limit = 8, searchTimeoutMs = 30_000 } = this.#options
    const call = (own: AbortSignal) => async (provider: MemoryProvider) =>
      provider.recall(query.slice(0, QUERY_CHARS).toWellFormed(), { limit, signal: own })
    const options = { timeoutMs: searchTimeoutMs, signal: AbortSignal.any([signal, this.#stop.signal]) }
    const search = this.#try(call, options).then((found) => {
      this.#searches.delete(sessionId)
      this.#keepLate(sessionId, found)
      return found
    })
    this.#searches.set(sessionId, search)
    return search
  }

  #keepLate(sessionId: string, found: readonly Recalled[] | null): void {
    if (!found || found.length === 0) return
    this.#late.set(sessionId, found)
    if (this.#late.size > MAX_LATE) this.#late.delete(this.#late.keys().next().value!)
  }

  async ask<Result>(call: (provider: MemoryProvider) => Promise<Result>): Promise<Result> {
    const result = await call(await this.#open())
    this.#coolsDownUntilMs = 0
    return result
  }

  keep(turn: KeptTurn): void {
    if (this.#waiting >= MAX_WAITING || this.#stop.signal.aborted) return
    this.#waiting++
    this.#keeping = this.#keeping.then(async () => {
      this.#waiting--
      if (this.#isCoolingDown()) return
      const call = (own: AbortSignal) => (provider: MemoryProvider) => provider.keep(turn, { signal: own })
      await this.#try(call, { timeoutMs: KEEP_TIMEOUT_MS, signal: this.#stop.signal })
    })
  }

  problem(): string | null {
    return this.#problem
  }

  async close(): Promise<void> {
    const patience = AbortSignal.timeout(CLOSE_TIMEOUT_MS)
    const over = new Promise<void>((resolve) => patience.addEventListener('abort', () => resolve(), { once: true }))
    if (this.#waiting > 0 || this.#provider) await Promise.race([this.#keeping, over])
    this.#stop.abort(new DOMException('The memory is closed.', 'AbortError'))
    await this.#provider
      ?.then((provider) => provider.close())
      .catch((error: unknown) => this.#logger.debug('memory provider not closed', { error: errorLine(error) }))
  }

  /** What the call gives; `null` when it fails, which is noted. */
  async #try<Result>(
    call: (signal: AbortSignal) => (provider: MemoryProvider) => Promise<Result>,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<Result | null> {
    const limit = AbortSignal.timeout(timeoutMs)
    const own = AbortSignal.any([limit, signal])
    try {
      const result = await untilAborted(this.#open().then(call(own)), own)
      this.#failures = 0
      this.#problem = null
      return result
    } catch (error) {
      if (signal.aborted && !limit.aborted) return null
      this.#fail(limit.aborted ? `It took longer than ${timeoutMs / 1_000} s.` : errorLine(error))
      return null
    }
  }

  #open(): Promise<MemoryProvider> {
    this.#provider ??= this.#options.open()
    return this.#provider.catch((error: unknown) => {
      this.#provider = null
      throw error
    })
  }

  #isCoolingDown(): boolean {
    return this.#options.clock.now() < this.#coolsDownUntilMs
  }

  #fail(problem: string): void {
    this.#problem = problem
    const cooldownMs = Math.min(COOLDOWN_MS * 2 ** this.#failures++, MAX_COOLDOWN_MS)
    this.#coolsDownUntilMs = this.#options.clock.now() + cooldownMs
    this.#logger.warn('The memory provider failed and is left alone for a while.', { problem, cooldownMs })
  }
}

/** A provider that does not listen to its signal must not hold anybody up. */
function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
