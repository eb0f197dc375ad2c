import type { JsonObject } from '@hermes/contracts'
import type { CredentialOutcome, ErrorReason } from '@hermes/contracts/model'
import type { PoolEntry } from './entry.js'
import { parseResetTime, resetFromHeaders } from './reset-time.js'

/** A call that failed. */
export type Failure = Extract<CredentialOutcome, { type: 'failed' }>

const HOUR_MS = 3_600_000
const UNAUTHORIZED_MS = 300_000
/** The only key there is comes back soon: resting for an hour what may be free in a minute helps nobody. */
const SOLE_MS = 60_000
const MAX_MESSAGE_CHARS = 300

/** The status that stands for a reason in `auth.json`. */
const STATUS_CODES: Partial<Record<ErrorReason, number>> = {
  auth: 401,
  'auth-permanent': 401,
  billing: 402,
  'rate-limit': 429,
}

/**
 * The fields to store for an entry after a failure; `null` when the failure says nothing about the credential. A rest in progress is
 * never cut short, and a dead entry stays dead.
 */
export function afterFailure(
  entry: PoolEntry,
  failure: Failure,
  { nowMs, isSole }: { readonly nowMs: number; readonly isSole: boolean },
): JsonObject | null {
  const { reason, shouldRotateCredential } = failure.verdict
  const isDead = reason === 'auth-permanent'
  if (entry.state.type === 'dead' || (!shouldRotateCredential && !isDead)) return null
  const resetAtMs = resetOf(failure, nowMs)
  const untilMs = resetAtMs ?? nowMs + defaultCooldownMs(reason, isSole)
  const atLeastMs = entry.state.type === 'cooling' ? entry.state.untilMs : 0
  const message = messageOf(failure, entry.secret)
  return {
    last_status: isDead ? 'dead' : 'exhausted',
    last_status_at: nowMs / 1_000,
    last_error_code: STATUS_CODES[reason] ?? null,
    last_error_reason: reason.replaceAll('-', '_'),
    last_error_message: message,
    last_error_reset_at: isDead ? null : Math.max(untilMs, atLeastMs) / 1_000,
  }
}

/** When the provider itself says that the limit ends: the latest of what it says. */
function resetOf({ verdict, headers = {}, message }: Failure, nowMs: number): number | null {
  // A key that is refused has no limit that ends, whatever headers come along.
  if (verdict.reason === 'auth') return null
  const times = [
    verdict.retryAfterMs === undefined ? null : parseResetTime(verdict.retryAfterMs / 1_000, nowMs),
    resetFromHeaders(headers, nowMs),
    message === undefined ? null : parseResetTime(message, nowMs),
  ].filter((time) => time !== null)
  return times.length > 0 ? Math.max(...times) : null
}

function defaultCooldownMs(reason: ErrorReason, isSole: boolean): number {
  if (reason === 'billing') return HOUR_MS
  if (isSole) return SOLE_MS
  return reason === 'auth' ? UNAUTHORIZED_MS : HOUR_MS
}

function messageOf({ message }: Failure, secret: string | null): string | null {
  if (message === undefined) return null
  const line = message.replace(/\s+/g, ' ').trim()
  return (secret ? line.replaceAll(secret, '[REDACTED]') : line).slice(0, MAX_MESSAGE_CHARS)
}

/** The fields after the server that issued a login refused to renew it for good. */
export function afterTerminalRefusal(reason: string, nowMs: number): JsonObject {
  return {
    last_status: 'dead',
    last_status_at: nowMs / 1_000,
    last_error_code: 401,
    last_error_reason: reason,
    last_error_message: null,
    last_error_reset_at: null,
  }
}
