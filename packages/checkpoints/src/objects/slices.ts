import { setImmediate } from 'node:timers/promises'

const SLICE_MS = 8

/** Cuts long synchronous work into pieces, so that the event loop is never held for long. */
export interface Slices {
  /** To be asked often; `true` when it is time for {@link pause}. */
  isOver(): boolean
  /** Lets others have their turn. Rejects with the reason of an abort. */
  pause(): Promise<void>
}

/** Slices of eight milliseconds; synchronous file calls are several times faster than asynchronous ones. */
export function createSlices(signal?: AbortSignal): Slices {
  let endMs = performance.now() + SLICE_MS
  return {
    isOver: () => performance.now() >= endMs,
    async pause() {
      await setImmediate()
      signal?.throwIfAborted()
      endMs = performance.now() + SLICE_MS
    },
  }
}
