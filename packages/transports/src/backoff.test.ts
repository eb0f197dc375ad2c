import { expect, it } from 'vitest'
import { jitteredBackoff } from './index.js'

it('doubles up to a bound and adds up to half as jitter', () => {
  const plain = [1, 2, 3, 4, 5, 6, 9].map((attempt) => jitteredBackoff(attempt, { random: () => 0 }))
  expect(plain).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 120_000, 120_000])
  expect(jitteredBackoff(1, { random: () => 0.999_999 })).toBe(7_500)
  expect(jitteredBackoff(3, { baseMs: 1, maxMs: 3, jitterRatio: 1, random: () => 0.5 })).toBe(5)
})
