import type { Clock } from '@hermes/contracts'

/** So many sends that the platform did not answer, one after the other, and no more are made at once. */
const FAILURES = 5
const FIRST_WAIT_MS = 5_000
const MAX_WAIT_MS = 300_000

/** How sending to a platform goes. `untilMs`: when one message is tried; `error` is what the last one came to. */
export type SendingState =
  | { readonly type: 'open' }
  | { readonly type: 'broken'; readonly failures: number; readonly error: string; readonly untilMs: number }

/**
 * Keeps a platform that answers nothing from being asked by every message that waits: after five sends in a row without an answer one message
 * is tried after 5 seconds, then after twice as long each time, up to 5 minutes. The first that is answered, be it with no, lets all others go.
 */
export class SendBreaker {
  readonly #clock: Pick<Clock, 'now'>
  #failures = 0
  #error = ''
  #waitMs = FIRST_WAIT_MS
  #sinceMs = 0
  #untilMs = 0
  #isTrying = false

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  get state(): SendingState {
    if (this.#failures < FAILURES) return { type: 'open' }
    return { type: 'broken', failures: this.#failures, error: this.#error, untilMs: this.#untilMs }
  }

  /** Whether a message may be taken now. A clock that was set back lets one be tried at once. */
  get lets(): boolean {
    if (this.#failures < FAILURES) return true
    const nowMs = this.#clock.now()
    return !this.#isTrying && (nowMs >= this.#untilMs || nowMs < this.#sinceMs)
  }

  /** A message that was let go while nothing was answered is the one that is tried, which says so with what comes of it. */
  trying(): void {
    this.#isTrying = this.#failures >= FAILURES
  }

  answered(): void {
    this.#failures = 0
    this.#waitMs = FIRST_WAIT_MS
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

  /** The message came to an end here, before the platform was asked: that says nothing of the platform. */
  unasked(isTrial: boolean): void {
    if (isTrial) this.#isTrying = false
  }
}
