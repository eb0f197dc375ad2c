import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseResetTime, resetFromHeaders } from './reset-time.js'

const NOW = Date.UTC(2026, 10, 21, 9)
const seconds = (count: number) => NOW + count * 1_000

describe('parseResetTime', () => {
  it.each([
    [seconds(90) / 1_000, seconds(90)],
    [seconds(90), seconds(90)],
    [String(seconds(90) / 1_000), seconds(90)],
    [String(seconds(90)), seconds(90)],
    [`${seconds(90) / 1_000}.5`, seconds(90.5)],
    [30, seconds(30)],
    ['30', seconds(30)],
    ['2026-11-21T09:10:00Z', seconds(600)],
    ['2026-11-21T10:10:00+01:00', seconds(600)],
    ['2026-11-21T09:10:00', seconds(600)],
    ['2026-11-21 09:10:00', seconds(600)],
    ['Sat, 21 Nov 2026 09:10:00 GMT', seconds(600)],
    ['250ms', seconds(0.25)],
    ['6m0s', seconds(360)],
    ['1h2m3.5s', seconds(3_723.5)],
    ['1d 2h', seconds(93_600)],
    ['PT1M30S', seconds(90)],
    ['P1DT1H', seconds(90_000)],
    ['Rate limit reached. Please try again in 6m0s. Visit the dashboard.', seconds(360)],
    ['Please retry after 30 seconds', seconds(30)],
    ['Your plan limit resets in 3 hr 20 min', seconds(12_000)],
    ['Usage limit reached, resets in 2 hours and 5 minutes.', seconds(7_500)],
    [`limit resets at ${seconds(90) / 1_000}`, seconds(90)],
    ['quota exceeded; resets at 2026-11-21T09:10:00Z, upgrade your plan', seconds(600)],
    ['{"error":{"details":[{"metadata":{"quotaResetDelay":"54.5s"}}]}}', seconds(54.5)],
    ['{"quotaResetTimeStamp":"2026-11-21T09:10:00Z"}', seconds(600)],
    ['{"error":{"type":"usage_limit_reached","resets_in_seconds":120}}', seconds(120)],
    [`{"error":{"resets_at":${seconds(90) / 1_000}}}`, seconds(90)],
    ['{"retryDelay": "12s"}', seconds(12)],
  ])('reads %j', (value, expected) => {
    expect(parseResetTime(value, NOW)).toBe(expected)
  })

  it.each([
    ['Rate limit reached for gpt-4.1 in organisation org-123 on tokens per min: limit 30000, used 29000.'],
    ['Sat, 21 Nov 2020 09:10:00 GMT'],
    [seconds(-90)],
    [seconds(40 * 86_400)],
    ['P'],
    [''],
    [-1],
    [Number.NaN],
    [null],
    [{}],
  ])('finds nothing in %j', (value) => {
    expect(parseResetTime(value, NOW)).toBeNull()
  })

  it('gives a moment ahead and within a month, or nothing, whatever it is given', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double(), fc.date().map(String), fc.jsonValue()), (value) => {
        const atMs = parseResetTime(value, NOW)
        if (atMs !== null) expect(atMs > NOW && atMs <= NOW + 31 * 86_400_000 + 1).toBe(true)
      }),
    )
  })
})

describe('resetFromHeaders', () => {
  it.each([
    [{ 'Retry-After': '20' }, seconds(20)],
    [{ 'retry-after-ms': '1500' }, seconds(1.5)],
    [{ 'retry-after': 'Sat, 21 Nov 2026 09:10:00 GMT' }, seconds(600)],
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m30s', 'retry-after': '2' }, seconds(90)],
    [{ 'x-ratelimit-remaining-tokens': '900', 'x-ratelimit-reset-tokens': '6h' }, null],
    [
      { 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': '2026-11-21T09:10:00Z' },
      seconds(600),
    ],
    [{ 'x-ratelimit-reset': String(seconds(90)) }, seconds(90)],
    [{ 'content-type': 'application/json' }, null],
  ])('reads %j', (headers, expected) => {
    expect(resetFromHeaders(headers as Record<string, string>, NOW)).toBe(expected)
  })
})
