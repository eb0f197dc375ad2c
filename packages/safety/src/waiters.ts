import { type Clock, isAbort } from '@hermes/contracts'

/** Somebody who waits. */
interface Waiter {
  readonly done: Promise<'woken' | 'late' | 'aborted'>
  cancel(): void
}

/** Those who wait for something to happen under an id. */
export class Waiters {
  readonly #clock: Clock
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Waits until `wake`, for `timeoutMs` at most, or until abort. */
  wait(id: string, timeoutMs: number, signal: AbortSignal | undefined): Waiter {
    const stop = new AbortController()
    const waiting = this.#waiting.get(id) ?? new Set()
    this.#waiting.set(id, waiting)
    let wake = (): void => undefined
    const woken = new Promise<'woken'>((resolve) => {
      wake = () => resolve('woken')
    })
    waiting.add(wake)
    const any = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
    const late = this.#clock.sleep(Math.max(0, timeoutMs), any).then(
      () => 'late' as const,
      (error: unknown) => (isAbort(error) ? ('aborted' as const) : ('late' as const)),
    )
    const cancel = () => {
      waiting.delete(wake)
      if (waiting.size === 0) this.#waiting.delete(id)
      stop.abort()
    }
    return { done: Promise.race([woken, late]).finally(cancel), cancel }
  }

  wake(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake()
  }
}
