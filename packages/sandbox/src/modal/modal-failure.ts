import { errorLine, HermesError } from '@hermes/contracts'
import { type CloudWords, refused, unreachable } from '../cloud/cloud-failure.js'

/** What the codes of gRPC are in HTTP. @see https://grpc.io/docs/guides/status-codes/ */
const STATUSES: Readonly<Record<number, number>> = {
  2: 500,
  3: 400,
  4: 504,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 400,
  10: 409,
  13: 500,
  14: 503,
  16: 401,
}

/** What is thrown by the package itself, by name. */
const CLASSES: Readonly<Record<string, number>> = {
  NotFoundError: 404,
  AlreadyExistsError: 409,
  ClientClosedError: 410,
  ConflictError: 410,
  SandboxTimeoutError: 410,
  ResourceExhaustedError: 429,
  InvalidError: 400,
}

/** What gRPC says when there was no connection, with the code it also gives a service in trouble. */
const NO_CONNECTION =
  /no connection established|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|connection dropped|name resolution|goaway|socket/i

/** Anything that the package `modal` throws, as one line. */
export function modalFailure(error: unknown, words: CloudWords, isOfSandbox: boolean): HermesError {
  if (HermesError.isInstance(error)) return error
  const { code, details, name } = error as {
    readonly code?: unknown
    readonly details?: unknown
    readonly name?: unknown
  }
  const message = typeof details === 'string' && details !== '' ? details : errorLine(error)
  if (code === 14 && NO_CONNECTION.test(message))
    return unreachable(new Error(connectionLine(message), { cause: error }), words)
  const status = typeof code === 'number' ? (STATUSES[code] ?? 500) : CLASSES[String(name)]
  return status === undefined ? unreachable(error, words) : refused({ status, message }, words, isOfSandbox)
}

/** Of the steps of a failed connection the last, without where the name led. */
function connectionLine(details: string): string {
  const last = /Last error: (?:Error: )?(.*)/.exec(details)?.[1] ?? details
  return last.replace(/\.?\s*Resolution note:.*$/, '')
}
