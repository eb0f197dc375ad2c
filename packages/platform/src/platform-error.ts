import { HermesError, isAbort } from '@hermes/contracts'

const FAILURES = [
  'unauthorized',
  'conflict',
  'rate_limited',
  'markup_refused',
  'rejected',
  'unreachable',
  'unknown_outcome',
  'too_large',
] as const

/** Why a platform did not do something; see `Platform` of the contracts. */
type PlatformFailure = (typeof FAILURES)[number]

const RETRYABLE: ReadonlySet<PlatformFailure> = new Set(['conflict', 'rate_limited', 'unreachable', 'unknown_outcome'])

/** An error of an adapter. `retryAfterMs`: not before then. */
export function platformError(
  failure: PlatformFailure,
  message: string,
  { retryAfterMs, cause }: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {},
): HermesError {
  return new HermesError(message, {
    code: `platform.${failure}`,
    retryable: RETRYABLE.has(failure),
    details: retryAfterMs === undefined ? {} : { retryAfterMs },
    ...(cause === undefined ? {} : { cause }),
  })
}

/**
 * What an error of an adapter says; one without such a code leaves the outcome open. It goes by `code` and `details` alone: adapters of plugins
 * have types of Hermes and no classes.
 */
export function failureOf(error: unknown): { readonly failure: PlatformFailure; readonly retryAfterMs: number | null } {
  const { code, details } = (error ?? {}) as { readonly code?: unknown; readonly details?: { retryAfterMs?: unknown } }
  const [, failure = ''] = /^platform\.(\w+)$/.exec(String(code)) ?? []
  const retryAfterMs = details?.retryAfterMs
  return {
    failure: !isAbort(error) && isFailure(failure) ? failure : 'unknown_outcome',
    retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : null,
  }
}

const isFailure = (word: string): word is PlatformFailure => (FAILURES as readonly string[]).includes(word)

const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/**
 * What a failed request comes to: surely not taken where no connection came about, else nobody knows. The message never shows an address, as
 * some platforms have their token in it.
 */
export function connectionError(platform: string, error: unknown): HermesError {
  const codes = codesOf(error)
  const isBefore = codes.some((code) => BEFORE_SENDING.has(code))
  const why = codes[0] ?? (isAbort(error) ? 'no answer in time' : 'the connection broke off')
  const message = `${platform} ${isBefore ? 'cannot be reached' : 'gave no answer'} (${why}).`
  return platformError(isBefore ? 'unreachable' : 'unknown_outcome', message)
}

/** Codes of an error, and of what it was caused by. */
function codesOf(error: unknown, depth = 0): readonly string[] {
  if (typeof error !== 'object' || error === null || depth > 5) return []
  const { code, cause, error: inner, errors } = error as Readonly<Record<string, unknown>>
  const own = typeof code === 'string' ? [code] : []
  const several = Array.isArray(errors) ? errors.flatMap((one) => codesOf(one, depth + 1)) : []
  return [...own, ...codesOf(cause, depth + 1), ...codesOf(inner, depth + 1), ...several]
}
