import type { HermesConfig } from '@hermes/config'
import { type Clock, knownTimeZone, type Logger } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { ModelClient } from '@hermes/contracts/model'
import type { ModelEndpoint, ResilientModelClient } from '@hermes/models'
import { createModelClient } from '@hermes/models'
import type { Storage } from '@hermes/storage'
import { configuredModels, DEFAULT_PLATFORM } from '../home/settings.js'
import type { AgentRequest, MixtureRequest } from '../runtime.js'
import type { ChoiceCredentials, Credentials, StoredCredentials } from './credentials.js'
import type { Fallbacks } from './fallbacks.js'
import { chooseFallbacks } from './fallbacks.js'
import type { HomeModels } from './home-models.js'
import type { MixtureChoice } from './mixtures.js'
import { chooseMixture, MIXTURE } from './mixtures.js'
import type { ModelChoice, ModelChoiceOptions, SessionAccount } from './model-choice.js'
import { chooseModel } from './model-choice.js'
import type { Spending } from './spending.js'
import { openSpending } from './spending.js'
import { openTraffic } from './traffic.js'

type Requested = Pick<AgentRequest, 'provider' | 'model' | 'baseUrl' | 'session'>

/** Who answers an agent, and the one way there. */
export interface ResolvedModel {
  readonly choice: ModelChoice
  /** Asked in this order when the chosen model does not answer. */
  readonly fallbacks: readonly ModelChoice[]
  readonly model: ResilientModelClient
  readonly credentials: ChoiceCredentials | null
  readonly fetch: typeof fetch
}

/** What it takes to find who answers in a home. */
interface ModelResolverOptions {
  readonly config: HermesConfig
  readonly tempDir: string
  /** Where sessions work that name no folder. Absolute. */
  readonly cwd: string
  readonly userHome: string
  readonly secrets: ModelChoiceOptions['secrets']
  readonly stored: StoredCredentials
  readonly credentials: Credentials
  readonly models: HomeModels
  readonly fetchTo: (baseUrl: string) => typeof fetch
  readonly storage: () => Promise<Storage>
  /** Takes what is to be done when the home is closed. */
  readonly atClose: (close: () => Promise<void>) => void
  readonly clock: Clock
  readonly logger: Logger
}

/** Who answers in a home: which model is chosen, by rule, mixture or fallback, and its client with keys, prices and books. */
export class ModelResolver {
  readonly #options: ModelResolverOptions
  #spending: Promise<Spending> | null = null
  #offered: ModelChoiceOptions['endpoints'] = {}

  constructor(options: ModelResolverOptions) {
    this.#options = options
  }

  /** Models of extensions can be chosen too; config.yaml counts more. */
  offer(endpoints: ModelChoiceOptions['endpoints']): void {
    this.#offered = endpoints
  }

  chooseModel(requested: Requested): ModelChoice {
    const mixture = this.#mixture(requested)
    if (mixture) return { ...mixture.aggregator, provider: MIXTURE, model: mixture.preset }
    return chooseModel({ requested, session: requested.session ?? null, ...this.modelOptions() })
  }

  /** The same, of a mixture the one that answers: who is asked beside the conversation, with its own keys. */
  chooseFirst(requested: Requested): ModelChoice {
    return this.#mixture(requested)?.aggregator ?? this.chooseModel(requested)
  }

