import { expect, it } from 'vitest'
import { isStale, resetIn } from './session-reset.js'

it('says when a conversation is over: after a pause, at an hour, at whichever comes first, never', () => {
  const at = (hour: number, day = 2) => new Date(2026, 10, day, hour).getTime()
  const stale = (mode: 'none' | 'idle' | 'daily' | 'both', heardAtMs: number, nowMs: number) =>
    isStale({ mode, idle_minutes: 120, at_hour: 4 }, { heardAtMs, nowMs })
  expect([stale('idle', at(10), at(11)), stale('idle', at(10), at(13))]).toEqual([false, true])
  expect([stale('daily', at(3), at(5)), stale('daily', at(5), at(23)), stale('daily', at(23, 1), at(3))]).toEqual([
    true,
    false,
    false,
  ])
  expect([stale('both', at(5), at(8)), stale('both', at(3), at(5)), stale('both', at(5), at(6))]).toEqual([
    true,
    true,
    false,
  ])
  expect(stale('none', 0, at(12))).toBe(false)
})

it('is as the platform has it, else as the kind of chat has it, else as all have it', () => {
  const settings = {
    mode: 'none',
    idle_minutes: 1_440,
    at_hour: 4,
    by_type: { dm: {}, group: { mode: 'idle', idle_minutes: 60 } },
    by_platform: { email: { mode: 'daily' } },
  } as const
  const of = (platform: string, type: 'dm' | 'group') => resetIn(settings, { platform, type })
  expect(of('telegram', 'dm')).toEqual({ mode: 'none', idle_minutes: 1_440, at_hour: 4 })
  expect(of('telegram', 'group')).toEqual({ mode: 'idle', idle_minutes: 60, at_hour: 4 })
  expect(of('email', 'group')).toEqual({ mode: 'daily', idle_minutes: 60, at_hour: 4 })
})
