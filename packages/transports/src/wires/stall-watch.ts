import type { Clock } from '@hermes/contracts'

/** Made once: the stack trace of such an error costs more than the rest of a stop. */
const STOPPED = new DOMException('The answer is complete.', 'AbortError')

/** Notices when nothing has come for too long. */
interface StallWatch {
  /** Something came; the first one starts the watch. */
  touch(): void
  /** Whether the limit was passed. */
  readonly stalled: boolean
  stop(): void
}

/** Calls `onStall` once when `limitMs` pass after a `touch` without another one. Wakes once per limit, not once per touch. */
export function watchStall(clock: Clock, limitMs: number, onStall: () => void): StallWatch {
  const stop = new AbortController()
  let lastMs: number | null = null
  let stalled = false
  const wait = async () => {
    for (let leftMs = limitMs; leftMs > 0; leftMs = (lastMs ?? 0) + limitMs - clock.now())
      await clock.sleep(leftMs, stop.signal)
    stalled = true
    onStall()
  }
  return {
    touch: () => {
      const isFirst = lastMs === null
      lastMs = clock.now()
      if (isFirst) wait().catch(() => undefined)
    },
    get stalled() {
      return stalled
    },
    stop: () => stop.abort(STOPPED),
  }
}
