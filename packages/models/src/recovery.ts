// What happens after a failed attempt, in this order and by the flags of its classification alone:
//
//   renew the key ─▶ change the request ─▶ take another key ─▶ wait and ask again ─▶ ask another model ─▶ stop

import { errorLine, HermesError, isAbort } from '@hermes/contracts'
import type {
  Credential,
  ErrorClass,
  ErrorReason,
  ModelEvent,
  ModelRequest,
  RequestRepair,
  RetryRemedy,
} from '@hermes/contracts/model'
import type { BackoffOptions } from '@hermes/transports'
import { classifyError, jitteredBackoff, responseHeaders } from '@hermes/transports'
import type { CallTools, Endpoint } from './endpoint.js'
import { nextRepair } from './repairs.js'

/** With somebody else to ask, longer waits than this are not worth it. */
const MAX_WAIT_BEFORE_FALLBACK_MS = 15_000
const RETRIES_BEFORE_FALLBACK = 1
/** Of the time that asking again is worthwhile, one wait takes this share at most; the rest is for the attempts themselves. */
const SHARE_OF_PATIENCE = 1 / 3
const SHORT_PATIENCE_MS = 3_000

/** Where a call stands. */
export interface Attempt {
  readonly endpoint: Endpoint
  /** The one to use; `undefined` leaves the choice to the endpoint. */
  readonly credential: Credential | null | undefined
  /** Changes of the request that are tried in this call, beside those remembered for the endpoint. */
  readonly repairs: ReadonlySet<RequestRepair>
}

/** One more attempt: what is told about it, how long it waits, and how it is made. */
export interface NextAttempt extends Attempt {
  readonly event: ModelEvent & { readonly type: 'retry-wait' }
}

/** Options of {@link Recovery}. */
interface RecoveryOptions extends CallTools {
  /** Told which endpoint refused the conversation as too long, before the error for the caller is thrown. */
  readonly onTooLong: (endpoint: Endpoint) => void
  readonly maxRetries: number
  /** All waits of a call together; a server that asks for more is not waited for, and the user learns when to come back. */
  readonly maxWaitMs: number
  readonly backoff: BackoffOptions
  /** The endpoint to ask after this one; `null` when there is none. */
  readonly following: (endpoint: Endpoint) => Endpoint | null
}

/** What one call has been through. Made at its first failure. */
export class Recovery {
  readonly #options: RecoveryOptions
  readonly #failures: Failure[] = []
  #attempts = 0
  #retries = 0
  #waitedMs = 0
  /** Keys that were asked to be renewed; each once. */
  #renewedKeys = new Set<string>()
  #isRebuilt = false
  #refusedKeys = new Set<string>()

  constructor(options: RecoveryOptions) {
    this.#options = options
  }