  /** The mixture that is asked for, else that of the session, else that of config.yaml; `null` where a single model is. */
  #mixture({ provider, model, baseUrl, session }: Requested): MixtureChoice | null {
    const configured = this.#options.config.model
    const own = session ?? { provider: configured.provider, model: configured.default }
    const isOwn = provider === undefined && baseUrl === undefined && own.provider === MIXTURE
    if (provider !== MIXTURE && !isOwn) return null
    const preset = model ?? (isOwn ? own.model : undefined) ?? undefined
    return this.chooseMixture(preset)
  }

  /** What config.yaml and the keys at hand say of models. */
  modelOptions(): Omit<ModelChoiceOptions, 'requested' | 'session'> {
    const { config, secrets, stored } = this.#options
    const { endpoints, ...configured } = configuredModels(config)
    const all = { ...this.#offered, ...endpoints }
    return { ...configured, endpoints: all, secrets, stored: stored.providers }
  }

  /**
   * The answerer for an agent, with the account that its session uses at each provider.
   * @throws HermesError `models.*`: one line with what is missing.
   */
  async resolveModel(request: AgentRequest, environment: Environment, account: SessionAccount): Promise<ResolvedModel> {
    await this.#options.stored.look()
    const requested = request.replay === undefined ? await this.#routed(request) : request
    const mixture = request.replay === undefined ? this.#mixture(requested) : null
    if (!mixture) {
      const chosen = request.replay === undefined ? { ...this.chooseModel(requested), account } : REPLAYED
      return this.#model(request, environment, chosen)
    }
    const { createMixtureOfAgentsClient } = await import('@hermes/models/mixture')
    const resolved = await this.#model(request, environment, { ...mixture.aggregator, account })
    const model = createMixtureOfAgentsClient({
      provider: MIXTURE,
      model: mixture.preset,
      references: await this.#clientsOf(mixture.references.map((one) => ({ ...one, account }))),
      aggregator: resolved.model,
      logger: this.#options.logger,
    })
    const { model: first } = resolved
    const limits = () => first.limits()
    const nextEndpoint = (turnId: string | undefined) => first.nextEndpoint(turnId)
    return { ...resolved, model: Object.assign(model, { limits, nextEndpoint }) }
  }

  async #model(request: AgentRequest, environment: Environment, chosen: ModelChoice): Promise<ResolvedModel> {
    const traffic = await openTraffic({
      ...request,
      choice: chosen,
      fetchTo: this.#options.fetchTo,
      probe: await probeFor(request, environment),
      tempDir: this.#options.tempDir,
    })
    if (traffic.close) this.#options.atClose(traffic.close)
    const choice =
      request.replay === undefined
        ? chosen
        : { ...chosen, api: traffic.api, model: request.model ?? traffic.model ?? 'recorded' }
    const cacheTtl = this.#options.config.prompt_caching.cache_ttl
    const fallbacks = chosen === REPLAYED || request.record !== undefined ? [] : this.#usableFallbacks()
    const credentials = chosen === REPLAYED ? null : await this.#options.credentials.sourceFor(choice)
    const model = createModelClient({
      ...toModelEndpoint(
        { ...choice, baseUrl: traffic.baseUrl },
        {
          fetch: traffic.fetch,
          cacheTtl,
          credentials,
          prices: this.#options.models.pricesOf(choice, cacheTtl),
          contextLength: () => this.#options.models.knownWindow(choice),
          seesImages: () => this.#options.models.getsImages(choice),
          takes: (part) => this.#options.models.takes(choice, part),
        },
      ),
      fallbacks: await Promise.all(fallbacks.map((one) => this.endpointOf({ ...one, account: choice.account }))),
      ...(chosen === REPLAYED ? {} : await this.spending()),
      maxRetries: this.#options.config.agent.api_max_retries,
      maxWaitMs: this.#maxWaitMs(request),
      clock: this.#options.clock,
      logger: this.#options.logger,
    })
    const isReal = chosen !== REPLAYED && request.record === undefined
    return {
      choice,
      fallbacks,
      model: isReal
        ? this.#options.models.watch(model, [choice, ...fallbacks], (one) => this.#keyBeside(one, choice))
        : model,
      credentials,
      fetch: traffic.fetch,
    }
  }

  /** The key for what is looked up beside a session; none where the session or its project may have chosen another account. */
  async #keyBeside(choice: ModelChoice, { account }: ModelChoice): Promise<string | null> {
    const credentials = await this.#options.credentials.sourceFor({ ...choice, account })
    if (credentials === null) return choice.apiKey
    return credentials.isSole ? ((await credentials.select())?.secret ?? null) : null
  }

  /** A new session for which nobody named a model goes where the rules of config.yaml send it, and stays there. */
  async #routed(request: AgentRequest): Promise<AgentRequest> {
    const { cwd, userHome, config } = this.#options
    const { routing, timezone } = config
    const isNamed = [request.session, request.provider, request.model, request.baseUrl].some((one) => one !== undefined)
    if (routing.length === 0 || isNamed) return request
    const { routeFor } = await import('./routing.js')
    const start = {
      kind: request.platform ?? DEFAULT_PLATFORM,
      text: request.firstText,
      atMs: this.#options.clock.now(),
      cwd: request.cwd ?? cwd,
      userHome,
    }
    return { ...request, ...routeFor(routing, { ...start, timeZone: knownTimeZone(timezone) }) }
  }

  /** Who runs unattended has the night; a person, or a program at the other end of a request, is told sooner. */
  #maxWaitMs({ platform = DEFAULT_PLATFORM }: AgentRequest): number {
    const { config } = this.#options
    return 1_000 * (config.agent.max_wait ?? (UNATTENDED.has(platform) ? 6 * 3_600 : 10 * 60))
  }

  /** How a chosen model is reached, with its keys and prices. */
  async endpointOf(choice: ModelChoice): Promise<ModelEndpoint> {
    const cacheTtl = this.#options.config.prompt_caching.cache_ttl
    return toModelEndpoint(choice, {
      fetch: this.#options.fetchTo(choice.baseUrl),
      cacheTtl,
      prices: this.#options.models.pricesOf(choice, cacheTtl),
      contextLength: () => this.#options.models.knownWindow(choice),
      seesImages: () => this.#options.models.getsImages(choice),
      takes: (part) => this.#options.models.takes(choice, part),
      credentials: await this.#options.credentials.sourceFor(choice),
    })
  }

  /** Plain clients of models that stand beside a conversation. */
  async #clientsOf(choices: readonly ModelChoice[]): Promise<readonly ResilientModelClient[]> {
    const spending = await this.spending()
    const [clock, logger] = [this.#options.clock, this.#options.logger]
    const endpoints = await Promise.all(choices.map((choice) => this.endpointOf(choice)))
    return endpoints.map((endpoint) => createModelClient({ ...endpoint, ...spending, maxRetries: 1, clock, logger }))
  }

  /** The models of a preset; of the default one without a name. @throws HermesError as {@link chooseMixture} does. */
  chooseMixture(preset?: string): MixtureChoice {
    return chooseMixture({ settings: this.#options.config.moa, preset, modelOptions: this.modelOptions() })
  }

  /** A mixture for a single question; the default one without a name. `account`: of the session that asks it. */
  async mixtureClient(
    { preset: wanted, onReference }: MixtureRequest = {},
    account?: SessionAccount,
  ): Promise<ModelClient> {
    await this.#options.stored.look()
    const { preset, references, aggregator } = this.chooseMixture(wanted)
    const { createMixtureOfAgentsClient } = await import('@hermes/models/mixture')
    const [first, ...others] = await this.#clientsOf(
      [aggregator, ...references].map((choice) => ({ ...choice, account })),
    )
    const { logger } = this.#options
    const models = { aggregator: first!, references: others }
    return createMixtureOfAgentsClient({ provider: MIXTURE, model: preset, ...models, logger, onReference })
  }

  /** Where finished calls are written down, and what they may come to; the same for all agents of this home. */
  spending(): Promise<Spending> {
    this.#spending ??= openSpending({
      config: this.#options.config,
      ledger: async () => (await this.#options.storage()).usage,
      clock: this.#options.clock,
      logger: this.#options.logger,
    })
    return this.#spending
  }

  #usableFallbacks(): readonly ModelChoice[] {
    const { choices, problems } = this.fallbacks()
    for (const problem of problems) this.#options.logger.warn(problem)
    return choices
  }

  fallbacks(): Fallbacks {
    const { fallback_providers: entries } = this.#options.config
    if (entries.length === 0) return { choices: [], problems: [] }
    return chooseFallbacks(entries, this.modelOptions())
  }

  /** Writes down what finished calls came to. */
  async flush(): Promise<void> {
    const spending = await this.#spending?.catch(() => null)
    await spending?.flush()
  }
}

const UNATTENDED: ReadonlySet<string> = new Set(['oneshot', 'cron'])

function probeFor(request: AgentRequest, environment: Environment) {
  return isRecorded(request) ? environment.probe() : null
}

export function isRecorded({ record, replay }: AgentRequest): boolean {
  return record !== undefined || replay !== undefined
}

/** Who answers in place of a model; which one it stands for is in the recording. */
const REPLAYED: ModelChoice = {
  provider: 'custom',
  catalogueId: 'custom',
  model: 'recorded',
  baseUrl: 'http://127.0.0.1/v1',
  apiKey: null,
}

/** A choice in the terms of a model client. */
function toModelEndpoint(
  { provider, catalogueId, ...choice }: ModelChoice,
  way: Required<Pick<ModelEndpoint, 'fetch' | 'cacheTtl' | 'prices' | 'contextLength' | 'seesImages' | 'takes'>> & {
    readonly credentials: ChoiceCredentials | null
  },
): ModelEndpoint {
  const { credentials, ...rest } = way
  // Which of several keys it was, their list says.
  const keys = credentials === null ? {} : { credentials, ...(credentials.isSole ? {} : { keySource: undefined }) }
  return { ...choice, ...rest, ...keys, provider: catalogueId, name: provider }
}
