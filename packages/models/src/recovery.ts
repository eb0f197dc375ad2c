// What happens after a failed attempt, in this order and by the flags of its classification alone:
//
//   renew the key ─▶ change the request ─▶ take another key ─▶ wait and ask again ─▶ ask another model ─▶ stop
import { errorLine, isAbort } from '@hermes/contracts'
import type {
  Credential,
  ErrorClass,
  ModelEvent,
  ModelRequest,
  RequestRepair,
  RetryRemedy,
} from '@hermes/contracts/model'
import { type BackoffOptions, classifyError, jitteredBackoff, responseHeaders } from '@hermes/transports'
import type { CallTools, Endpoint } from './endpoint.js'
import { nextRepair } from './repairs.js'
import { type Failure, stopError } from './stop-error.js'

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
