import { failureOf } from '@hermes/platform'
import { expect, it } from 'vitest'
import { toInboxError } from './email-error.js'

const refusal = (more: Readonly<Record<string, unknown>>) =>
  Object.assign(new Error('Command failed'), { authenticationFailed: true, ...more })

it.each(['AUTHENTICATIONFAILED', 'AUTHORIZATIONFAILED', 'EXPIRED', undefined])(
  'takes a refused login for a bad password where the server says %s',
  (serverResponseCode) => {
    expect(failureOf(toInboxError(refusal({ serverResponseCode }))).failure).toBe('unauthorized')
  },
)

it.each(['ALERT', 'LIMIT', 'INUSE', 'SERVERBUG', 'CONTACTADMIN', 'UNAVAILABLE', 'X-NEW'])(
  'tries a login again much later where the server says %s',
  (serverResponseCode) => {
    const error = toInboxError(refusal({ serverResponseCode }))
    expect(failureOf(error)).toEqual({ failure: 'rate_limited', retryAfterMs: 300_000 })
    expect(error).toMatchObject({ retryable: true, message: expect.stringContaining(`(${serverResponseCode})`) })
  },
)

it('takes a connection that breaks off during the login for no refusal', () => {
  expect(failureOf(toInboxError(refusal({ code: 'NoConnection' }))).failure).toBe('unknown_outcome')
})

it('knows a provider that wants a password made for one app by what it says', () => {
  const response = 'A1 NO [ALERT] Application-specific password required: https://support.example (Failure)'
  const error = toInboxError({ authenticationFailed: true, serverResponseCode: 'ALERT', response })
  expect(failureOf(error).failure).toBe('unauthorized')
})
