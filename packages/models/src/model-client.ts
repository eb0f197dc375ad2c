import { type Clock, errorLine, HermesError, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import type { Usage, UserPart } from '@hermes/contracts/conversation'
import { estimateTokens, messageText, noUsage, toolCalls } from '@hermes/contracts/conversation'
import type {
  CallScope,
  Credential,
  ModelClient,
  ModelEvent,
  ModelFinish,
  ModelRequest,
  PrefixCache,
  RequestRepair,
  StreamOptions,
} from '@hermes/contracts/model'
import type { BackoffOptions } from '@hermes/transports'
import type { Admission, BudgetGuard } from './budget-guard.js'
import { type CallTools, Endpoint, type KeyLimits, type ModelEndpoint } from './endpoint.js'
import { keepNewest } from './keep-newest.js'
import { withoutOldPictures } from './old-pictures.js'
import type { Attempt, NextAttempt, Recovery } from './recovery.js'
import { cacheCosts } from './usage.js'

/** One finished model call, or an attempt whose answer broke off, for a ledger. */
export interface UsageEvent extends CallScope {
  /** What the endpoint that answered is called: its provider's id unless it has a name. */
  readonly provider: string
  readonly model: string
  readonly usage: Usage
  /** Where the cost comes from; `null` when it is unknown. */
  readonly priceSource: string | null
  /** The answer broke off, so its tokens were estimated: from the request, and from what had come. Default `false`. */
  readonly isEstimate?: true
  /** When it ended, in Unix milliseconds. */
  readonly atMs: number
  /** From the first attempt to the end, waits included. */
  readonly durationMs: number
}

/** Which model to ask, how, and whom to tell. */
export interface ModelClientOptions extends ModelEndpoint {
  /** Asked in this order when the first does not answer, until the turn ends. Default none. */
  readonly fallbacks?: readonly ModelEndpoint[]
  readonly clock?: Clock
  /** For jitter; 0 to below 1. Default `Math.random`. */
  readonly random?: () => number
  /** Times the same request is sent again to one endpoint after a wait. Default 3; with a fallback left at most 1. */
  readonly maxRetries?: number
  /**
   * Milliseconds that a call may wait in all, where a server asks to be left alone. Longer waits end the call with the time to come back.
   * While it waits a `retry-wait` comes every minute. Default 60,000.
   */
  readonly maxWaitMs?: number
  /** Shape of the waits where the server names none. Default: 5 s doubling to 120 s, half of it jitter. */
  readonly backoff?: Omit<BackoffOptions, 'random'>
  /** Asked before every attempt. Default: nothing is limited. */
  readonly budget?: BudgetGuard | undefined
  /** Told of each finished call, and of each attempt whose answer broke off or was aborted. What it throws is logged. */
  readonly onUsage?: (event: UsageEvent) => void
  readonly logger?: Logger
}

/** A {@link ModelClient} that also tells what endpoints said about their limits. */
export interface ResilientModelClient extends ModelClient {
  /** What each key may still ask, as far as headers told. */
  limits(): readonly KeyLimits[]
  /** As {@link ModelClient.nextEndpoint}. */
  nextEndpoint(turnId: string | undefined): Pick<ModelClient, 'provider' | 'model'>
}

/**
 * Makes the client for one model and those that stand in for it. Loads no SDK and touches no network before the first request.
 * @throws HermesError `models.unknown_provider`, `models.no_base_url`, also for a fallback.
 */
export function createModelClient(options: ModelClientOptions): ResilientModelClient {
  const clock = options.clock ?? systemClock
  const [first, ...fallbacks] = [options, ...(options.fallbacks ?? [])].map((one) => new Endpoint(one, clock))
  return new ChainedClient(options, [first!, ...fallbacks], clock)
}

/** What an answer without a limit of its own hardly ever exceeds. */
const MAX_USUAL_OUTPUT_TOKENS = 32_000

const DEFAULT_MAX_WAIT_MS = 60_000
const TELL_EVERY_MS = 60_000

type ClientRequest = Omit<ModelRequest, 'model'> & { readonly model?: string }

class ChainedClient implements ResilientModelClient {
  readonly provider: string
  readonly model: string
  readonly #options: ModelClientOptions
  readonly #endpoints: readonly [Endpoint, ...Endpoint[]]
  readonly #clock: Clock
  readonly #logger: Logger
  /** Who answers in turns that had to fall back. */
  readonly #fallbacks = new Map<string, Endpoint>()
  /** The key of the newest answer, by id; `null` where none was needed. */
  #answeredBy: string | null = null

  constructor(options: ModelClientOptions, endpoints: readonly [Endpoint, ...Endpoint[]], clock: Clock) {
    this.provider = endpoints[0].name
    this.model = options.model
    this.#options = options
    this.#endpoints = endpoints
    this.#clock = clock
    this.#logger = options.logger ?? silentLogger
  }

  limits(): readonly KeyLimits[] {
    return this.#endpoints.flatMap((endpoint) => endpoint.limits())
  }

  nextEndpoint(turnId: string | undefined): Pick<ModelClient, 'provider' | 'model'> {
    const [{ name: provider, model }] = this.#chain(turnId)
    return { provider, model }
  }

  async prefixCache(request: ClientRequest, used: Usage, scope: CallScope): Promise<PrefixCache | null> {
    const [endpoint] = this.#chain(scope.turnId)
    const full = this.#addressed(request, endpoint)
    const lifetimeMs = endpoint.transport.cacheLifetimeMs?.(full) ?? null
    const keptTokens = used.cacheReadTokens + used.cacheWriteTokens
    if (lifetimeMs === null || keptTokens === 0 || endpoint.isLocal) return null
    // It takes as many tokens as the prefix has, each time.
    if (this.#options.budget?.limitsTokens) return null
    // Another tier of service has other prices.
    const isPricedApart = full.serviceTier !== undefined && full.serviceTier !== 'standard'
    const prices = isPricedApart ? null : await endpoint.prices(full.model)
    const costs = prices && cacheCosts(keptTokens, prices)
    if (!costs) return null
    const keyId = this.#answeredBy
    const refresh = ({ signal }: StreamOptions) => this.#refresh(full, { endpoint, keyId }, { ...scope, signal })
    return { lifetimeMs, refreshUsd: costs.readUsd, savesUsd: costs.rewriteUsd, refresh }
  }

  async #refresh(
    request: ModelRequest,
    { endpoint, keyId }: { readonly endpoint: Endpoint; readonly keyId: string | null },
    { signal, ...rest }: StreamOptions & CallScope,
  ): Promise<Usage> {
    const startedAtMs = this.#clock.now()
    const scope = { ...rest, purpose: 'cache' }
    const short = await repaired({ ...request, maxOutputTokens: 1 }, endpoint, new Set())
    const admission = await this.#admit(short, signal, scope)
    try {
      const credential = await endpoint.credential(signal)
      if ((credential?.id ?? null) !== keyId)
        throw new HermesError('The next key is another one, and so may its cache be.', { code: 'models.other_key' })
      endpoint.requireRoom(credential, short)
      for await (const event of endpoint.ask(short, credential, signal)) {
        if (event.type !== 'finish') continue
        const facts = { ...scope, startedAtMs, isPricedApart: event.isPricedApart === true }
        const usage = await this.#account(event.usage, short.model, endpoint, facts)
        admission?.settle(usage)
        return usage
      }
      throw new TypeError('The transport ended without an answer.')
    } finally {
      admission?.settle(null)
    }
  }

  async *stream(request: ClientRequest, { signal, ...scope }: StreamOptions & CallScope): AsyncGenerator<ModelEvent> {
    const startedAtMs = this.#clock.now()
    const chain = this.#chain(scope.turnId)
    let attempt: Attempt = { endpoint: chain[0], credential: undefined, repairs: new Set() }
    let recovery: Recovery | null = null
    for (;;) {
      const { endpoint } = attempt
      let full = this.#addressed(request, endpoint)
      let credential = attempt.credential
      let next: NextAttempt
      // What has come, kept for when the answer breaks off.
      let streamed: string | null = null
      let isAccounted = false
      const admission = await this.#admit(full, signal, scope)
      try {
        credential ??= await endpoint.credential(signal)
        endpoint.requireRoom(credential, full)
        full = await repaired(full, endpoint, attempt.repairs)
        for await (const event of endpoint.ask(full, credential, signal)) {
          if (event.type === 'finish') {
            isAccounted = true
            const usage = await this.#account(event.usage, full.model, endpoint, {
              ...scope,
              startedAtMs,
              isPricedApart: event.isPricedApart === true,
            })
            const finish = { ...event, usage }
            admission?.settle(usage)
            if (isEmpty(finish) && endpoint !== chain.at(-1)) throw emptyReply(endpoint)
            this.#remember(attempt, credential, scope)
            yield finish
            return
          }
          // Looked up while the answer comes, so that it has not to wait for its price.
          if (streamed === null && !endpoint.isLocal) void endpoint.prices(full.model)
          streamed = (streamed ?? '') + deltaText(event)
          yield event
        }
        throw new TypeError('The transport ended without an answer.')
      } catch (error) {
        recovery ??= await this.#recovery(error, chain, { signal, turnId: scope.turnId })
        next = await recovery.after(error, { ...attempt, credential, request: full, discard: streamed !== null })
      } finally {
        // Providers charge for what they have said, also to who then hangs up.
        if (streamed !== null && !isAccounted) {
          const { serviceTier: tier } = full
          const isPricedApart = tier !== undefined && tier !== 'standard' && endpoint.sendsTier
          const facts = { ...scope, startedAtMs, isPricedApart, isEstimate: true } as const
          const usage = await this.#account(estimatedUsage(full, streamed), full.model, endpoint, facts)
          admission?.settle(usage)
        }
        admission?.settle(null)
      }
      yield* this.#wait(next.event, signal)
      attempt = next
    }
  }

  async *#wait(event: NextAttempt['event'], signal: AbortSignal | undefined): AsyncGenerator<ModelEvent> {
    const untilMs = this.#clock.now() + event.delayMs
    yield event
    for (let leftMs = event.delayMs; ; ) {
      await this.#clock.sleep(Math.min(leftMs, TELL_EVERY_MS), signal)
      leftMs = untilMs - this.#clock.now()
      if (leftMs <= 0) return
      // Too little to be told.
      if (leftMs >= 1_000) yield { ...event, delayMs: leftMs, discard: false }
    }
  }

  /**
   * Whom to ask, in order: beginning with the first endpoint, unless this turn had to leave it or it has said until when it is of no
   * use; those passed over come last.
   */
  #chain(turnId: string | undefined): readonly [Endpoint, ...Endpoint[]] {
    const nowMs = this.#clock.now()
    const fallback = turnId === undefined ? undefined : this.#fallbacks.get(turnId)
    const start = fallback ?? this.#endpoints.find(({ blockedUntilMs }) => blockedUntilMs <= nowMs)
    const at = start ? this.#endpoints.indexOf(start) : 0
    const [first, ...others] = [...this.#endpoints.slice(at), ...this.#endpoints.slice(0, at)]
    return [first!, ...others]
  }

  /** A model that a request names is one of the first endpoint. */
  #addressed(request: ClientRequest, endpoint: Endpoint): ModelRequest {
    const model = endpoint === this.#endpoints[0] ? (request.model ?? endpoint.model) : endpoint.model
    return { ...request, model }
  }

  async #admit(request: ModelRequest, signal: AbortSignal | undefined, scope: CallScope): Promise<Admission | null> {
    const { budget } = this.#options
    if (!budget) return null
    const { messages, tools, maxOutputTokens = MAX_USUAL_OUTPUT_TOKENS } = request
    const maxTokens = estimateTokens(messages) + estimateTokens(tools) + maxOutputTokens
    return budget.admit({ ...scope, maxTokens, ...(signal ? { signal } : {}) })
  }

  async #recovery(
    error: unknown,
    chain: readonly Endpoint[],
    { signal, turnId }: StreamOptions & Pick<CallScope, 'turnId'>,
  ): Promise<Recovery> {
    const { maxRetries = 3, maxWaitMs = DEFAULT_MAX_WAIT_MS, backoff, random } = this.#options
    const tools: CallTools = { clock: this.#clock, logger: this.#logger, signal }
    const { Recovery: Loaded } = await import('./recovery.js').catch(() => {
      // An update may have replaced the files of this program while it ran; what went wrong first is what counts.
      throw error
    })
    const following = (endpoint: Endpoint) => chain[chain.indexOf(endpoint) + 1] ?? null
    // Once the conversation is shorter, the same endpoint is asked again: the one before it has failed in this turn.
    const onTooLong = (endpoint: Endpoint) => this.#stayWith(endpoint, turnId)
    const waits = { maxRetries, maxWaitMs, backoff: { ...backoff, ...(random ? { random } : {}) } }
    return new Loaded({ ...tools, ...waits, following, onTooLong })
  }

  /** What helped is remembered: repairs for the endpoint, the endpoint for the turn, the key in its pool. */
  #remember({ endpoint, repairs }: Attempt, credential: Credential | null, { turnId }: CallScope): void {
    for (const repair of repairs) endpoint.repairs.add(repair)
    this.#stayWith(endpoint, turnId)
    this.#answeredBy = credential?.id ?? null
    // The answer does not wait for the books of the pool.
    endpoint.confirm(credential).catch((error: unknown) => {
      this.#logger.warn('A key could not be reported as good.', { error: errorLine(error) })
    })
  }

  #stayWith(endpoint: Endpoint, turnId: string | undefined): void {
    if (endpoint !== this.#endpoints[0] && turnId !== undefined) keepNewest(this.#fallbacks, turnId, endpoint)
  }

  async #account(
    used: Usage,
    model: string,
    endpoint: Endpoint,
    {
      startedAtMs,
      isPricedApart,
      ...facts
    }: CallScope & Pick<UsageEvent, 'isEstimate'> & { readonly startedAtMs: number; readonly isPricedApart: boolean },
  ): Promise<Usage> {
    const cost = await endpoint.price(used, model, { isPricedApart })
    const atMs = this.#clock.now()
    const durationMs = atMs - startedAtMs
    try {
      this.#options.onUsage?.({ ...facts, provider: endpoint.name, model, ...cost, atMs, durationMs })
    } catch (error) {
      this.#logger.error('An observer of usage threw.', { error: errorLine(error) })
    }
    return cost.usage
  }
}

