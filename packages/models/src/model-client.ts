import { type Clock, errorLine, isAbort, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import type { Usage } from '@hermes/contracts/conversation'
import type {
  ModelClient,
  ModelEvent,
  ModelFinish,
  ModelRequest,
  StreamOptions,
  Transport,
  WireApi,
} from '@hermes/contracts/model'
import { type BackoffOptions, classifyError, createTransport, jitteredBackoff } from '@hermes/transports'
import { type ResolvedEndpoint, requireKey, resolveEndpoint } from './resolve-endpoint.js'
import { finalError, mayRetry } from './retry.js'
import { type ModelPrices, withCost } from './usage.js'

/** One finished model call, for a ledger. */
export interface UsageEvent {
  /** The label the caller gave: `turn`, `summary`, `title` … */
  readonly purpose: string
  readonly provider: string
  readonly model: string
  readonly usage: Usage
  /** From the first attempt to the end, waits included. */
  readonly durationMs: number
}

/** Which model to ask, how, and whom to tell. */
export interface ModelClientOptions {
  /** An id or alias of the provider catalogue. */
  readonly provider: string
  /** The model used when a request names none. */
  readonly model: string
  /** Default: the provider's own. */
  readonly baseUrl?: string
  /** Default `null`: none, which is refused at the first request where the provider needs one. */
  readonly apiKey?: string | null
  /** Default: judged by provider and address. */
  readonly api?: WireApi | undefined
  /** Used in place of one made from the options above; no key is demanded then. */
  readonly transport?: Transport
  readonly headers?: Readonly<Record<string, string>>
  /** Default: the global one. */
  readonly fetch?: typeof fetch
  /** Until the first byte of an answer. Default 600,000. */
  readonly timeoutMs?: number | undefined
  /** Without progress in an answer that has begun. Default 180,000. */
  readonly stallTimeoutMs?: number | undefined
  /** How long a provider with marks for its cache keeps a prefix. Default `5m`. */
  readonly cacheTtl?: '5m' | '1h'
  readonly clock?: Clock
  /** For jitter; 0 to below 1. Default `Math.random`. */
  readonly random?: () => number
  /** Attempts after the first. Default 3. */
  readonly maxRetries?: number
  /** Shape of the waits where the server names none. Default: 5 s doubling to 120 s, half of it jitter. */
  readonly backoff?: Omit<BackoffOptions, 'random'>
  /** Without prices the cost of a call is `unknown`, unless the provider reports it or runs on this machine. */
  readonly prices?: ModelPrices
  /** Told of each finished call. What it throws is logged. */
  readonly onUsage?: (event: UsageEvent) => void
  readonly logger?: Logger
}

/**
 * Makes the client for one model. Loads no SDK and touches no network before the first request.
 * @throws HermesError `models.unknown_provider`, `models.no_base_url`, and what `createTransport` throws.
 */
export function createModelClient(options: ModelClientOptions): ModelClient {
  return new RetryingClient(options, resolveEndpoint(options.provider, options.baseUrl))
}

type ClientRequest = Omit<ModelRequest, 'model'> & { readonly model?: string }

class RetryingClient implements ModelClient {
  readonly provider: string
  readonly model: string
  readonly #options: ModelClientOptions
  readonly #endpoint: ResolvedEndpoint
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #logger: Logger

  constructor(options: ModelClientOptions, endpoint: ResolvedEndpoint) {
    const { api, headers, fetch, timeoutMs, stallTimeoutMs, cacheTtl } = options
    const { clock = systemClock, logger = silentLogger } = options
    this.provider = endpoint.provider.id
    this.model = options.model
    this.#options = options
    this.#endpoint = endpoint
    this.#clock = clock
    this.#logger = logger
    const { baseUrl } = endpoint
    this.#transport =
      options.transport ??
      createTransport({
        provider: this.provider,
        baseUrl,
        api,
        headers,
        fetch,
        timeoutMs,
        stallTimeoutMs,
        cacheTtl,
        clock,
      })
  }

  async *stream(
    request: ClientRequest,
    { signal, purpose }: StreamOptions & { readonly purpose: string },
  ): AsyncGenerator<ModelEvent> {
    const { transport } = this.#options
    const apiKey = this.#options.apiKey || null
    if (!transport) requireKey(this.#endpoint, apiKey)
    const full: ModelRequest = { ...request, model: request.model ?? this.model }
    const startedAtMs = this.#clock.now()
    for (let attempt = 1; ; attempt++) {
      let streamed = false
      try {
        for await (const event of this.#transport.stream(full, { signal, credential: apiKey })) {
          if (event.type === 'finish') {
            yield this.#account(event, full.model, purpose, startedAtMs)
            return
          }
          streamed = true
          yield event
        }
        throw new TypeError('The transport ended without an answer.')
      } catch (error) {
        const wait = this.#afterFailure(error, attempt, streamed, signal)
        yield wait
        await this.#clock.sleep(wait.delayMs, signal)
      }
    }
  }

  /** What to wait for before the next attempt; throws when there is none. */
  #afterFailure(error: unknown, attempt: number, discard: boolean, signal: AbortSignal | undefined) {
    if (isAbort(error)) throw error
    if (signal?.aborted) throw new DOMException('The request was aborted.', 'AbortError')
    const { maxRetries = 3, backoff, random } = this.#options
    const verdict = classifyError(error, { nowMs: this.#clock.now() })
    if (!mayRetry(verdict, attempt, maxRetries)) throw finalError(error, verdict, attempt, this.#clock.now())
    const delayMs = verdict.retryAfterMs ?? jitteredBackoff(attempt, { ...backoff, random })
    const message = errorLine(error)
    this.#logger.warn('A model call failed and is tried again.', { attempt, delayMs, reason: verdict.reason, message })
    return { type: 'retry-wait', attempt, delayMs, reason: verdict.reason, message, discard } as const
  }

  #account(finish: ModelFinish, model: string, purpose: string, startedAtMs: number): ModelFinish {
    const { onUsage, prices } = this.#options
    const usage = withCost(finish.usage, prices, this.#endpoint.provider.local)
    try {
      onUsage?.({ purpose, provider: this.provider, model, usage, durationMs: this.#clock.now() - startedAtMs })
    } catch (error) {
      this.#logger.error('An observer of usage threw.', { error: errorLine(error) })
    }
    return { ...finish, usage }
  }
}
