import type { Clock } from '@hermes/contracts'

/** So many failures, one after the other, and nothing more is tried at once. */
const FAILURES = 5
const FIRST_WAIT_MS = 5_000
const MAX_WAIT_MS = 300_000
/** An adapter that connects: after 1, 2, 4 and 8 seconds, then this, and twice as long each time. */
const FIRST_CONNECT_WAIT_MS = 1_000
const BROKEN_CONNECT_WAIT_MS = 16_000

/** How sending to a platform goes, or connecting to it. `untilMs`: when one is tried; `error` is what the last one came to. */
export type BreakerState =
  | { readonly type: 'open' }
  | { readonly type: 'broken'; readonly failures: number; readonly error: string; readonly untilMs: number }

/**
 * Keeps a platform that answers nothing from being asked by everything that waits: after five failures in a row one thing is tried after 5
 * seconds, then after twice as long each time, up to 5 minutes. The first that is answered, be it with no, lets all others go.
 */
export class Breaker {
  readonly #clock: Pick<Clock, 'now'>
  readonly #firstWaitMs: number
  #failures = 0
  #error = ''
  #waitMs: number
  #sinceMs = 0
  #untilMs = 0
  #isTrying = false

  /** `firstWaitMs`: the wait after the fifth failure. Default 5 seconds. */
  constructor(clock: Pick<Clock, 'now'>, { firstWaitMs = FIRST_WAIT_MS }: { readonly firstWaitMs?: number } = {}) {
    this.#clock = clock
    this.#firstWaitMs = firstWaitMs
    this.#waitMs = firstWaitMs
  }

  get state(): BreakerState {
    if (this.#failures < FAILURES) return { type: 'open' }
    return { type: 'broken', failures: this.#failures, error: this.#error, untilMs: this.#untilMs }
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures
  }

  /** Whether something may be tried now. A clock that was set back lets one be tried at once. */
  get lets(): boolean {
    if (this.#failures < FAILURES) return true
    const nowMs = this.#clock.now()
    return !this.#isTrying && (nowMs >= this.#untilMs || nowMs < this.#sinceMs)
  }

  /** What was let go while nothing was answered is the one that is tried, which says so with what comes of it. */
  trying(): void {
    this.#isTrying = this.#failures >= FAILURES
  }

  answered(): void {
    this.#failures = 0
    this.#waitMs = this.#firstWaitMs
    this.#isTrying = false
  }

  failed(error: string, isTrial: boolean): void {
    this.#failures += 1
    this.#error = error
    if (this.#failures < FAILURES) return
    // Those that were under way as it broke say nothing new.
    if (this.#failures > FAILURES && !isTrial) return
    this.#isTrying = false
    this.#sinceMs = this.#clock.now()
    this.#untilMs = this.#sinceMs + this.#waitMs
    this.#waitMs = Math.min(this.#waitMs * 2, MAX_WAIT_MS)
  }

  /** It came to an end here, before the platform was asked: that says nothing of the platform. */
  unasked(isTrial: boolean): void {
    if (isTrial) this.#isTrying = false
  }

  /** A person has one tried now. */
  tryNow(): void {
    this.#untilMs = 0
  }
}

/** How an adapter comes back to a platform that it cannot connect to: less and less often, up to every 5 minutes. */
export class Reconnection {
  readonly #clock: Pick<Clock, 'now'>
  readonly #breaker: Breaker

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    this.#breaker = new Breaker(clock, { firstWaitMs: BROKEN_CONNECT_WAIT_MS })
  }

  /** Connects in a row that came to nothing. */
  get failures(): number {
    return this.#breaker.failures
  }

  /** Before each try. */
  tries(): void {
    this.#breaker.trying()
  }

  /** The platform delivers; a connection that breaks off before that is a failure as any other. */
  delivers(): void {
    this.#breaker.answered()
  }

  /** Milliseconds until the next try; `retryAfterMs`: not before then. */
  failed(error: string, { retryAfterMs }: { readonly retryAfterMs: number | null }): number {
    this.#breaker.failed(error, true)
    const { state, failures } = this.#breaker
    const waitMs =
      state.type === 'broken' ? state.untilMs - this.#clock.now() : FIRST_CONNECT_WAIT_MS * 2 ** (failures - 1)
    return Math.max(waitMs, retryAfterMs ?? 0)
  }
}
