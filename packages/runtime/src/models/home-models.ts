import type { HermesConfig } from '@hermes/config'
import { type Clock, errorLine, HermesError, type Logger } from '@hermes/contracts'
import { type AudioPart, estimateTokens, type FilePart } from '@hermes/contracts/conversation'
import type { ModelClient } from '@hermes/contracts/model'
import type { ModelEndpoint, ResilientModelClient } from '@hermes/models'
import type { ModelDirectory, RequestedModel } from '@hermes/models/metadata'
import { isThisMachine } from '@hermes/safety'
import { detectApi, listModels, similar, wireTakes } from '@hermes/transports'
import type { ModelChoice } from './model-choice.js'

/** What a home knows of models comes from here, on first use. */
export interface HomeModelsOptions {
  readonly cacheDir: string
  readonly config: Pick<HermesConfig, 'model_overrides' | 'models_dev'> & {
    readonly agent?: Pick<HermesConfig['agent'], 'image_input_mode'>
  }
  readonly fetchTo: (baseUrl: string) => typeof fetch
  readonly clock: Clock
  readonly logger: Logger
}

/** Refusals from which a window is learned. */
const TOO_LONG = new Set(['transport.context_overflow', 'transport.long_context_tier'])

/** Windows that are tried in turn where a refusal names none, in tokens. */
const TIERS = [128_000, 64_000, 32_000, 16_000, 8_000] as const

const NAMES_TIMEOUT_MS = 5_000
const LOCAL_TIMEOUT_MS = 2_000
/** After the first answer; by then a short run has ended, and a long one does not notice. */
const UPDATE_AFTER_MS = 5_000

/** The models of a home: windows, prices, and what calls teach about them. Loads nothing before it is asked. */
export class HomeModels {
  readonly #options: HomeModelsOptions
  readonly #closing = new AbortController()
  readonly #windows = new Map<string, Promise<number>>()
  readonly #known = new Map<string, number>()
  readonly #looked = new Set<string>()
  #directory: Promise<ModelDirectory> | null = null

  constructor(options: HomeModelsOptions) {
    this.#options = options
  }

