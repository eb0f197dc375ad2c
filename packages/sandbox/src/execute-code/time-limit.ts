import type { Clock } from '@hermes/contracts'

/** How long a program may run. Time in which a person is asked does not count. */
export class TimeLimit {
  readonly #clock: Clock
  readonly #over = Promise.withResolvers<void>()
  #leftMs: number
  #waiting = 0
  #startedMs = 0
  #isStopped = false
  #timer: AbortController | null = null

  constructor(limitMs: number, clock: Clock) {
    this.#leftMs = limitMs
    this.#clock = clock
    this.#run()
  }

  /** Resolves when the time is over; never after `stop`. */
  get over(): Promise<void> {
    return this.#over.promise
  }

  /** One call begins to wait for a person, or is done with that. */
  readonly wait = (isWaiting: boolean): void => {
    this.#waiting += isWaiting ? 1 : -1
    if (isWaiting && this.#waiting === 1) this.#pause()
    if (!isWaiting && this.#waiting === 0) this.#run()
  }

  /** The program has ended. */
  stop(): void {
    this.#pause()
    this.#isStopped = true
  }

  #pause(): void {
    if (!this.#timer) return
    this.#timer.abort()
    this.#timer = null
    this.#leftMs -= this.#clock.now() - this.#startedMs
  }

  #run(): void {
    if (this.#isStopped) return
    const timer = new AbortController()
    this.#timer = timer
    this.#startedMs = this.#clock.now()
    this.#clock.sleep(Math.max(0, this.#leftMs), timer.signal).then(
      () => this.#over.resolve(),
      () => undefined,
    )
  }
}
