import { expect, it } from 'vitest'
import { failureOf, platformError } from './index.js'

it('reads failures of adapters that have no class of Hermes, and leaves the outcome of all others open', () => {
  const of = (code: unknown, details?: object) =>
    Object.assign(new Error('No.'), { code, ...(details ? { details } : {}) })
  expect(failureOf(platformError('rate_limited', 'Slower.', { retryAfterMs: 3 }))).toEqual({
    failure: 'rate_limited',
    retryAfterMs: 3,
  })
  expect(failureOf(of('platform.rate_limited', { retryAfterMs: 5 }))).toEqual({
    failure: 'rate_limited',
    retryAfterMs: 5,
  })
  expect(failureOf(of('platform.rejected'))).toEqual({ failure: 'rejected', retryAfterMs: null })
  const open = { failure: 'unknown_outcome', retryAfterMs: null }
  for (const error of [
    ...[of('ECONNRESET'), of('platform.sulking'), of('platform.'), of({})],
    ...[of('x', { retryAfterMs: 'soon' }), 'platform.rejected', null, undefined, 7],
  ])
    expect(failureOf(error)).toEqual(open)
  expect(failureOf(Object.assign(of('platform.rejected'), { name: 'AbortError' }))).toEqual(open)
})
