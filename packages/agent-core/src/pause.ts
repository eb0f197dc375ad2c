import type { ActivityTracker } from './activity.js'
/** What can be held. */
export interface Holdable {
  /** Returns how to let go. */
  hold(): () => void
}

/** Holds a run before its next model call or tool call. Several may hold it at once; it goes on when all have let go. */
export class PauseGate implements Holdable {
  readonly #holds = new Set<symbol>()
  #waiting: (() => void)[] = []

  get isHeld(): boolean {
    return this.#holds.size > 0
  }

  /** Returns how to let go. */
  hold(): () => void {
    const pause = Symbol('pause')
    this.#holds.add(pause)
    return () => {
      this.#holds.delete(pause)
      if (this.isHeld) return
      for (const goOn of this.#waiting.splice(0)) goOn()
    }
  }

  /** Resolves once nobody holds the run. Abort rejects with its reason. */
  async open(signal: AbortSignal): Promise<void> {
    while (this.isHeld) {
      signal.throwIfAborted()
      await new Promise<void>((resolve, reject) => {
        const abort = () => reject(signal.reason)
        signal.addEventListener('abort', abort, { once: true })
        this.#waiting.push(() => {
          signal.removeEventListener('abort', abort)
          resolve()
        })
      })
    }
  }
}

/** Waits until nobody holds the run. Abort rejects. */
export async function waitWhileHeld(run: {
  readonly activity: Pick<ActivityTracker, 'during'>
  readonly gate: PauseGate
  readonly signal: AbortSignal
}): Promise<void> {
  const resume = run.activity.during('waiting', 'paused')
  await run.gate.open(run.signal)
  resume()
}
