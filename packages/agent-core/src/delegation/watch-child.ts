import type { Clock } from '@hermes/contracts'
import type { Agent } from '../agent.js'

const LOOK_EVERY_MS = 30_000
const IDLE_LIMIT_MS = 450_000
const TOOL_LIMIT_MS = 1_200_000

/**
 * Interrupts an agent that has made no progress for too long: 450 s without an answer of the model, 1,200 s in one tool. Waiting for a
 * person counts for nothing. Returns how to stop watching; `stale` says why it was interrupted.
 */
export function watchChild(agent: Agent, clock: Clock): { readonly stale: () => string | null; stop(): void } {
  const stopped = new AbortController()
  let stale: string | null = null
  const watch = async () => {
    while (stale === null) {
      await clock.sleep(LOOK_EVERY_MS, stopped.signal)
      const { state, sinceMs, description } = agent.activity()
      const limitMs = state === 'tool' ? TOOL_LIMIT_MS : state === 'model' ? IDLE_LIMIT_MS : Number.POSITIVE_INFINITY
      if (clock.now() - sinceMs < limitMs) continue
      stale = `It made no progress for ${Math.round((clock.now() - sinceMs) / 1000)} s (${description}) and was stopped.`
      agent.interrupt(stale)
    }
  }
  watch().catch(() => undefined)
  return { stale: () => stale, stop: () => stopped.abort() }
}
