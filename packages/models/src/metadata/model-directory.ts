import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, JsonObject, Logger } from '@hermes/contracts'
import { errorLine, HermesError, isJsonObject, silentLogger, systemClock } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { findProvider } from '@hermes/transports'
import { isLoopback } from '../endpoint.js'
import type { ModelPrices } from '../usage.js'
import type { FactSource, ModelFacts, PartialFacts, RequestedModel, Sourced } from './facts.js'
import { DEFAULT_CONTEXT_LENGTH, DEFAULT_LOCAL_CONTEXT_LENGTH, positive } from './facts.js'
import { familyWindow, isHosted, isPlausibleWindow } from './families.js'
import { hourly, withHour } from './hour-prices.js'
import type { ModelsDev } from './models-dev.js'
import { MODELS_DEV_URL, modelsDevFacts, parseModelsDev } from './models-dev.js'
import { fallbackFacts, overriddenFacts } from './overrides.js'
import type { ProbedEndpoint } from './probe.js'

/** Where a directory keeps what it learns, and what it may ask. */
export interface ModelDirectoryOptions {
  /** The cache folder of a home; made on first write. */
  readonly cacheDir: string
  /** `model_overrides` of config.yaml. */
  readonly overrides?: Readonly<Record<string, unknown>>
  /** Makes a `fetch` to one configured address. */
  readonly fetchTo: (baseUrl: string) => typeof fetch
  /** Where the catalogue of models.dev, or a mirror of it, is fetched. */
  readonly modelsDevUrl?: string | undefined
  readonly clock?: Clock
  /** Told why the catalogue could not be fetched. */
  readonly logger?: Logger
}

/** What is known about models. Nothing here waits for the network but `probe` and `refresh`. */
export interface ModelDirectory {
  /** What is known about a model now. Never rejects. */
  facts(requested: RequestedModel): Promise<ModelFacts>
  /** The window alone, in tokens, from what is at hand: cheap enough to be asked before a request. Never rejects. */
  window(requested: RequestedModel): Promise<Sourced<number>>
  /** What a model costs there; `null` when nobody says. Never rejects. */
  prices(requested: RequestedModel & { readonly cacheTtl?: '5m' | '1h' }): Promise<ModelPrices | null>
  /**
   * Remembers the window that an endpoint turned out to have, in tokens, in this home for seven days: servers are set up anew. A number
   * that no model of the family has is not believed.
   */
  learn(requested: RequestedModel, contextTokens: number): Promise<void>
  /**
   * Asks an endpoint about a model and keeps what it says. Not within a day of the last answer; on this machine, where another model may be
   * loaded by now, each time, but a server that told nothing not within an hour unless `isAgain`. Never rejects.
   */
  probe(requested: RequestedModel & ProbeOptions): Promise<void>
  /** Forgets what endpoints said and what refusals taught. */
  forget(): Promise<void>
  /** Fetches the published catalogue, unless that was tried within a day. Never rejects; a failure changes nothing. */
  refresh(options?: {
    readonly signal?: AbortSignal
    readonly force?: boolean
  }): Promise<'updated' | 'fresh' | 'failed'>
  /** Names of the models that are known of a provider, sorted. */
  names(provider: string): Promise<readonly string[]>
  /** The same, else what the prices package has: enough to guess what was meant, not to say what there is. Never rejects. */
  someNames(provider: string): Promise<readonly string[]>
}

/** How an endpoint is asked. */
interface ProbeOptions extends Pick<ProbedEndpoint, 'api' | 'headers' | 'quirks'> {
  readonly apiKey: string | null
  /** Asks also a server on this machine that told nothing within the hour. Default: `false`. */
  readonly isAgain?: boolean
  readonly signal?: AbortSignal
}

/** Makes the directory of a home. Reads nothing before it is asked. */
export function createModelDirectory(options: ModelDirectoryOptions): ModelDirectory {
  return new HomeDirectory(options)
}

