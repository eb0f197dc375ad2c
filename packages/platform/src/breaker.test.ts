import { expect, it } from 'vitest'
import { Breaker, Reconnection } from './breaker.js'

it('is come back to less and less often, at the latest every 5 minutes, and at once again when it delivered', () => {
  let nowMs = 1_000_000
  const reconnection = new Reconnection({ now: () => nowMs })
  const fail = (retryAfterMs: number | null = null) => {
    reconnection.tries()
    const waitMs = reconnection.failed('No route.', { retryAfterMs })
    nowMs += waitMs
    return waitMs / 1_000
  }
  expect(Array.from({ length: 11 }, () => fail())).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  expect(reconnection.failures).toBe(11)
  expect(fail(400_000)).toBe(400)
  reconnection.delivers()
  expect([reconnection.failures, fail()]).toEqual([0, 1])
})

it('lets one be tried at once where a person says so', () => {
  const breaker = new Breaker({ now: () => 1_000_000 })
  for (let turn = 0; turn < 5; turn++) breaker.failed('No route.', false)
  expect(breaker.lets).toBe(false)
  breaker.tryNow()
  expect(breaker.lets).toBe(true)
  breaker.trying()
  expect(breaker.lets).toBe(false)
})
