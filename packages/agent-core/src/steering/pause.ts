import type { Usage } from '@hermes/contracts/conversation'
import type { ActivityTracker } from '../events/activity.js'

/** Delegated work that can be paused for a reason. */
interface Pausable {
  /** Pauses all there is and will be until the same reason is taken away. Setting a reason twice changes nothing. */
  setPause(reason: string, isPaused: boolean): void
}

/** Tasks that an agent has delegated. */
export interface DelegatedTasks extends Pausable {
  /** What those that have ended came to. */
  usage(): Usage
}

/** Holds a run before its next model call or tool call. Several may hold it at once; it goes on when all have let go. */
export class PauseGate {
  readonly #pauses = new Set<symbol>()
  #waiting: (() => void)[] = []

  get isPaused(): boolean {
    return this.#pauses.size > 0
  }

  /** Returns how to let go. */
  addPause(): () => void {
    const pause = Symbol('pause')
    this.#pauses.add(pause)
    return () => {
      this.#pauses.delete(pause)
      if (this.isPaused) return
      for (const goOn of this.#waiting.splice(0)) goOn()
    }
  }

  /** Resolves once nobody holds the run. Abort rejects with its reason. */
  async open(signal: AbortSignal): Promise<void> {
    while (this.isPaused) {
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
export async function waitWhilePaused(run: {
  readonly activity: Pick<ActivityTracker, 'during'>
  readonly gate: PauseGate
  readonly signal: AbortSignal
}): Promise<void> {
  const resume = run.activity.during('waiting', 'paused')
  await run.gate.open(run.signal)
  resume()
}
