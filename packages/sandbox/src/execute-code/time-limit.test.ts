import { createFakeClock } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { TimeLimit } from './time-limit.js'

function limited(ms: number) {
  const clock = createFakeClock()
  const limit = new TimeLimit(ms, clock)
  let isOver = false
  void limit.over.then(() => (isOver = true))
  return { clock, limit, isOver: () => isOver }
}

it('does not count the time in which anybody is asked', async () => {
  const { clock, limit, isOver } = limited(100)
  await clock.advance(60)
  limit.wait(true)
  limit.wait(true)
  await clock.advance(1_000)
  limit.wait(false)
  await clock.advance(1_000)
  limit.wait(false)
  await clock.advance(39)
  expect(isOver()).toBe(false)
  await clock.advance(1)
  expect(isOver()).toBe(true)
})

it('keeps no timer once the program has ended, whoever answers later', async () => {
  const { clock, limit, isOver } = limited(100)
  limit.wait(true)
  limit.stop()
  limit.wait(false)
  expect(clock.pending()).toEqual([])
  await clock.advance(1_000)
  expect(isOver()).toBe(false)
})
