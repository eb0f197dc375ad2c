import { expect, it } from 'vitest'
import { isStale } from './session-reset.js'

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
