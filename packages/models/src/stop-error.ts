import { errorLine, HermesError } from '@hermes/contracts'
import type { ErrorClass, ErrorReason } from '@hermes/contracts/model'
import type { Endpoint } from './endpoint.js'

/** One failed attempt. */
export interface Failure {
  readonly endpoint: Endpoint
  readonly error: unknown
  readonly verdict: ErrorClass
}

/** What a person can do, where the line of the transport does not say it; empty where it does. */
const ADVICE: Readonly<Record<ErrorReason, string>> = {
  auth: '',
  'auth-permanent': '',
  billing: 'Top up the account, or use another provider.',
  'rate-limit': 'Wait, or use another key or model.',
  overloaded: '',
  'server-error': 'Try again later, or use another model.',
  timeout: 'Try again, or use another model.',
  connection: 'Check the network and the address, then try again.',
  'context-overflow': 'Start a new session, or use a model with a larger window.',
  'payload-too-large': 'Send less at once, or start a new session.',
  'image-too-large': 'Send a smaller image.',
  'model-not-found': 'Choose another model.',
  'content-policy-blocked': 'Change the request, or use another provider.',
  'provider-policy-blocked': 'Change those settings, or use another model.',
  'format-error': 'Try another model or provider.',
  'thinking-signature': 'Try another model or provider.',
  'long-context-tier': 'Start a new session, or use a model with a larger window.',
  'llama-cpp-grammar-pattern': 'Try another model or server.',
  'malformed-response': 'Try again, or use another model.',
  unknown: 'Try again, or use another model.',
}

/**
 * The error a caller sees once nothing is left to try: code and details of the endpoint at which the call stopped, `provider` and `model`
 * among them, and one line that says what was tried and what to do. `failures` holds at least one.
 */
export function stopError(
  failures: readonly Failure[],
  options: { readonly nowMs: number; readonly maxWaitMs: number },
): HermesError {
  const perEndpoint = lastOfEach(failures)
  const stop = failures.at(-1)!
  const known = HermesError.isInstance(stop.error) ? stop.error : null
  const tried = failures.length > 1 ? [`Gave up after ${failures.length} attempts.`] : []
  const lines = perEndpoint.map(({ error, endpoint }, index) =>
    index === 0 ? sentence(error) : `Then ${endpoint.name}, asked for ${endpoint.model}: ${sentence(error)}`,
  )
  const advice = knowsBetter(stop) ? [] : [ADVICE[stop.verdict.reason]].filter((text) => text !== '')
  const comeBack = perEndpoint.flatMap((failure) => whenToComeBack(failure, options)).slice(0, 1)
  const { name: provider, model } = stop.endpoint
  return new HermesError([...tried, ...lines, ...comeBack, ...advice].join(' '), {
    code: known?.code ?? 'models.failed',
    retryable: stop.verdict.retryable,
    details: { model, ...known?.details, provider, attempts: failures.length },
    cause: stop.error,
  })
}

function lastOfEach(failures: readonly Failure[]): Failure[] {
  const last = new Map<Endpoint, Failure>()
  for (const failure of failures) last.set(failure.endpoint, failure)
  return [...last.values()]
}

function sentence(error: unknown): string {
  const line = errorLine(error)
  return /[.!?…]$/.test(line) ? line : `${line}.`
}

/** Errors of our own, wrong addresses and questions say themselves what to do. */
function knowsBetter({ error, verdict }: Failure): boolean {
  if (!HermesError.isInstance(error)) return false
  const isWrongAddress = verdict.reason === 'format-error' && error.details['status'] === 404
  const isReplay = error.code === 'transport.replay_mismatch'
  return isWrongAddress || isReplay || !error.code.startsWith('transport.') || error.message.endsWith('?')
}

function whenToComeBack(
  { verdict }: Failure,
  { nowMs, maxWaitMs }: { readonly nowMs: number; readonly maxWaitMs: number },
) {
  const { retryable, retryAfterMs = 0 } = verdict
  if (!retryable || retryAfterMs <= maxWaitMs) return []
  return [`It asks to wait until ${new Date(nowMs + retryAfterMs).toISOString()}.`]
}
