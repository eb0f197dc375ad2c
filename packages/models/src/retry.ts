import { errorLine, HermesError } from '@hermes/contracts'
import type { ErrorClass } from '@hermes/contracts/model'

/** Servers that ask for a longer wait are not waited for: the user learns when to come back. */
const MAX_RETRY_AFTER_MS = 60_000

/** Whether another attempt may help: decided by flags alone. */
export function mayRetry(verdict: ErrorClass, attempt: number, maxRetries: number): boolean {
  return verdict.retryable && attempt <= maxRetries && (verdict.retryAfterMs ?? 0) <= MAX_RETRY_AFTER_MS
}

/** The error a caller sees once no further attempt is made: same code and details, with what was tried. */
export function finalError(error: unknown, verdict: ErrorClass, attempts: number, nowMs: number): HermesError {
  const known = HermesError.isInstance(error) ? error : null
  const when =
    verdict.retryable && (verdict.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS
      ? ` It asks to wait until ${new Date(nowMs + verdict.retryAfterMs!).toISOString()}.`
      : ''
  const tried = attempts > 1 ? `Gave up after ${attempts} attempts. ` : ''
  return new HermesError(`${tried}${errorLine(error)}${when}`, {
    code: known?.code ?? 'models.failed',
    retryable: verdict.retryable,
    details: { ...known?.details, attempts },
    cause: error,
  })
}
