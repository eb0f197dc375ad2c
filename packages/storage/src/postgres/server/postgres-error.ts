import { errorLine, HermesError } from '@hermes/contracts'
import { unknownSession } from '../../shared/session-errors.js'
import type { ServerAddress } from './server-address.js'

/** Another transaction was in the way, or the server has no place now: the same may succeed in a moment. */
const BUSY = new Set(['40001', '40P01', '55P03', '53300'])
/** The server starts or stops, or cut the connection. */
const DOWN = /^(?:57P0[1-5]|08\w\w\w)$/
const UNREACHED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
])
const CUT = new Set(['ECONNRESET', 'EPIPE'])
/** What TLS says of a certificate that nobody vouches for, that is for another host, or too old. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)/
// Errors of the client have no code.
const NO_ENCRYPTION = /does not support SSL/
const CUT_TEXT = /Connection terminated|connection timeout/
/** No connection or no answer in time. */
const TOO_LATE = /timeout exceeded when trying to connect|Query read timeout/

/** What the server or the socket calls an error; empty when it has no name. */
export function nativeCode(error: unknown): string {
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: unknown }
  if (typeof code === 'string') return code
  // A name with several addresses fails with the errors of all of them.
  return Array.isArray(errors) ? nativeCode(errors[0]) : ''
}

const NO_SUCH_ROW = '23503'

/** A row that belongs to a session. @throws HermesError `store.unknown_session` where there is no such session. */
export async function ofKnownSession<Result>(sessionId: string, written: Promise<Result>): Promise<Result> {
  try {
    return await written
  } catch (error) {
    throw nativeCode(error) === NO_SUCH_ROW ? unknownSession(sessionId) : error
  }
}

/** Whether nothing was done and trying again makes sense. */
export function isBusy(error: unknown): boolean {
  const code = nativeCode(error)
  return BUSY.has(code) || code === '57P03' || code === 'ECONNREFUSED'
}

/** Whether the connection was lost, so that nobody knows whether the statement under way was done. */
export function isCut(error: unknown): boolean {
  const code = nativeCode(error)
  return CUT.has(code) || DOWN.test(code) || (code === '' && CUT_TEXT.test(errorLine(error)))
}

/** One line for a person and a stable code, from whatever the server, the client or the socket threw. */
export function toStoreError(error: unknown, { shown, user, database, host, port }: ServerAddress): HermesError {
  if (HermesError.isInstance(error)) return error
  const native = nativeCode(error)
  const text = errorLine(error)
  const make = (code: string, message: string, retryable = false) =>
    new HermesError(message, { code, retryable, details: { store: shown, native }, cause: error })
  if (BUSY.has(native)) return make('store.busy', `${shown} is busy (${text}); try again.`, true)
  if (isCut(error)) return make('store.unreachable', `The connection to ${shown} was lost (${text}); try again.`, true)
  if (TOO_LATE.test(text))
    return make('store.unreachable', `${shown} did not answer in time (${text}); try again.`, true)
  if (UNREACHED.has(native)) {
    const server = host.startsWith('/') ? `in ${host}` : `at ${host}:${port}`
    return make(
      'store.unreachable',
      `No PostgreSQL server answers ${server} (${native}); start it or check the url.`,
      true,
    )
  }
  if (CERTIFICATE.test(native)) {
    const way = 'name who signed it: sslrootcert=FILE in the url, or trust it unseen: sslmode=no-verify'
    return make('store.refused', `The certificate of ${shown} is not trusted (${text.split(';')[0]}); ${way}.`)
  }
  if (NO_ENCRYPTION.test(text)) {
    return make('store.refused', `${shown} does not encrypt; take sslmode=disable, or have it set up TLS.`)
  }
  switch (native) {
    case '28P01':
      return make('store.refused', `${shown} refuses the password of "${user}"; check it in the url.`)
    case '28000':
      return make(
        'store.refused',
        `${shown} refuses "${user}" (${text}); check the url, or add ?sslmode=require to it.`,
      )
    case '3D000':
      return make('store.no_database', `There is no database "${database}" on ${shown}; make it: createdb ${database}`)
    case '3F000':
      return make('store.unwritable', `${shown} has no schema to make tables in; check its search_path.`)
    case '42501':
    case '25006':
      return make('store.unwritable', `"${user}" may not write to ${shown} (${text}); have its owner grant that.`)
    case '53100':
      return make('store.disk_full', `No space left on the server of ${shown}; free some and try again.`, true)
    case 'XX001':
    case 'XX002':
      return make('store.corrupt', `${shown} is damaged (${text}); restore a copy made by pg_dump.`)
    default:
      return make('store.failed', `${shown}: ${text}`)
  }
}
