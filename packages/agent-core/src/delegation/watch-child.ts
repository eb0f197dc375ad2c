import type { Clock } from '@hermes/contracts'
import type { Agent } from '../agent.js'
import type { Activity } from '../events/activity.js'

const LOOK_EVERY_MS = 30_000
/** How long an agent may be without a sign of progress. */
const LIMITS_MS: Readonly<Record<Activity['state'], number>> = {
  idle: Number.POSITIVE_INFINITY,
  waiting: Number.POSITIVE_INFINITY,
  model: 450_000,
  retrying: 450_000,
  tool: 1_200_000,
  compacting: 1_200_000,
}
/** A child that was told to end has at least one whole interval to do so. */
const LOOKS_TO_END = 2

/** Somebody who looks after a child. */
interface ChildWatch {
  /** Why it was interrupted; `null` when it was not. */
  readonly stale: () => string | null
  /** Resolves when the child was told to end and has not for over 30 s. */
  readonly abandoned: Promise<null>
  stop(): void
}

/** Who looks after a child, and whom it waits for. */
interface WatchOptions {
  readonly clock: Clock
  /** Abort is how others tell the child to end. */
  readonly signal: AbortSignal
  /** The agents that work for it: what they do counts as progress of a tool. Default none. */
  readonly below?: () => readonly Agent[]
}

/**
 * Interrupts an agent that has made no progress for too long: 450 s without a word of the model, 1,200 s without one of a tool or while the
 * conversation is compacted. Waiting for a person counts for nothing, its own and that of agents below. `onLook` is called at every look, each 30 s, until `stop`.
 */
export function watchChild(
  agent: Agent,
  { clock, signal, below = () => [] }: WatchOptions,
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
      const { state, description } = agent.activity()
      const idleMs = clock.now() - lastProgress(agent, below())
      if (idleMs < LIMITS_MS[state]) continue
      stale = `It made no progress for ${Math.round(idleMs / 1000)} s (${description}) and was stopped.`
      agent.interrupt(stale)
    }
  }
  // It ends with the abort of its sleep.
  watch().catch(() => undefined)
  return { stale: () => stale, abandoned, stop: () => stopped.abort() }
}

function lastProgress(agent: Agent, below: readonly Agent[]): number {
  const own = agent.activity()
  if (own.state !== 'tool') return own.progressAtMs
  const others = below.map((one) => one.activity())
  if (others.some(({ state }) => state === 'waiting')) return Number.POSITIVE_INFINITY
  return Math.max(own.progressAtMs, ...others.map(({ progressAtMs }) => progressAtMs))
}
