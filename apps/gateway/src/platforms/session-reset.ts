// When a conversation in a chat is over by itself.
import type { HermesConfig } from '@hermes/config'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** Whether what was said last is so long ago that a new conversation begins: a pause, a time of day in between, or either. */
export function isStale(
  { mode, idle_minutes: idle, at_hour: hour }: HermesConfig['session_reset'],
  { heardAtMs, nowMs }: { readonly heardAtMs: number; readonly nowMs: number },
): boolean {
  const isIdle = nowMs - heardAtMs > idle * MINUTE_MS
  const last = new Date(nowMs)
  last.setHours(hour, 0, 0, 0)
  const lastMs = last.getTime() > nowMs ? last.getTime() - DAY_MS : last.getTime()
  switch (mode) {
    case 'none':
      return false
    case 'idle':
      return isIdle
    case 'daily':
      return heardAtMs < lastMs
    case 'both':
      return isIdle || heardAtMs < lastMs
    default:
      return mode satisfies never
  }
}
