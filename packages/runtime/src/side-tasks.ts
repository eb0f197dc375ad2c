import type { HermesConfig } from '@hermes/config'
import { PROVIDERS } from '@hermes/transports'
import { chooseFallbacks } from './fallbacks.js'
import { chooseModel, type ModelChoice, type ModelWishes } from './model-choice.js'

/** What decides who does a side task. */
export interface SideTaskOptions {
  /** What `auxiliary` of config.yaml says of the task. */
  readonly settings: HermesConfig['auxiliary'][string]
  /** Who answers in the session. */
  readonly main: ModelChoice
  /** `fallback_providers`. */
  readonly fallbacks: readonly ModelChoice[]
  readonly wishes: Omit<ModelWishes, 'asked' | 'session'>
  /** Whether a model can do what the task needs, such as look at an image. Default: all can. */
  readonly can?: (choice: ModelChoice) => boolean | Promise<boolean>
}

/** Small models that do side tasks where a provider has to stand in and names none itself. */
const SMALL_MODELS: Readonly<Record<string, string>> = {
  openrouter: 'google/gemini-3-flash-preview',
  anthropic: 'claude-haiku-4-5',
  openai: 'gpt-4.1-mini',
  gemini: 'gemini-3-flash-preview',
}

/** Asked before the others, in this order. */
const FIRST = ['openrouter', 'custom', 'anthropic']

/**
 * Who does a side task, most wanted first: the model config.yaml names for it, else that of the session; then its own `fallback_chain`,
 * and `fallback_providers`. Only where the model of the session cannot do it, such as look at an image, providers whose key is there
 * come after these, and never in place of a model on the own machine: what is said to it may not be meant for others. Empty when
 * nobody can.
 * @throws HermesError as {@link chooseModel} does, for a model that config.yaml names for the task.
 */
export async function chooseForSideTask(options: SideTaskOptions): Promise<readonly ModelChoice[]> {
  const { settings, main, fallbacks, wishes, can = () => true } = options
  const named = namedFor(options)
  const chain = chooseFallbacks(settings?.fallback_chain ?? [], wishes).choices
  const isLocal = PROVIDERS.some(({ id, local }) => local && id === main.catalogueId)
  const others = named || isLocal || (await can(main)) ? [] : withKey(wishes)
  const inOrder = named ? [named, ...chain] : [main, ...chain, ...fallbacks, ...others]
  const different = inOrder.filter((choice, index) => inOrder.findIndex((other) => isSame(other, choice)) === index)
  const able = await Promise.all(different.map(can))
  return different.filter((_, index) => able[index])
}

/** The model of a task, where config.yaml says any of it. */
function namedFor({ settings, main, wishes }: SideTaskOptions): ModelChoice | null {
  const { provider, model, base_url: baseUrl, api_key: apiKey, key_env: keyEnv } = settings ?? {}
  if (provider === undefined && baseUrl === undefined) return model === undefined ? null : { ...main, model }
  if ((provider === 'main' || provider === 'auto') && baseUrl === undefined)
    return model === undefined ? null : { ...main, model }
  const asked = {
    ...(provider === undefined || provider === 'main' || provider === 'auto' ? {} : { provider }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    model: model ?? SMALL_MODELS[provider ?? ''] ?? main.model,
  }
  const choice = chooseModel({ ...wishes, asked, session: null })
  const key = apiKey ?? (keyEnv === undefined ? undefined : wishes.secrets[keyEnv])
  return key === undefined ? choice : { ...choice, apiKey: key, keySource: keyEnv ?? 'config.yaml' }
}

/** Providers that a key is there for. */
function withKey(wishes: SideTaskOptions['wishes']): readonly ModelChoice[] {
  const ids = PROVIDERS.filter(({ keyRequired }) => keyRequired).map(({ id }) => id)
  return [...FIRST, ...ids.filter((id) => !FIRST.includes(id))].flatMap((provider) => {
    const model = provider === 'custom' ? wishes.configured.model : SMALL_MODELS[provider]
    if (model === undefined) return []
    try {
      return [chooseModel({ ...wishes, asked: { provider, model }, session: null })]
    } catch {
      // Without its key or address a provider is simply not one of those that can stand in.
      return []
    }
  })
}

function isSame(left: ModelChoice, right: ModelChoice): boolean {
  return left.provider === right.provider && left.model === right.model && left.baseUrl === right.baseUrl
}
