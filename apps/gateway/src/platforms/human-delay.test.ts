import { expect, it } from 'vitest'
import { humanDelay, pauseBetween } from './human-delay.js'

it('waits as long as variables, else config.yaml, say, and names what is no length of time', () => {
  const of = (mode: 'off' | 'natural' | 'custom', variables: Record<string, string> = {}) =>
    humanDelay({ human_delay: { mode, min_ms: 10, max_ms: 30 } }, variables)
  expect(of('off')).toBeNull()
  expect(of('natural')).toEqual({ minMs: 800, maxMs: 2_500 })
  expect(of('custom')).toEqual({ minMs: 10, maxMs: 30 })
  expect(of('off', { HERMES_HUMAN_DELAY_MODE: 'custom', HERMES_HUMAN_DELAY_MAX_MS: '50' })).toEqual({
    minMs: 10,
    maxMs: 50,
  })
  expect(() => of('custom', { HERMES_HUMAN_DELAY_MIN_MS: '40' })).toThrow(/min_ms not above max_ms; they are 40 and 30/)
  expect(() => of('off', { HERMES_HUMAN_DELAY_MODE: 'slow' })).toThrow(/off, natural or custom, not "slow"/)
  expect([0, 0.5, 1].map((random) => pauseBetween({ minMs: 10, maxMs: 30 }, random))).toEqual([10, 20, 30])
})
