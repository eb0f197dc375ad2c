import { describe, expect, it } from 'vitest'
import { rateLimits, refusedUntilMs } from './rate-limits.js'

const nowMs = Date.parse('2026-03-01T12:00:00Z')

describe('rateLimits', () => {
  it.each([
    ['a duration', '6m0.5s', 360_500],
    ['milliseconds', '250ms', 250],
    ['seconds', '12', 12_000],
    ['an epoch in seconds', String(nowMs / 1_000 + 30), 30_000],
    ['an epoch in milliseconds', String(nowMs + 30_000), 30_000],
    ['a date', '2026-03-01T12:01:00Z', 60_000],
  ])('reads a reset given as %s', (_name, reset, inMs) => {
    const limits = rateLimits({ 'x-ratelimit-reset-requests': reset }, nowMs)
    expect(limits).toEqual([{ name: 'requests', limit: null, remaining: null, resetAtMs: nowMs + inMs }])
  })

  it('keeps the limits of one answer apart, in the forms of several vendors', () => {
    const headers = {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-remaining-tokens-1h': '0',
      'anthropic-ratelimit-input-tokens-limit': '50000',
      'anthropic-ratelimit-input-tokens-reset': '2026-03-01T12:00:02Z',
      'content-type': 'application/json',
    }
    expect(rateLimits(headers, nowMs)).toEqual([
      { name: 'requests', limit: 60, remaining: 59, resetAtMs: nowMs + 1_000 },
      { name: 'tokens-1h', limit: null, remaining: 0, resetAtMs: null },
      { name: 'input-tokens', limit: 50_000, remaining: null, resetAtMs: nowMs + 2_000 },
    ])
  })

  it('says nothing where nothing can be read', () => {
    expect(rateLimits({ 'x-ratelimit-reset': 'soon', 'x-ratelimit-remaining': '' }, nowMs)).toEqual([
      { name: 'requests', limit: null, remaining: null, resetAtMs: null },
    ])
    expect(rateLimits({}, nowMs)).toEqual([])
  })
})

describe('refusedUntilMs', () => {
  const limit = (remaining: number | null, inMs: number | null) => {
    return { name: 'requests', limit: 9, remaining, resetAtMs: inMs === null ? null : nowMs + inMs }
  }

  it('is the last reset of what is used up', () => {
    expect(refusedUntilMs([limit(0, 5_000), limit(0, 9_000), limit(3, 99_000)], nowMs)).toBe(nowMs + 9_000)
  })

  it('is nothing when something is left, the reset is past, or nobody says when it comes', () => {
    for (const one of [limit(1, 5_000), limit(null, 5_000), limit(0, 0), limit(0, null)])
      expect(refusedUntilMs([one], nowMs)).toBeNull()
  })

  it('waits for tokens that a call needs and does not have left, where waiting helps', () => {
    const tokens = (remaining: number, name = 'tokens', inMs = 5_000) => {
      return [{ name, limit: 1_000, remaining, resetAtMs: nowMs + inMs }]
    }
    expect(refusedUntilMs(tokens(300), nowMs, () => 301)).toBe(nowMs + 5_000)
    expect(refusedUntilMs(tokens(300, 'tokens-1m'), nowMs, () => 301)).toBe(nowMs + 5_000)
    expect(refusedUntilMs(tokens(300), nowMs, () => 300)).toBeNull()
    expect(refusedUntilMs(tokens(300), nowMs, () => 1_001)).toBeNull()
    expect(refusedUntilMs(tokens(300), nowMs)).toBeNull()
    expect(refusedUntilMs(tokens(300, 'output-tokens'), nowMs, () => 301)).toBeNull()
  })

  it('does not count what a call needs while enough is left, or for limits that count something else', () => {
    const counted = () => {
      throw new Error('counted')
    }
    const limits = [limit(1, 5_000), { name: 'tokens', limit: 1_000, remaining: 500, resetAtMs: nowMs + 5_000 }]
    expect(refusedUntilMs(limits, nowMs, counted)).toBeNull()
  })
})
