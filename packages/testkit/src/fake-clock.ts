import type { Clock } from '@hermes/contracts'

/** A clock that a test moves by hand. */
export interface FakeClock extends Clock {
  /** Moves time on and wakes what is due, in order, letting each sleeper run before the next one wakes. */
  advance(ms: number): Promise<void>
  /** Resolves once at least `count` sleeps (default 1) are pending. */
  waitForSleepers(count?: number): Promise<void>
  /** How long each pending sleep still has, in milliseconds, soonest first. */
  pending(): readonly number[]
}

interface Sleeper {
  readonly atMs: number
  readonly wake: () => void
}

/** Makes a clock that stands at `startMs` (default 1,000,000) until it is moved. */
export function createFakeClock(startMs = 1_000_000): FakeClock {
  return new ManualClock(startMs)
}

class ManualClock implements FakeClock {
  #nowMs: number
  #sleepers: Sleeper[] = []
  #waiting: { readonly count: number; readonly resolve: () => void }[] = []

  constructor(startMs: number) {
    this.#nowMs = startMs
  }

  now = (): number => this.#nowMs

  sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    return new Promise<void>((resolve, reject) => {
      const abort = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
        reject(new DOMException('The wait was aborted.', 'AbortError'))
      }
      const sleeper: Sleeper = {
        atMs: this.#nowMs + ms,
        wake: () => {
          signal?.removeEventListener('abort', abort)
          resolve()
        },
      }
      if (signal?.aborted) return abort()
      signal?.addEventListener('abort', abort, { once: true })
      this.#sleepers.push(sleeper)
      this.#sleepers.sort((left, right) => left.atMs - right.atMs)
      for (const waiter of this.#waiting) if (waiter.count <= this.#sleepers.length) waiter.resolve()
    })
  }

  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    for (;;) {
      const next = this.#sleepers[0]
      if (!next || next.atMs > untilMs) break
      this.#sleepers.shift()
      this.#nowMs = next.atMs
      next.wake()
      await settle()
    }
    this.#nowMs = untilMs
    await settle()
  }

  waitForSleepers(count = 1): Promise<void> {
    if (this.#sleepers.length >= count) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ count, resolve }))
  }

  pending(): readonly number[] {
    return this.#sleepers.map((sleeper) => sleeper.atMs - this.#nowMs)
  }
}

/** Lets promise chains and I/O callbacks that are ready run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
