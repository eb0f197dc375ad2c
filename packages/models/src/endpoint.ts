import type { Clock, JsonObject, Logger } from '@hermes/contracts'
import { HermesError } from '@hermes/contracts'
import type { AudioPart, FilePart, ImagePart, Usage } from '@hermes/contracts/conversation'
import { estimateTokens } from '@hermes/contracts/conversation'
import type {
  Credential,
  CredentialSource,
  ModelRequest,
  RequestRepair,
  Transport,
  WireApi,
} from '@hermes/contracts/model'
import type { Provider, ProviderQuirks, RateLimit } from '@hermes/transports'
import {
  createTransport,
  findProvider,
  PROVIDERS,
  rateLimits,
  refusedUntilMs,
  similarProviders,
} from '@hermes/transports'
import type { ModelPrices, PricedUsage } from './usage.js'
import { priced } from './usage.js'

/** One model at one address, and how it is reached. */
export interface ModelEndpoint {
  /** An id or alias of the provider catalogue. */
  readonly provider: string
  /** The model used when a request names none. */
  readonly model: string
  /** What people and ledgers call it. Default: the provider's id. */
  readonly name?: string
  /** Default: the provider's own. */
  readonly baseUrl?: string
  /** Default `null`: none, which is refused at the first request where the provider needs one. */
  readonly apiKey?: string | null
  /** Many keys, in place of `apiKey`. */
  readonly credentials?: CredentialSource
  /** Default: judged by provider and address. */
  readonly api?: WireApi | undefined
  /** How the endpoint departs from what the catalogue says of its provider; what is given counts more. */
  readonly quirks?: ProviderQuirks | undefined
  /** Used in place of one made from the options above; no key is demanded then. */
  readonly transport?: Transport
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Further fields of each request body. */
  readonly body?: JsonObject | undefined
  /** Default: the global one. */
  readonly fetch?: typeof fetch
  /** Until the first byte of an answer. Default 600,000. */
  readonly timeoutMs?: number | undefined
  /** Without progress in an answer that has begun. Default 180,000. */
  readonly stallTimeoutMs?: number | undefined
  /** How long a provider with marks for its cache keeps a prefix. Default `5m`. */
  readonly cacheTtl?: '5m' | '1h'
  /** Where the key is from, for messages: a variable or a file. Default: the list of `credentials`, else the variable of the provider. */
  readonly keySource?: string | undefined
  /** Tokens of the model's window. With it, a connection dropped on a nearly full one counts as too long a conversation. */
  readonly contextLength?: number | (() => number | undefined) | undefined
  /** Whether the model takes images, asked when there are some; of one that does not they are left out. Default: it is tried. */
  readonly seesImages?: (() => Promise<boolean>) | undefined
  /** Whether the model takes a recording or file, asked when there is one; one that it does not take becomes a line of text. Default: it is tried. */
  readonly takes?: ((part: AudioPart | FilePart) => Promise<boolean>) | undefined
  /** Without prices the cost of a call is `unknown`, unless the provider reports it or runs on this machine. */
  readonly prices?: ModelPrices | ((model: string) => Promise<ModelPrices | null>) | undefined
}

/** The last word of an endpoint on how much a key may still ask. */
export interface KeyLimits {
  readonly provider: string
  readonly model: string
  /** Names the key; `key` where there is only one. */
  readonly credentialId: string
  readonly limits: readonly RateLimit[]
  /** Unix milliseconds. */
  readonly atMs: number
}

const ONLY_KEY = 'key'

/** Limits that say to begin anew within this time are believed. */
const MAX_TRUSTED_WAIT_MS = 60_000

/** Estimates are good to about a fifth. */
const SURE_SHARE = 0.8

/** An endpoint with what is remembered of it from call to call. Its transport is made on first use. */
export class Endpoint {
  readonly options: ModelEndpoint
  readonly name: string
  readonly model: string
  /** Changes of requests that made it take them. */
  readonly repairs = new Set<RequestRepair>()
  /** Not worth asking before, in Unix milliseconds, as far as it has said. */
  blockedUntilMs = 0
  readonly #resolved: ResolvedEndpoint
  readonly #clock: Clock
  readonly #limits = new Map<string, KeyLimits>()
  readonly #prices = new Map<string, Promise<ModelPrices | null>>()
  readonly #shrunk = new Map<string, ImagePart | null>()
  #transport: Transport | null = null

  /** @throws HermesError `models.unknown_provider`, `models.no_base_url`, and what `createTransport` throws. */
  constructor(options: ModelEndpoint, clock: Clock) {
    this.options = options
    this.#clock = clock
    this.#resolved = resolveEndpoint(options.provider, options.baseUrl)
    this.name = options.name ?? this.#resolved.provider.id
    this.model = options.model
  }

  get isLocal(): boolean {
    return this.#resolved.provider.local
  }