  /** What is known about models. */
  directory(): Promise<ModelDirectory> {
    const { cacheDir, config, fetchTo, clock, logger } = this.#options
    this.#directory ??= import('@hermes/models/metadata').then(({ createModelDirectory }) =>
      createModelDirectory({
        cacheDir,
        overrides: config.model_overrides,
        modelsDevUrl: config.models_dev.url,
        fetchTo,
        clock,
        logger,
      }),
    )
    return this.#directory
  }

  /** Tokens of the window of a chosen model. */
  window(choice: ModelChoice): Promise<number> {
    const key = keyOf(choice)
    const known = this.#windows.get(key) ?? this.#lookUp(choice)
    this.#windows.set(key, known)
    return known
  }

  async #lookUp(choice: ModelChoice): Promise<number> {
    const directory = await this.directory()
    if (choice.contextLength === undefined && isLocalServer(choice))
      await this.#probe(choice, { signal: AbortSignal.timeout(LOCAL_TIMEOUT_MS) })
    const { value } = await directory.window(toRequestedModel(choice))
    this.#known.set(keyOf(choice), value)
    return value
  }

  /** The window as far as it is configured or was looked up; a session that is long enough for it to matter has asked. */
  knownWindow(choice: ModelChoice): number | undefined {
    return choice.contextLength ?? this.#known.get(keyOf(choice))
  }

  /** Whether a chosen model gets images: what config.yaml says, else whether it can look at them. */
  async getsImages(choice: ModelChoice): Promise<boolean> {
    const { image_input_mode: mode = 'auto' } = this.#options.config.agent ?? {}
    return mode === 'auto' ? this.sees(choice) : mode === 'native'
  }

  /** Whether a chosen model can look at images; `true` where nobody says. */
  async sees(choice: ModelChoice): Promise<boolean> {
    const { abilities } = await (await this.directory()).facts(toRequestedModel(choice))
    return abilities.vision ?? true
  }

  /** Whether a chosen model takes a recording or a file; `true` where nobody says. */
  async takes(choice: ModelChoice, part: Pick<AudioPart | FilePart, 'type' | 'mediaType'>): Promise<boolean> {
    const { catalogueId: provider, baseUrl, model } = choice
    if (!wireTakes(choice.api ?? detectApi({ provider, baseUrl, model }), part)) return false
    const { abilities } = await (await this.directory()).facts(toRequestedModel(choice))
    return (part.type === 'audio' ? abilities.audio : abilities.files) ?? true
  }

  /** Looks up what a model costs at the endpoint of a choice; on this machine it costs what the configuration says, if anything. */
  pricesOf(choice: ModelChoice, cacheTtl: '5m' | '1h'): NonNullable<ModelEndpoint['prices']> {
    const isFree = isLocalServer(choice) && Object.keys(this.#options.config.model_overrides).length === 0
    if (isFree) return async () => null
    return async (model) => (await this.directory()).prices({ ...toRequestedModel(choice), model, cacheTtl })
  }

  /**
   * The client, watched: a window that turns out smaller than it was said to be is remembered, and after the first answer what is
   * known is brought up to date in the background.
   */
  watch(client: ResilientModelClient, choices: readonly [ModelChoice, ...ModelChoice[]]): ResilientModelClient {
    return {
      provider: client.provider,
      model: client.model,
      limits: () => client.limits(),
      nextEndpoint: (turnId) => client.nextEndpoint(turnId),
      prefixCache: async (...call) => (await client.prefixCache?.(...call)) ?? null,
      stream: (request, options) => this.#watched(client, choices, request, options),
    }
  }

  async *#watched(
    client: ModelClient,
    choices: readonly [ModelChoice, ...ModelChoice[]],
    request: Parameters<ModelClient['stream']>[0],
    options: Parameters<ModelClient['stream']>[1],
  ): ReturnType<ModelClient['stream']> {
    try {
      for await (const event of client.stream(request, options)) {
        if (event.type === 'finish') this.#bringUpToDate(choices[0])
        yield event
      }
    } catch (error) {
      const stopped = HermesError.isInstance(error) ? choices.find((choice) => isOf(choice, error)) : undefined
      if (!stopped) throw error
      await this.#learn(error, stopped, () => estimateTokens(request.messages) + estimateTokens(request.tools))
      throw await this.#withNames(error, stopped)
    }
  }

  /** The error, with the names that were likely meant where the endpoint does not know the model. */
  async #withNames(error: unknown, choice: ModelChoice): Promise<unknown> {
    if (!HermesError.isInstance(error) || error.code !== 'transport.model_not_found') return error
    if (this.#closing.signal.aborted) return error
    const { catalogueId: provider, baseUrl, apiKey, api, headers, quirks } = choice
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(NAMES_TIMEOUT_MS)])
    const fetch = this.#options.fetchTo(baseUrl)
    const names = await listModels({ provider, baseUrl, apiKey, api, headers, quirks, fetch, signal }).catch(() => [])
    const meant = similar(choice.model, names)
    if (meant.length === 0) return error
    const { code, retryable, details } = error
    return new HermesError(`${error.message.replace(/[.\s]*$/, '.')} Did you mean ${meant.join(' or ')}?`, {
      code,
      retryable,
      details,
      cause: error,
    })
  }

  async #learn(error: unknown, choice: ModelChoice, requestedTokens: () => number): Promise<void> {
    if (!HermesError.isInstance(error) || !TOO_LONG.has(error.code)) return
    const named = error.details['contextTokens']
    const known = await this.window(choice)
    const tokens = typeof named === 'number' ? named : tierBelow(requestedTokens())
    if (tokens === undefined || tokens >= known) return
    await (await this.directory()).learn(toRequestedModel(choice), tokens)
    this.#windows.delete(keyOf(choice))
    if ((await this.window(choice)) === known) return
    this.#options.logger.info('A model has a smaller window than it was said to have.', { model: choice.model, tokens })
  }

  #bringUpToDate(choice: ModelChoice): void {
    const key = keyOf(choice)
    if (this.#looked.has(key) || this.#closing.signal.aborted) return
    this.#looked.add(key)
    this.#update(choice).catch((error: unknown) => {
      this.#options.logger.debug('What is known of models could not be brought up to date.', {
        error: errorLine(error),
      })
    })
  }

  async #update(choice: ModelChoice): Promise<void> {
    const { signal } = this.#closing
    await this.#options.clock.sleep(UPDATE_AFTER_MS, signal)
    const directory = await this.directory()
    const { contextLength } = await directory.facts(toRequestedModel(choice))
    const isSettled = contextLength.source === 'config' || contextLength.source === 'learned'
    // By then a server on this machine has loaded the model, whatever it told before.
    if (!isSettled) await this.#probe(choice, { signal, isAgain: true })
    const { refresh } = this.#options.config.models_dev
    if (refresh && !isLocalServer(choice)) await directory.refresh({ signal })
    this.#windows.delete(keyOf(choice))
    await this.window(choice)
  }

  async #probe(
    choice: ModelChoice,
    options: { readonly signal: AbortSignal; readonly isAgain?: boolean },
  ): Promise<void> {
    const { apiKey, api, headers, quirks } = choice
    const signal = AbortSignal.any([this.#closing.signal, options.signal])
    const question = { ...toRequestedModel(choice), apiKey, api, headers, quirks }
    await (await this.directory()).probe({ ...question, ...options, signal })
  }

  /** Ends what runs in the background. */
  async close(): Promise<void> {
    this.#closing.abort()
  }
}

/** The terms of the directory. */
export function toRequestedModel({ catalogueId, baseUrl, model, contextLength }: ModelChoice): RequestedModel {
  return { provider: catalogueId, baseUrl, model, contextLength }
}

/** Is on this machine, where it may run a model with a small window, whatever the endpoint is called. */
export function isLocalServer({ baseUrl }: Pick<ModelChoice, 'baseUrl'>): boolean {
  return isThisMachine(new URL(baseUrl).hostname)
}

/** Whether a call stopped at this endpoint. */
function isOf({ provider, model }: ModelChoice, { details }: HermesError): boolean {
  return details['provider'] === provider && details['model'] === model
}

function keyOf({ baseUrl, model }: ModelChoice): string {
  return `${model}@${baseUrl}`
}

function tierBelow(tokens: number): number | undefined {
  return TIERS.find((tier) => tier < tokens)
}
