import type { Clock } from '@hermes/contracts'
import type { Agent } from '../agent.js'

const LOOK_EVERY_MS = 30_000
const IDLE_LIMIT_MS = 450_000
const TOOL_LIMIT_MS = 1_200_000
/** A child that was told to end has at least one whole interval to do so. */
const LOOKS_TO_END = 2

/** Somebody who looks after a child. */
export interface ChildWatch {
  /** Why it was interrupted; `null` when it was not. */
  readonly stale: () => string | null
  /** Resolves when the child was told to end and has not for over 30 s. */
  readonly abandoned: Promise<null>
  stop(): void
}

/**
 * Interrupts an agent that has made no progress for too long: 450 s without an answer of the model, 1,200 s in one tool. Waiting for a
 * person counts for nothing. `onLook` is called at every look, each 30 s, until `stop`; abort of `signal` is how others tell the child to end.
 */
export function watchChild(
  agent: Agent,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  onLook: () => void,
): ChildWatch {
  const stopped = new AbortController()
  const { promise: abandoned, resolve: abandon } = Promise.withResolvers<null>()
  let stale: string | null = null
  let looksSinceEnd = 0
  const watch = async () => {
    for (;;) {
      await clock.sleep(LOOK_EVERY_MS, stopped.signal)
      onLook()
      if (stale !== null || signal.aborted) {
        if (++looksSinceEnd === LOOKS_TO_END) abandon(null)
        continue
      }
      const { state, sinceMs, description } = agent.activity()
      const limitMs = state === 'tool' ? TOOL_LIMIT_MS : state === 'model' ? IDLE_LIMIT_MS : Number.POSITIVE_INFINITY
      if (clock.now() - sinceMs < limitMs) continue
      stale = `It made no progress for ${Math.round((clock.now() - sinceMs) / 1000)} s (${description}) and was stopped.`
      agent.interrupt(stale)
    }
  }
  // It ends with the abort of its sleep.
  watch().catch(() => undefined)
  return { stale: () => stale, abandoned, stop: () => stopped.abort() }
}
