// When a conversation in a chat is over by itself.
import type { HermesConfig } from '@hermes/config'
import type { ChatType } from '@hermes/contracts/platform'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

type Settings = HermesConfig['session_reset']

/** What counts in a chat: as its platform has it, else as its kind of chat has it, else as all have it. */
export function resetIn(
  { by_platform: ofPlatforms, by_type: ofTypes, ...all }: Settings,
  { platform, type }: { readonly platform: string; readonly type: ChatType },
): Pick<Settings, 'mode' | 'idle_minutes' | 'at_hour'> {
  const [first, second] = [ofPlatforms[platform], ofTypes[type === 'dm' ? 'dm' : 'group']]
  return {
    mode: first?.mode ?? second?.mode ?? all.mode,
    idle_minutes: first?.idle_minutes ?? second?.idle_minutes ?? all.idle_minutes,
    at_hour: first?.at_hour ?? second?.at_hour ?? all.at_hour,
  }
}

/** Whether what was said last is so long ago that a new conversation begins: a pause, a time of day in between, or either. */
export function isStale(
  { mode, idle_minutes: idle, at_hour: hour }: ReturnType<typeof resetIn>,
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
