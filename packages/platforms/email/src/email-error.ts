import { HermesError } from '@hermes/contracts'
import { connectionError, platformError } from '@hermes/platform'

/** How long a server that says "later" is left alone; it names no time. */
const LATER_MS = 60_000
/** A server that takes no login for now is left alone for longer, as each attempt may count against the account. */
const LOGIN_LATER_MS = 300_000
/** What says that this password is good for nothing; any other code of a login is about the server. */
const BAD_LOGIN: ReadonlySet<unknown> = new Set(['AUTHENTICATIONFAILED', 'AUTHORIZATIONFAILED', 'EXPIRED'])
/** Gmail says so with a code that others use for anything. */
const WANTS_APP_PASSWORD = /app(?:lication)?[- ](?:specific )?password|web login required/i
const REFUSED_LOGIN =
  'The mail server does not take this address with this password. Many providers want a password made for one app.'

interface ServerError {
  readonly code?: unknown
  readonly authenticationFailed?: unknown
  readonly serverResponseCode?: unknown
  readonly responseCode?: unknown
  readonly response?: unknown
}

/** What failed at the server that mail is read from. Its words are not shown: they may repeat what was sent. */
export function toInboxError(error: unknown): HermesError {
  if (HermesError.isInstance(error)) return error
  const { authenticationFailed, serverResponseCode, code, response } = fieldsOf(error)
  // A connection that breaks off during the login has a code of its own.
  if (authenticationFailed === true && code === undefined) {
    const wantsAnother = typeof response === 'string' && WANTS_APP_PASSWORD.test(response)
    if (!serverResponseCode || BAD_LOGIN.has(serverResponseCode) || wantsAnother)
      return platformError('unauthorized', REFUSED_LOGIN)
    return platformError('rate_limited', `The mail server takes no login now${codeIn(serverResponseCode)}.`, {
      retryAfterMs: LOGIN_LATER_MS,
    })
  }
  if (code === 'ETHROTTLE')
    return platformError('rate_limited', 'The mail server asks for a pause.', { retryAfterMs: LATER_MS })
  return connectionError('The mail server (IMAP)', error)
}

/** What failed at the server that takes mail. `isHandedOver`: it had begun to take the text, so that it may have the message. */
export function toOutboxError(error: unknown, { isHandedOver }: { readonly isHandedOver: boolean }): HermesError {
  if (HermesError.isInstance(error)) return error
  const { code, responseCode, response } = fieldsOf(error)
  const text = typeof response === 'string' ? response.split('\n', 1)[0]!.slice(0, 200) : String(code)
  if (typeof responseCode === 'number') {
    if (code === 'EAUTH' && responseCode >= 500) return platformError('unauthorized', REFUSED_LOGIN)
    if (responseCode >= 500) return platformError('rejected', `The mail server refused it: ${text}`)
    const more = { retryAfterMs: LATER_MS }
    if (responseCode >= 400) return platformError('rate_limited', `The mail server takes it later: ${text}`, more)
  }
  if (code === 'EENVELOPE') return platformError('rejected', 'This is no address that mail can be sent to.')
  if (isHandedOver) return platformError('unknown_outcome', `The mail server gave no answer (${text}).`)
  return platformError('unreachable', `The mail server (SMTP) cannot be reached (${text}).`)
}

/** A code is one word of a short list; anything longer is left out. */
function codeIn(serverResponseCode: unknown): string {
  return typeof serverResponseCode === 'string' && /^[A-Z-]{1,30}$/.test(serverResponseCode)
    ? ` (${serverResponseCode})`
    : ''
}

function fieldsOf(error: unknown): ServerError {
  return typeof error === 'object' && error !== null ? error : {}
}