  /**
   * How to go on after `error`; `discard` when deltas had been passed on.
   * @throws the one error for the caller when nothing is left to do; an `AbortError` as it is.
   */
  async after(
    error: unknown,
    failed: Attempt & { readonly request: ModelRequest; readonly discard: boolean },
  ): Promise<NextAttempt> {
    this.#throwIfAborted(error)
    const { endpoint, request } = failed
    const verdict = classifyError(error, { nowMs: this.#options.clock.now(), ...endpoint.sizeOf(request) })
    this.#attempts++
    this.#failures.push({ endpoint, error, verdict })
    const step =
      (await this.#renew(failed, verdict)) ??
      this.#repair(failed, verdict) ??
      (await this.#rotate(failed, verdict, error)) ??
      this.#again(failed, verdict) ??
      this.#fallBack(failed, verdict)
    this.#throwIfAborted(error)
    if (!step && verdict.shouldCompress) this.#options.onTooLong(endpoint)
    if (!step) throw stopError(this.#failures, { nowMs: this.#options.clock.now(), maxWaitMs: this.#options.maxWaitMs })
    const { delayMs = 0, remedy, ...attempt } = step
    const { reason } = verdict
    const message = errorLine(error)
    const facts = { attempt: this.#attempts, delayMs, reason, message, ...(remedy ? { remedy } : {}) }
    this.#options.logger.warn('A model call failed and is tried again.', { ...facts, remedy: remedy?.type })
    return { ...attempt, event: { type: 'retry-wait', ...facts, discard: failed.discard } }
  }

  #throwIfAborted(error: unknown): void {
    if (isAbort(error)) throw error
    if (this.#options.signal?.aborted) throw new DOMException('The request was aborted.', 'AbortError')
  }

  async #renew(failed: Attempt, { repair }: ErrorClass): Promise<Step | null> {
    const { credentials } = failed.endpoint.options
    if (repair !== 'refresh-credential' || !credentials || !failed.credential) return null
    if (this.#renewedKeys.has(failed.credential.id)) return null
    this.#renewedKeys.add(failed.credential.id)
    const { signal } = this.#options
    const credential = await credentials.refresh(failed.credential, signal ? { signal } : {})
    return credential ? { ...failed, credential, remedy: { type: 'refresh-credential' } } : null
  }

  #repair(failed: Attempt & { readonly request: ModelRequest }, { repair }: ErrorClass): Step | null {
    if (!repair || repair === 'refresh-credential' || repair === 'rebuild-client') return null
    const made = new Set([...failed.endpoint.repairs, ...failed.repairs])
    const next = nextRepair(failed.request, repair, made)
    return next && { ...failed, repairs: new Set([...failed.repairs, next]), remedy: { type: 'repair', repair: next } }
  }

  async #rotate(failed: Attempt, verdict: ErrorClass, error: unknown): Promise<Step | null> {
    const { credentials } = failed.endpoint.options
    if (!verdict.shouldRotateCredential || !credentials || !failed.credential) return null
    this.#refusedKeys.add(failed.credential.id)
    const outcome = { type: 'failed', verdict, headers: responseHeaders(error), message: errorLine(error) } as const
    await credentials.report(failed.credential, outcome)
    const { signal } = this.#options
    const credential = await credentials.select(signal ? { signal } : {})
    if (!credential || this.#refusedKeys.has(credential.id)) return null
    return { ...failed, credential, remedy: { type: 'rotate-credential' } }
  }

  #again(failed: Attempt, verdict: ErrorClass): Step | null {
    const { maxRetries, maxWaitMs, backoff } = this.#options
    if (!verdict.retryable) return null
    const hasOther = verdict.shouldFallback && this.#options.following(failed.endpoint) !== null
    // Whoever limits this key without saying for how long goes on doing so for a while, and no other key was left.
    if (hasOther && verdict.shouldRotateCredential && verdict.retryAfterMs === undefined) return null
    const { giveUpAfterMs = Number.POSITIVE_INFINITY } = verdict
    const usualMs = verdict.retryAfterMs ?? jitteredBackoff(this.#retries + 1, backoff)
    const delayMs = Math.min(usualMs, Math.floor(giveUpAfterMs * SHARE_OF_PATIENCE))
    if (this.#waitedMs + delayMs > maxWaitMs || (hasOther && delayMs > MAX_WAIT_BEFORE_FALLBACK_MS)) return null
    const worthwhile = giveUpAfterMs <= SHORT_PATIENCE_MS ? 1 : Number.isFinite(giveUpAfterMs) ? 2 : maxRetries
    const limit = Math.min(maxRetries, worthwhile, hasOther ? RETRIES_BEFORE_FALLBACK : maxRetries)
    if (this.#retries >= limit) return null
    this.#retries++
    this.#waitedMs += delayMs
    if (verdict.repair === 'rebuild-client') this.#rebuild(failed.endpoint)
    // A pool is asked anew: by then another key may be the better one.
    return { ...failed, credential: undefined, delayMs }
  }

  #rebuild(endpoint: Endpoint): void {
    if (this.#isRebuilt) return
    this.#isRebuilt = true
    endpoint.transport.reset?.()
  }

  #fallBack({ endpoint }: Attempt, verdict: ErrorClass): Step | null {
    const next = verdict.shouldFallback ? this.#options.following(endpoint) : null
    if (!next) return null
    endpoint.blockedUntilMs = this.#options.clock.now() + (verdict.retryAfterMs ?? 0)
    this.#retries = 0
    this.#renewedKeys = new Set()
    this.#isRebuilt = false
    this.#refusedKeys = new Set()
    const remedy = { type: 'fallback', provider: next.name, model: next.model } as const
    return { endpoint: next, credential: undefined, repairs: new Set(), remedy }
  }
}

interface Step extends Attempt {
  readonly delayMs?: number
  readonly remedy?: RetryRemedy
}

/** One failed attempt. */
interface Failure {
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
function stopError(
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