  /** Whether a tier of service reaches who answers; what comes of it has another price. */
  get sendsTier(): boolean {
    return this.#quirks.serviceTiers === true
  }

  get #quirks(): ProviderQuirks {
    return { ...this.#resolved.provider.quirks, ...this.options.quirks }
  }

  get transport(): Transport {
    this.#transport ??= this.options.transport ?? this.#makeTransport()
    return this.#transport
  }

  #makeTransport(): Transport {
    const { api, headers, body, fetch, model, timeoutMs, stallTimeoutMs, cacheTtl, credentials } = this.options
    const { provider, baseUrl } = this.#resolved
    const keySource = this.options.keySource ?? (credentials ? `see hermes auth list ${this.name}` : undefined)
    const settings = { api, model, headers, body, fetch, timeoutMs, stallTimeoutMs, cacheTtl, clock: this.#clock }
    // Whoever named the endpoint knows it by that name.
    const name = this.name === 'custom' ? undefined : this.name
    return createTransport({ provider: provider.id, name, baseUrl, quirks: this.#quirks, keySource, ...settings })
  }

  /**
   * The key for the next call; `null` where none is needed.
   * @throws HermesError `models.no_key`, `models.no_usable_key`, and `transport.rate_limit` while all keys, or the one that
   * is used alone, are cooling down.
   */
  async credential(signal: AbortSignal | undefined): Promise<Credential | null> {
    const { credentials, apiKey, transport } = this.options
    if (!credentials) {
      if (!transport) requireKey(this.#resolved, apiKey || null)
      return apiKey ? { id: ONLY_KEY, secret: apiKey } : null
    }
    return (await credentials.select(signal ? { signal } : {})) ?? this.#noneUsable(credentials)
  }

  async #noneUsable(credentials: CredentialSource): Promise<never> {
    const usableAtMs = await credentials.usableAtMs()
    const alone = await credentials.alone?.()
    const chosen = alone ? `The account ${alone.label} of ${this.name}, chosen to be used alone,` : null
    if (usableAtMs === null)
      throw new HermesError(
        chosen
          ? `${chosen} cannot be used: hermes auth list says why. Choose another: /account NAME.`
          : `No key of ${this.name} can be used. See hermes auth list, and add one: hermes auth add.`,
        { code: 'models.no_usable_key', details: { provider: this.name } },
      )
    const cooling = chosen ? `${chosen} is cooling down` : `All keys of ${this.name} are cooling down`
    const way = chosen ? ' To choose another: /account NAME.' : ''
    throw new HermesError(`${cooling} until ${new Date(usableAtMs).toISOString()}.${way}`, {
      code: 'transport.rate_limit',
      retryable: true,
      details: { provider: this.name, retryAfterMs: Math.max(0, usableAtMs - this.#clock.now()) },
    })
  }

  /** What is known about the size of a call, for the classification of its failure. */
  sizeOf(request: ModelRequest) {
    const { contextLength } = this.options
    const windowTokens = typeof contextLength === 'function' ? contextLength() : contextLength
    if (windowTokens === undefined) return {}
    return { conversationTokens: estimateTokens(request.messages), windowTokens }
  }

  /** One request on its wire; what its headers say about limits is kept. */
  ask(
    request: ModelRequest,
    credential: Credential | null,
    signal: AbortSignal | undefined,
  ): ReturnType<Transport['stream']> {
    const onHeaders = (headers: Readonly<Record<string, string>>) => {
      const atMs = this.#clock.now()
      const limits = rateLimits(headers, atMs)
      if (limits.length === 0) return
      const credentialId = credential?.id ?? ONLY_KEY
      const key = limitKey(credential, request.model)
      this.#limits.set(key, { provider: this.name, model: request.model, credentialId, limits, atMs })
    }
    const { secret = null, account } = credential ?? {}
    const options = {
      credential: secret,
      onHeaders,
      ...(account === undefined ? {} : { account }),
      ...(signal ? { signal } : {}),
    }
    return this.transport.stream(request, options)
  }

  /** @throws HermesError `transport.rate_limit` when a call would certainly be refused: the last answer said so, or left too few tokens. */
  requireRoom(credential: Credential | null, request: ModelRequest): void {
    const { model } = request
    const nowMs = this.#clock.now()
    const known = this.#limits.get(limitKey(credential, model))
    const untilMs = known ? refusedUntilMs(known.limits, nowMs, this.#tokensCounted(request)) : null
    // Beyond that it is left to the server: what a header says of hours may be wrong, and the cost would be the whole turn.
    if (untilMs === null || untilMs - nowMs > MAX_TRUSTED_WAIT_MS) return
    throw new HermesError(
      `The limit of ${this.name} for ${model} is used up until ${new Date(untilMs).toISOString()}.`,
      {
        code: 'transport.rate_limit',
        retryable: true,
        details: { provider: this.name, model, retryAfterMs: untilMs - nowMs },
      },
    )
  }

  /** What a request takes of a limit on tokens at least; nobody knows where the cached part of it is not counted. */
  #tokensCounted({ messages, tools }: ModelRequest): (() => number) | undefined {
    if (this.transport.api === 'anthropic-messages') return undefined
    return () => Math.floor(SURE_SHARE * (estimateTokens(messages) + estimateTokens(tools)))
  }

  /** Tells the pool that a key works. */
  async confirm(credential: Credential | null): Promise<void> {
    if (!credential || !this.options.credentials) return
    await this.options.credentials.report(credential, { type: 'accepted' })
  }

  /**
   * What a call cost. Prices that have to be looked up are looked up once per model; `null` when that fails, and for a call of another
   * service tier that its provider gave no cost of.
   */
  async price(usage: Usage, model: string, { isPricedApart = false } = {}): Promise<PricedUsage> {
    if (isPricedApart && !this.isLocal) return priced(usage, null, false)
    return priced(usage, usage.costUsd === 'unknown' && !this.isLocal ? await this.prices(model) : null, this.isLocal)
  }

  /** The prices of a model, looked up once. Never rejects. */
  prices(model: string): Promise<ModelPrices | null> {
    const { prices = null } = this.options
    if (typeof prices !== 'function') return Promise.resolve(prices)
    let found = this.#prices.get(model)
    if (!found) this.#prices.set(model, (found = prices(model).catch(() => null)))
    return found
  }

  /** Whether it is known that the model takes no images. Never rejects. */
  async isBlind(): Promise<boolean> {
    return !((await this.options.seesImages?.().catch(() => true)) ?? true)
  }

  /** Whether it is known that the model does not take a recording or file. Never rejects. */
  async refuses(part: AudioPart | FilePart): Promise<boolean> {
    return !((await this.options.takes?.(part).catch(() => true)) ?? true)
  }

  /** A smaller image, made once; `null` where that cannot be done. */
  async shrink(image: ImagePart): Promise<ImagePart | null> {
    let smaller = this.#shrunk.get(image.data)
    if (smaller === undefined) {
      const { shrinkImage } = await import('./shrink-image.js')
      this.#shrunk.set(image.data, (smaller = shrinkImage(image)))
    }
    return smaller
  }

  /** What each key may still ask, as far as it was told. */
  limits(): readonly KeyLimits[] {
    return [...this.#limits.values()]
  }
}

/** Vendors count per key and model. */
function limitKey(credential: Credential | null, model: string): string {
  return `${credential?.id ?? ONLY_KEY} ${model}`
}

/** What every part of a call needs to know. */
export interface CallTools {
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal | undefined
}

/** A provider with the address to use. */
interface ResolvedEndpoint {
  readonly provider: Provider
  readonly baseUrl: string
}

/**
 * The provider of that name and where it is reached.
 * @throws HermesError `models.unknown_provider` naming the valid ones, `models.no_base_url` where the user must give an address.
 */
function resolveEndpoint(name: string, baseUrl: string | undefined): ResolvedEndpoint {
  const provider = findProvider(name)
  if (!provider) throw unknownProvider(name)
  const address = baseUrl ?? provider.baseUrl
  if (!address)
    throw new HermesError(`The provider "${provider.id}" needs a base URL, for example http://127.0.0.1:8000/v1.`, {
      code: 'models.no_base_url',
      details: { provider: provider.id },
    })
  return { provider, baseUrl: address }
}

function unknownProvider(name: string): HermesError {
  const meant = similarProviders(name)
  const hint = meant.length > 0 ? ` Did you mean ${meant.join(' or ')}?` : ''
  return new HermesError(`Unknown provider "${name}".${hint} Known are: ${PROVIDERS.map(({ id }) => id).join(', ')}.`, {
    code: 'models.unknown_provider',
    details: { provider: name },
  })
}

/**
 * Refuses to go on without a key where one is needed.
 * @throws HermesError `models.no_key` naming the variables and how to set them.
 */
function requireKey({ provider, baseUrl }: ResolvedEndpoint, apiKey: string | null): void {
  if (apiKey || !provider.keyRequired || isLoopback(baseUrl)) return
  const [first = 'API_KEY', ...others] = provider.keyVariables
  const also = others.length > 0 ? ` (or ${others.join(', ')})` : ''
  throw new HermesError(
    `${provider.name} needs an API key: set ${first}${also}, with \`export ${first}=…\` or a line ${first}=… in the .env file of the Hermes home.`,
    { code: 'models.no_key', details: { provider: provider.id, variables: provider.keyVariables.join(',') } },
  )
}

/** A stand-in for the provider on this machine, such as a replayed recording, asks for no key. */
export function isLoopback(baseUrl: string): boolean {
  return (
    URL.canParse(baseUrl) &&
    /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/i.test(new URL(baseUrl).hostname)
  )
}