const DEFAULT_WINDOW: Sourced<number> = { value: DEFAULT_CONTEXT_LENGTH, source: 'default' }
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const LEARNED_FOR_MS = 7 * DAY_MS
const TIMEOUT_MS = 10_000
const FETCH_TIMEOUT_MS = 60_000
const MAX_CATALOGUE_CHARS = 64_000_000

class HomeDirectory implements ModelDirectory {
  readonly #options: ModelDirectoryOptions
  readonly #clock: Clock
  #modelsDev: Promise<ModelsDev | null> | null = null

  constructor(options: ModelDirectoryOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  async facts(requested: RequestedModel): Promise<ModelFacts> {
    const { overrides = {} } = this.#options
    const [learned, endpoint, published, packaged] = await Promise.all([
      this.#learned(requested),
      this.#kept('endpoint', requested),
      this.#published(requested),
      this.#packaged(requested),
    ])
    const family = { contextLength: familyWindow(requested.model) }
    const known: readonly (readonly [FactSource, PartialFacts | null])[] = [
      ['config', { contextLength: requested.contextLength }],
      ['config', overriddenFacts(overrides, requested)],
      ['learned', learned],
      ['endpoint', endpoint],
      ['models.dev', published?.facts ?? null],
      ['genai-prices', packaged?.facts ?? null],
      ['family', family],
      ['config', fallbackFacts(overrides)],
    ]
    const asOf = { 'models.dev': published?.asOf, 'genai-prices': packaged?.asOf } as Record<string, string | undefined>
    const found = published?.facts.contextLength ?? packaged?.facts.contextLength
    if (found !== undefined && (await this.#kept('found', requested))?.contextLength !== found)
      await this.#keep('found', requested, { contextLength: found })
    const prices = first(known, (facts) => facts.prices)
    return {
      model: requested.model,
      contextLength: asLoaded(
        requested,
        first(known, (facts) => facts.contextLength),
      ),
      maxOutputTokens: first(known, (facts) => facts.maxOutputTokens),
      prices: prices && { ...prices, asOf: asOf[prices.source] ?? null },
      abilities: Object.assign({}, ...known.toReversed().map(([, facts]) => facts?.abilities ?? {})),
    }
  }

  async window(requested: RequestedModel): Promise<Sourced<number>> {
    const { overrides = {} } = this.#options
    const configured = requested.contextLength ?? overriddenFacts(overrides, requested)?.contextLength
    if (configured !== undefined) return { value: configured, source: 'config' }
    const [learned, endpoint, found] = await Promise.all([
      this.#learned(requested),
      this.#kept('endpoint', requested),
      this.#kept('found', requested),
    ])
    const known: readonly (readonly [FactSource, PartialFacts | null])[] = [
      ['learned', learned],
      ['endpoint', endpoint],
      ['models.dev', found],
      ['family', { contextLength: familyWindow(requested.model) }],
      ['config', fallbackFacts(overrides)],
    ]
    return asLoaded(
      requested,
      first(known, (facts) => facts.contextLength),
    )
  }

  async prices(requested: Parameters<ModelDirectory['prices']>[0]): Promise<ModelPrices | null> {
    const { prices } = await this.facts(requested)
    if (!prices) return null
    const { value, source, asOf } = prices
    const configured = { ...value, source: asOf === null ? source : `${source} ${asOf}` }
    if (requested.cacheTtl !== '1h') return configured
    // What the user says about prices is not added to.
    if (source === 'config' || value.cacheWriteHourPerMillion !== undefined) return hourly(configured)
    return hourly(withHour(configured, (await this.#packaged(requested))?.facts.prices))
  }

  async learn(requested: RequestedModel, contextTokens: number): Promise<void> {
    if (positive(contextTokens) === undefined || !isPlausibleWindow(requested.model, contextTokens)) return
    await this.#keep('learned', requested, { contextLength: contextTokens })
  }

  async probe({ apiKey, signal, isAgain = false, ...requested }: RequestedModel & ProbeOptions): Promise<void> {
    const last = (await readCache(this.#file('endpoint')))[keyOf(requested)]
    const { atMs, question, facts: lastFacts } = isJsonObject(last) ? last : {}
    const ageMs = this.#clock.now() - Number(atMs)
    // What is loaded on this machine may be another thing in a minute; that a server tells nothing of it stays for longer.
    const isMute = lastFacts === null && !isAgain
    const restsFor = !isLoopback(requested.baseUrl) ? DAY_MS : isMute ? HOUR_MS : 0
    if (ageMs >= 0 && ageMs < restsFor) return
    const { probeEndpoint } = await import('./probe.js')
    const limit = AbortSignal.timeout(TIMEOUT_MS)
    const answer = await probeEndpoint(
      {
        ...requested,
        apiKey,
        fetch: this.#options.fetchTo(requested.baseUrl),
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      },
      typeof question === 'string' ? question : undefined,
    )
    if (answer) await this.#write('endpoint', requested, answer)
  }

  async forget(): Promise<void> {
    await Promise.all((['learned', 'endpoint'] as const).map((kind) => writeCache(this.#file(kind), {})))
  }

  async refresh({
    signal,
    force = false,
  }: {
    readonly signal?: AbortSignal
    readonly force?: boolean
  } = {}): Promise<'updated' | 'fresh' | 'failed'> {
    const tries = this.#file('models-dev-tried')
    const { atMs } = await readCache(tries)
    if (!force && typeof atMs === 'number' && this.#clock.now() - atMs < DAY_MS) return 'fresh'
    await writeCache(tries, { atMs: this.#clock.now() })
    const { modelsDevUrl, logger = silentLogger } = this.#options
    const url = modelsDevUrl || MODELS_DEV_URL
    try {
      const limit = AbortSignal.timeout(FETCH_TIMEOUT_MS)
      const fetched = await this.#fetchCatalogue(url, signal ? AbortSignal.any([signal, limit]) : limit)
      await writeCache(this.#file('models-dev'), fetched)
      this.#modelsDev = Promise.resolve(fetched)
      return 'updated'
    } catch (error) {
      if (!signal?.aborted) logger.info('the list of models was not fetched', { url, error: errorLine(error) })
      return 'failed'
    }
  }

  async #fetchCatalogue(url: string, signal: AbortSignal): Promise<ModelsDev> {
    const response = await this.#options.fetchTo(url)(url, { signal })
    if (!response.ok) throw noCatalogue(`the server answered ${response.status}`)
    const text = await response.text()
    const parsed = text.length > MAX_CATALOGUE_CHARS ? null : parseModelsDev(JSON.parse(text), this.#clock.now())
    if (!parsed) throw noCatalogue('what came is no list of models')
    return parsed
  }

  async names(provider: string): Promise<readonly string[]> {
    const { metadataIds } = await import('./provider-ids.js')
    const catalogue = await this.#catalogue()
    return Object.keys(catalogue?.providers[metadataIds(provider).modelsDev] ?? {}).sort()
  }

  async someNames(provider: string): Promise<readonly string[]> {
    const names = await this.names(provider)
    if (names.length > 0) return names
    const { packagedNames } = await import('./genai-prices.js')
    return packagedNames(provider)
  }

  async #published(requested: RequestedModel): Promise<{ readonly facts: PartialFacts; readonly asOf: string } | null> {
    const catalogue = await this.#catalogue()
    const facts = catalogue && modelsDevFacts(catalogue, requested)
    return facts ? { facts, asOf: dayOf(catalogue.atMs) } : null
  }

  /** The kept catalogue is some hundred kilobytes, so it is read once. */
  #catalogue(): Promise<ModelsDev | null> {
    this.#modelsDev ??= readCache(this.#file('models-dev')).then((kept) =>
      isJsonObject(kept['providers']) ? (kept as unknown as ModelsDev) : null,
    )
    return this.#modelsDev
  }

  /** What the package says, from the cache where it was looked up within a day: loading the package takes tens of milliseconds. */
  async #packaged(requested: RequestedModel): Promise<{ readonly facts: PartialFacts; readonly asOf: string } | null> {
    const kept = (await readCache(this.#file('packaged')))[keyOf(requested)]
    const ageMs = isJsonObject(kept) ? this.#clock.now() - Number(kept['atMs']) : Number.POSITIVE_INFINITY
    if (isJsonObject(kept) && ageMs >= 0 && ageMs < (kept['changes'] === true ? HOUR_MS : DAY_MS)) {
      const facts = kept['facts']
      return isJsonObject(facts) ? { facts: facts as PartialFacts, asOf: String(kept['asOf']) } : null
    }
    const { packagedFacts, PRICES_RELEASE } = await import('./genai-prices.js')
    const found = packagedFacts(requested, this.#clock.now())
    const { changes = false, ...facts } = found ?? {}
    const { asOf } = PRICES_RELEASE
    await this.#write('packaged', requested, { facts: found ? facts : null, changes, asOf })
    return found ? { facts, asOf } : null
  }

  async #learned(requested: RequestedModel): Promise<PartialFacts | null> {
    const kept = await this.#kept('learned', requested, LEARNED_FOR_MS)
    return kept?.contextLength !== undefined && isPlausibleWindow(requested.model, kept.contextLength) ? kept : null
  }

  async #kept(
    kind: 'learned' | 'endpoint' | 'found',
    requested: RequestedModel,
    forMs = Number.POSITIVE_INFINITY,
  ): Promise<PartialFacts | null> {
    const kept = (await readCache(this.#file(kind)))[keyOf(requested)]
    if (isJsonObject(kept) && this.#clock.now() - Number(kept['atMs'] ?? 0) > forMs) return null
    return isJsonObject(kept) && isJsonObject(kept['facts']) ? (kept['facts'] as PartialFacts) : null
  }

  #keep(kind: 'learned' | 'endpoint' | 'found', requested: RequestedModel, facts: PartialFacts): Promise<void> {
    return this.#write(kind, requested, { facts })
  }

  async #write(kind: string, requested: RequestedModel, entry: object): Promise<void> {
    const file = this.#file(kind)
    await writeCache(file, { ...(await readCache(file)), [keyOf(requested)]: { atMs: this.#clock.now(), ...entry } })
  }

  #file(kind: string): string {
    return join(this.#options.cacheDir, 'models', `${kind}.json`)
  }
}

/** A server on the own machine seldom loads all that a model was trained for, so what others know of the model is an upper bound there. */
function asLoaded(requested: RequestedModel, known: Sourced<number> | null): Sourced<number> {
  const { value, source } = known ?? DEFAULT_WINDOW
  const isExplicit = source === 'config' || source === 'learned' || source === 'endpoint'
  if (isExplicit || !isLoadedHere(requested) || value <= DEFAULT_LOCAL_CONTEXT_LENGTH) return { value, source }
  return { value: DEFAULT_LOCAL_CONTEXT_LENGTH, source: 'default' }
}

/** Whether somebody loads the model on a machine of their own. A program on this machine may also pass on to a vendor. */
function isLoadedHere({ provider, baseUrl, model }: RequestedModel): boolean {
  return findProvider(provider)?.local === true || (isLoopback(baseUrl) && !isHosted(model))
}

/** The same model differs from host to host. */
function keyOf({ provider, baseUrl, model }: RequestedModel): string {
  return `${model}@${provider}:${baseUrl.replace(/\/+$/, '')}`
}

function first<T>(
  known: readonly (readonly [FactSource, PartialFacts | null])[],
  pick: (facts: PartialFacts) => T | undefined,
): Sourced<T> | null {
  for (const [source, facts] of known) {
    const value = facts ? pick(facts) : undefined
    if (value !== undefined) return { value, source }
  }
  return null
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

function noCatalogue(reason: string): HermesError {
  return new HermesError(reason, { code: 'models.no_catalogue' })
}

/** A JSON object in the home's cache; empty when it is missing or damaged: a cache can always be made again. */
async function readCache(file: string): Promise<JsonObject> {
  try {
    if (!(await stat(file)).isFile()) return {}
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** Replaces a file of the cache whole; a reader sees the old one or the new one. A home that cannot be written to is left alone. */
async function writeCache(file: string, value: object): Promise<void> {
  await writePrivate(file, JSON.stringify(value)).catch(() => undefined)
}
