import { createFakeClock } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { SharedLook } from './shared-look.js'

it('looks once for all who wait, at the time of the first of them, and anew for each who waits after that', async () => {
  const clock = createFakeClock()
  let looks = 0
  const shared = new SharedLook(() => ++looks, clock)
  const twenty = Array.from({ length: 20 }, (_, at) => shared.next(10 + at))
  await clock.advance(10)
  expect(await Promise.all(twenty)).toEqual(Array.from({ length: 20 }, () => 1))
  expect(clock.pending()).toEqual([])
  const again = [shared.next(20), shared.next(10)]
  await clock.advance(10)
  expect([await Promise.all(again), looks]).toEqual([[2, 2], 2])
})

it('shares what was seen in this turn where that is enough, and shows what is seen to those who wait', async () => {
  const clock = createFakeClock()
  let looks = 0
  const shared = new SharedLook(() => ++looks, clock)
  const waits = shared.next(1_000)
  expect([shared.now(() => true), shared.now((seen) => seen === 1), shared.now((seen) => seen > 1)]).toEqual([1, 1, 2])
  expect(await waits).toBe(1)
  await new Promise((resolve) => setImmediate(resolve))
  expect(shared.now(() => true)).toBe(3)
})

it('rejects a wait whose look fails, and no other', async () => {
  const clock = createFakeClock()
  let looks = 0
  const shared = new SharedLook(() => {
    if (++looks === 1) throw new Error('too many open files')
    return looks
  }, clock)
  const [first, second] = [shared.next(10), shared.next(20)]
  const failed = expect(first).rejects.toThrow('too many open files')
  await clock.advance(20)
  await failed
  expect(await second).toBe(2)
})
