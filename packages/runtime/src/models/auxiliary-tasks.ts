import type { HermesConfig } from '@hermes/config'
import { isJsonObject } from '@hermes/contracts'
import { isThisMachine } from '@hermes/safety'
import { findProvider, PROVIDERS, type Provider } from '@hermes/transports'
import { chooseFallbacks } from './fallbacks.js'
import { chooseModel, type ModelChoice, type ModelChoiceOptions, plainName } from './model-choice.js'

/** What decides who does a auxiliary task. */
export interface AuxiliaryTaskOptions {
  /** What `auxiliary` of config.yaml says of the task. */
  readonly settings: HermesConfig['auxiliary'][string]
  /** Who answers in the session. */
  readonly main: ModelChoice
  /** `fallback_providers`. */
  readonly fallbacks: readonly ModelChoice[]
  readonly modelOptions: Omit<ModelChoiceOptions, 'requested' | 'session'>
  /** What the task is about. Default `text`. */
  readonly kind?: 'text' | 'vision'
  /** Whether a model can do what the task needs, such as look at an image. Default: all can. */
  readonly can?: (choice: ModelChoice) => boolean | Promise<boolean>
}

/** Small models that do auxiliary tasks where a provider has to stand in and names none itself. */
const SMALL_MODELS: Readonly<Record<string, string>> = {
  openrouter: 'google/gemini-3-flash-preview',
  nous: 'google/gemini-3-flash-preview',
  'ai-gateway': 'google/gemini-3-flash-preview',
  kilocode: 'google/gemini-3-flash-preview',
  anthropic: 'claude-haiku-4-5',
  openai: 'gpt-4.1-mini',
  gemini: 'gemini-3-flash-preview',
  zai: 'glm-5.3-flash',
  'kimi-coding': 'kimi-k2.6',
  'kimi-coding-cn': 'kimi-k2.6',
  xai: 'grok-4.6-fast',
}

/** Asked before the others, in this order; those that serve models of all kinds before those of one house. */
const FIRST = {
  text: ['openrouter', 'nous', 'custom', 'anthropic'],
  vision: ['openrouter', 'nous', 'anthropic', 'custom'],
} as const

/**
 * Who does a auxiliary task, most wanted first: the model config.yaml names for it, and its own `fallback_chain`; else that of the session,
 * that chain, `fallback_providers`, and then every provider that a key or login is there for. Never in place of a model on the own machine
 * or network, nor where config.yaml says `provider: main`: what is said there may not be meant for others. Empty when nobody can.
 * @throws HermesError as {@link chooseModel} does, for a model that config.yaml names for the task.
 */
export async function chooseForAuxiliaryTask(options: AuxiliaryTaskOptions): Promise<readonly ModelChoice[]> {
  const { settings, main, fallbacks, modelOptions, kind = 'text', can = () => true } = options
  const named = namedFor(options)
  const first = withBody(named ?? main, settings)
  const chain = chooseFallbacks(settings?.fallback_chain ?? [], modelOptions).choices
  const others = named || settings?.provider === 'main' || isLocal(main) ? [] : withKey(modelOptions, kind)
  const inOrder = named ? [first, ...chain] : [first, ...chain, ...fallbacks, ...others]
  const different = inOrder.filter((choice, index) => inOrder.findIndex((other) => isSame(other, choice)) === index)
  const able = await Promise.all(different.map(can))
  return different.filter((_, index) => able[index])
}

/** The model of a task, where config.yaml says any of it. */
function namedFor({ settings, main, modelOptions }: AuxiliaryTaskOptions): ModelChoice | null {
  const { provider, model, base_url: baseUrl, api_key: apiKey, key_env: keyEnv } = settings ?? {}
  if (provider === undefined && baseUrl === undefined) return model === undefined ? null : { ...main, model }
  if ((provider === 'main' || provider === 'auto') && baseUrl === undefined)
    return model === undefined ? null : { ...main, model }
  const requested = {
    ...(provider === undefined || provider === 'main' || provider === 'auto' ? {} : { provider }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    model: model ?? ownModel(provider, modelOptions) ?? smallModel(findProvider(provider ?? '')) ?? main.model,
  }
  const choice = chooseModel({ ...modelOptions, requested, session: null })
  const key = apiKey ?? (keyEnv === undefined ? undefined : modelOptions.secrets[keyEnv])
  return key === undefined ? choice : { ...choice, apiKey: key, keySource: keyEnv ?? 'config.yaml' }
}

/** With the fields that the task adds to each request; whoever stands in may not know them. */
function withBody(choice: ModelChoice, settings: AuxiliaryTaskOptions['settings']): ModelChoice {
  const body = settings?.extra_body
  return isJsonObject(body) ? { ...choice, body: { ...choice.body, ...body } } : choice
}

const OWN_NETWORK = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[f[cd])|\.(?:local|lan|internal)$/

/** Whether what is said to a model stays in the house. */
function isLocal({ catalogueId, baseUrl }: ModelChoice): boolean {
  const { hostname } = new URL(baseUrl)
  return findProvider(catalogueId)?.local === true || isThisMachine(hostname) || OWN_NETWORK.test(hostname)
}

/** What config.yaml names as the model of an endpoint. */
function ownModel(
  provider: string | undefined,
  { endpoints }: AuxiliaryTaskOptions['modelOptions'],
): string | undefined {
  return provider === undefined ? undefined : endpoints[plainName(provider, endpoints)]?.model
}

function smallModel(provider: Provider | null): string | undefined {
  return provider ? (SMALL_MODELS[provider.id] ?? provider.defaultModel) : undefined
}

/** Providers that a key or login is there for; a key that belongs to other tools too is not taken unasked. */
function withKey(modelOptions: AuxiliaryTaskOptions['modelOptions'], kind: keyof typeof FIRST): readonly ModelChoice[] {
  const { secrets, stored = {}, configured } = modelOptions
  const isOurs = ({ id, keyVariables }: Provider) =>
    Object.hasOwn(stored, id) || keyVariables.some((name) => Boolean(secrets[name]))
  const first: readonly string[] = FIRST[kind]
  const ids = PROVIDERS.filter((one) => one.keyRequired && isOurs(one)).map(({ id }) => id)
  const inOrder = [
    ...first.filter((id) => id === 'custom' || ids.includes(id)),
    ...ids.filter((id) => !first.includes(id)),
  ]
  return inOrder.flatMap((provider) => {
    const model = provider === 'custom' ? configured.model : smallModel(findProvider(provider))
    if (model === undefined) return []
    try {
      return [chooseModel({ ...modelOptions, requested: { provider, model }, session: null })]
    } catch {
      // Without its key or address a provider is simply not one of those that can stand in.
      return []
    }
  })
}

function isSame(left: ModelChoice, right: ModelChoice): boolean {
  return left.provider === right.provider && left.model === right.model && left.baseUrl === right.baseUrl
}
