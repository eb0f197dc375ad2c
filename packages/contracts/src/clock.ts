import { isAbort } from './error.js'

/** Time as a dependency, so that tests decide what time it is. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Resolves after `ms` milliseconds; rejects with an `AbortError` as soon as `signal` fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The machine's own clock. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  sleep: (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const abort = () => {
        clearTimeout(timer)
        const reason: unknown = signal?.reason
        reject(isAbort(reason) ? reason : new DOMException('The wait was aborted.', 'AbortError'))
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }, ms)
      if (signal?.aborted) abort()
      else signal?.addEventListener('abort', abort, { once: true })
    }),
})