function deltaText(event: Exclude<ModelEvent, ModelFinish>): string {
  if (event.type === 'tool-call-delta') return (event.name ?? '') + (event.argsText ?? '')
  return event.type === 'retry-wait' ? '' : event.text
}

/** What an answer that broke off came to. Of the cache nothing is known then, so all input counts as new. */
function estimatedUsage({ messages, tools }: ModelRequest, streamed: string): Usage {
  const inputTokens = estimateTokens(messages) + estimateTokens(tools)
  return { ...noUsage, inputTokens, outputTokens: estimateTokens(streamed), costUsd: 'unknown' }
}

async function repaired(
  whole: ModelRequest,
  endpoint: Endpoint,
  more: ReadonlySet<RequestRepair>,
): Promise<ModelRequest> {
  const request = withoutOldPictures(whole)
  const isUnseen = hasImages(request) && (await endpoint.isBlind())
  const repairs = new Set([...endpoint.repairs, ...more, ...(isUnseen ? ['drop-images' as const] : [])])
  const untaken = await untakenParts(request, endpoint)
  if (repairs.size === 0 && untaken.size === 0) return request
  const { repairRequest, withoutAttachments } = await import('./repairs.js')
  const taken = untaken.size === 0 ? request : withoutAttachments(request, (part) => untaken.has(part))
  return repairRequest(taken, repairs, (image) => endpoint.shrink(image))
}

async function untakenParts({ messages }: ModelRequest, endpoint: Endpoint): Promise<ReadonlySet<UserPart>> {
  const untaken = new Set<UserPart>()
  // Runs over the whole conversation before each request, hence a plain loop.
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at]!
    if (message.role !== 'user') continue
    for (const part of message.content)
      if ((part.type === 'audio' || part.type === 'file') && (await endpoint.refuses(part))) untaken.add(part)
  }
  return untaken
}

function hasImages({ messages }: ModelRequest): boolean {
  return messages.some(({ content }) => content.some((part) => part.type === 'image'))
}

/** Nothing said and nothing called, although the model says that it is done. */
function isEmpty({ message }: ModelFinish): boolean {
  const { finishReason } = message
  if (finishReason === 'length' || finishReason === 'content-filter') return false
  return toolCalls(message).length === 0 && messageText(message).trim() === ''
}

/** With somebody else to ask, an empty reply is a failure; without, it is for the caller to judge. */
function emptyReply({ name, model }: Endpoint): HermesError {
  return new HermesError(`${model} gave an empty reply.`, {
    code: 'transport.malformed_response',
    retryable: true,
    details: { provider: name, model },
  })
}
