import { HermesError } from '@hermes/contracts'
import type { WireApi } from '@hermes/contracts/model'
import type { SessionInfo } from '@hermes/contracts/store'
import { findProvider, PROVIDERS, type Provider } from '@hermes/transports'

/** What decides which model answers, strongest first within each pair. */
export interface ModelWishes {
  /** From flags or a caller. */
  readonly asked: { readonly provider?: string; readonly model?: string; readonly baseUrl?: string }
  /** What the session being continued last used. */
  readonly session: Pick<SessionInfo, 'provider' | 'model' | 'baseUrl'> | null
  /** From config.yaml. */
  readonly configured: ConfiguredModel
  /** Named endpoints of config.yaml. */
  readonly endpoints: Readonly<Record<string, ConfiguredEndpoint>>
  /** Environment and `.env` values by name. */
  readonly secrets: Readonly<Record<string, string>>
}

export interface ConfiguredModel {
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly baseUrl?: string | undefined
  readonly apiKey?: string | undefined
  readonly api?: WireApi | undefined
}

export interface ConfiguredEndpoint {
  readonly baseUrl?: string | undefined
  readonly apiKey?: string | undefined
  readonly keyEnv?: string | undefined
  readonly model?: string | undefined
  readonly api?: WireApi | undefined
  readonly timeoutMs?: number | undefined
  readonly stallTimeoutMs?: number | undefined
}

/** Which model to ask, where and with which key. */
export interface ModelChoice {
  /** The provider's id, or the name of an endpoint of config.yaml. */
  readonly provider: string
  /** The entry of the provider catalogue that knows how to talk to it. */
  readonly catalogueId: string
  readonly model: string
  readonly baseUrl: string
  readonly apiKey: string | null
  /** The wire, where the configuration names one. Default: judged by provider and address. */
  readonly api?: WireApi | undefined
  /** Until the first byte of an answer. Default: that of the transport. */
  readonly timeoutMs?: number | undefined
  /** Without progress in an answer that has begun. Default: that of the transport. */
  readonly stallTimeoutMs?: number | undefined
}

/**
 * Decides which model answers. Pure.
 * @throws HermesError `models.unknown_provider`, `models.no_model`, `models.no_key`, `runtime.no_base_url`: one line, with what to do.
 */
export function chooseModel(wishes: ModelWishes): ModelChoice {
  const { asked, session, configured, endpoints, secrets } = wishes
  const name =
    asked.provider ??
    (asked.baseUrl ? 'custom' : (session?.provider ?? configuredProvider(configured) ?? firstWithKey(secrets)))
  if (name === null) throw noProvider()
  const endpoint = endpoints[name]
  const provider = findProvider(name) ?? (endpoint ? findProvider('custom')! : unknownProvider(name, endpoints))
  const isConfigured =
    sameProvider(configured.provider, name) ||
    (name === 'custom' && configured.provider === undefined && configured.baseUrl !== undefined)
  const own = isConfigured ? configured : {}
  const lastAsked = session?.provider === name ? (session.baseUrl ?? undefined) : undefined
  const baseUrl = asked.baseUrl ?? endpoint?.baseUrl ?? own.baseUrl ?? provider.baseUrl ?? lastAsked
  if (!baseUrl)
    throw new HermesError(`Provider ${name} needs an address: --base-url URL, or model.base_url in config.yaml.`, {
      code: 'runtime.no_base_url',
    })
  checkBaseUrl(baseUrl)
  const inSession = session?.provider === name ? (session.model ?? undefined) : undefined
  const model =
    asked.model ??
    inSession ??
    endpoint?.model ??
    own.model ??
    (asked.provider === undefined ? configured.model : undefined) ??
    provider.defaultModel
  if (!model)
    throw new HermesError(`No model chosen for ${name}: pass -m MODEL, or run: hermes config set model.default MODEL`, {
      code: 'models.no_model',
    })
  const apiKey =
    endpoint?.apiKey ??
    (endpoint?.keyEnv ? secrets[endpoint.keyEnv] : undefined) ??
    own.apiKey ??
    keyOf(provider, secrets) ??
    null
  if (apiKey === null && provider.keyRequired && asked.baseUrl === undefined) throw noKey(provider)
  const { timeoutMs, stallTimeoutMs } = endpoint ?? {}
  const api = endpoint?.api ?? own.api
  const id = endpoint ? name : provider.id
  return { provider: id, catalogueId: provider.id, model, baseUrl, apiKey, api, timeoutMs, stallTimeoutMs }
}

function configuredProvider(configured: ConfiguredModel): string | undefined {
  if (configured.provider && configured.provider !== 'auto') return configured.provider
  return configured.baseUrl ? 'custom' : undefined
}

function sameProvider(left: string | undefined, right: string): boolean {
  return (
    left !== undefined &&
    (left === right || findProvider(left)?.id === findProvider(right)?.id) &&
    findProvider(left) !== null
  )
}

function firstWithKey(secrets: Readonly<Record<string, string>>): string | null {
  return PROVIDERS.find((provider) => provider.keyRequired && keyOf(provider, secrets) !== undefined)?.id ?? null
}

function keyOf(provider: Provider, secrets: Readonly<Record<string, string>>): string | undefined {
  return provider.keyVariables.map((variable) => secrets[variable]).find((value) => value !== undefined && value !== '')
}

function unknownProvider(name: string, endpoints: ModelWishes['endpoints']): never {
  const valid = [...PROVIDERS.map(({ id }) => id), ...Object.keys(endpoints)].join(', ')
  throw new HermesError(`Unknown provider "${name}". Valid providers: ${valid}.`, { code: 'models.unknown_provider' })
}

function checkBaseUrl(baseUrl: string): void {
  if (URL.canParse(baseUrl) && /^https?:$/.test(new URL(baseUrl).protocol)) return
  throw new HermesError(`"${baseUrl}" is not a web address. It should look like http://127.0.0.1:8080/v1`, {
    code: 'runtime.bad_base_url',
  })
}

function noProvider(): HermesError {
  const variables = PROVIDERS.filter((provider) => provider.keyRequired).map((provider) => provider.keyVariables[0])
  return new HermesError(
    `No model is set up. Set ${variables.join(' or ')} (export ${variables[0]}=…), or use a local one: --provider ollama -m MODEL, or --base-url URL -m MODEL. To look around without a key: hermes demo`,
    { code: 'models.no_key' },
  )
}

function noKey(provider: Provider): HermesError {
  const variable = provider.keyVariables[0] ?? 'a key'
  return new HermesError(
    `${provider.name} needs a key: export ${variable}=…, or put ${variable}=… into the .env file of the Hermes home.`,
    { code: 'models.no_key' },
  )
}
