import { HermesError, type JsonObject } from '@hermes/contracts'
import type { WireApi } from '@hermes/contracts/model'
import type { SessionInfo } from '@hermes/contracts/store'
import {
  absentProvider,
  awsCredential,
  bedrockAddress,
  findProvider,
  keyVariablesFor,
  PROVIDERS,
  type Provider,
  type ProviderQuirks,
  similarProviders,
} from '@hermes/transports'

/** What decides which model answers, strongest first within each pair. */
export interface ModelWishes {
  /** From flags or a caller. */
  readonly asked: {
    readonly provider?: string
    readonly model?: string
    readonly baseUrl?: string
    /** The variable that holds the key. */
    readonly keyEnv?: string
  }
  /** What the session being continued last used. */
  readonly session: Pick<SessionInfo, 'provider' | 'model' | 'baseUrl'> | null
  /** From config.yaml. */
  readonly configured: ConfiguredModel
  /** Named endpoints of config.yaml. */
  readonly endpoints: Readonly<Record<string, ConfiguredEndpoint>>
  /** What config.yaml says about Bedrock. */
  readonly bedrock?: ConfiguredBedrock
  /** Environment and `.env` values by name. */
  readonly secrets: Readonly<Record<string, string>>
  /** Providers with keys or logins in `auth.json`, each with the server they are for; `null` for the provider's own. Default none. */
  readonly stored?: Readonly<Record<string, string | null>>
}

/** What config.yaml says about Bedrock. */
interface ConfiguredBedrock {
  /** Counts more than the variables of AWS. */
  readonly region?: string | undefined
  /** Further members of each request. */
  readonly body?: JsonObject | undefined
}

/** What config.yaml says about one model of an endpoint. */
export interface ConfiguredModelFacts {
  /** Tokens. */
  readonly contextLength?: number | undefined
  /** Until the first byte of an answer. */
  readonly timeoutMs?: number | undefined
  /** Without progress in an answer that has begun. */
  readonly stallTimeoutMs?: number | undefined
}

/** What config.yaml can say about any endpoint. */
interface Configured {
  readonly model?: string | undefined
  readonly baseUrl?: string | undefined
  /** `none` where the endpoint wants none. */
  readonly apiKey?: string | undefined
  readonly keyEnv?: string | undefined
  readonly api?: WireApi | undefined
  /** Tokens. */
  readonly contextLength?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** `model` of config.yaml: who answers where neither a flag nor the session says. */
export interface ConfiguredModel extends Configured {
  readonly provider?: string | undefined
}

/** An entry of `providers` in config.yaml: an endpoint of its own, or what differs for a provider of the catalogue. */
export interface ConfiguredEndpoint extends Configured {
  /** Other names of it. */
  readonly aliases?: readonly string[] | undefined
  /** Further variables with keys. */
  readonly keyEnvs?: readonly string[] | undefined
  /** How it departs from what the catalogue says of it. */
  readonly quirks?: ProviderQuirks | undefined
  /** By the model's id; counts more than what is said for the whole endpoint. */
  readonly models?: Readonly<Record<string, ConfiguredModelFacts>>
  /** Further members of each request. */
  readonly body?: JsonObject | undefined
  /** Until the first byte of an answer. Default: that of the transport. */
  readonly timeoutMs?: number | undefined
  /** Without progress in an answer that has begun. Default: that of the transport. */
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
  /** Where the key is from, for messages: the name of a variable, or `config.yaml`. */
  readonly keySource?: string | undefined
  /** Variables with keys of this endpoint, as the configuration names them. */
  readonly keyVariables?: readonly string[] | undefined
  /** The wire, where the configuration names one. Default: judged by provider and address. */
  readonly api?: WireApi | undefined
  /** How the endpoint departs from what the catalogue says of it, where the configuration says. */
  readonly quirks?: ProviderQuirks | undefined
  /** Tokens of the model's window, where the configuration says. */
  readonly contextLength?: number | undefined
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Further fields of each request body. */
  readonly body?: JsonObject | undefined
  /** Until the first byte of an answer. Default: that of the transport. */
  readonly timeoutMs?: number | undefined
  /** Without progress in an answer that has begun. Default: that of the transport. */
  readonly stallTimeoutMs?: number | undefined
}

/**
 * Decides which model answers. Pure.
 * @throws HermesError `models.unknown_provider`, `models.no_model`, `models.no_key`, `models.foreign_key`, `runtime.no_base_url`: one
 * line, with what to do.
 */
export function chooseModel(wishes: ModelWishes): ModelChoice {
  const { asked, session, configured, endpoints, secrets, stored = {} } = wishes
  const wanted =
    asked.provider ??
    (asked.baseUrl ? 'custom' : (session?.provider ?? configuredProvider(configured) ?? firstWithKey(wishes)))
  if (wanted === null) throw noProvider()
  const name = plainName(wanted, endpoints)
  const endpoint = endpoints[name]
  const provider = findProvider(name) ?? (endpoint ? findProvider('custom')! : unknownProvider(name, endpoints))
  const isConfigured =
    sameProvider(configured.provider, name) ||
    (name === 'custom' && configured.provider === undefined && configured.baseUrl !== undefined)
  const own: ConfiguredModel = isConfigured ? configured : {}
  const lastAsked = session?.provider === name ? (session.baseUrl ?? undefined) : undefined
  const hasStored = Object.hasOwn(stored, poolName(name))
  const given = asked.baseUrl ?? endpoint?.baseUrl ?? own.baseUrl ?? movedTo(provider, wishes)
  const storedFor = hasStored ? stored[poolName(name)]! : null
  const baseUrl = given ?? provider.baseUrl ?? lastAsked ?? storedFor
  if (!baseUrl)
    throw new HermesError(`Provider ${name} needs an address: --base-url URL, or model.base_url in config.yaml.`, {
      code: 'runtime.no_base_url',
    })
  checkBaseUrl(baseUrl)
  const model = modelOf(wishes, { name, endpoint, own, provider })
  const isElsewhere = asked.baseUrl !== undefined
  const apiKey = keyFor({ name, provider, baseUrl, endpoint, own, secrets, asked, hasStored })
  if (apiKey === null && !hasStored && provider.keyRequired && !isElsewhere) throw noKey(provider)
  const facts = endpoint?.models?.[model]
  return {
    provider: endpoint ? name : provider.id,
    catalogueId: provider.id,
    model,
    baseUrl: (given === undefined && (apiKey === null ? storedFor : addressOfKey(provider, apiKey))) || baseUrl,
    apiKey,
    keySource: keySource(apiKey, {
      provider,
      baseUrl,
      secrets,
      named: [asked.keyEnv, ...keyVariablesOf(endpoint), own.keyEnv],
    }),
    keyVariables: endpoint?.keyEnvs && keyVariablesOf(endpoint),
    api: endpoint?.api ?? own.api,
    quirks: endpoint?.quirks,
    contextLength: facts?.contextLength ?? endpoint?.contextLength ?? own.contextLength,
    headers: endpoint?.headers ?? own.headers,
    body: provider.auth === 'aws' ? (endpoint?.body ?? wishes.bedrock?.body) : endpoint?.body,
    timeoutMs: facts?.timeoutMs ?? endpoint?.timeoutMs,
    stallTimeoutMs: facts?.stallTimeoutMs ?? endpoint?.stallTimeoutMs,
  }
}

/** The name of a provider in `auth.json`: its id, or `custom:NAME` for an endpoint of config.yaml. */
export function poolName(provider: string): string {
  return findProvider(provider)?.id ?? `custom:${provider}`
}

/** Where to look for a value, most telling first. */
interface Sources {
  readonly name: string
  readonly endpoint: ConfiguredEndpoint | undefined
  readonly own: ConfiguredModel
  readonly provider: Provider
}

function modelOf({ asked, session, configured }: ModelWishes, { name, endpoint, own, provider }: Sources): string {
  const inSession = session?.provider === name ? (session.model ?? undefined) : undefined
  const model =
    asked.model ??
    inSession ??
    endpoint?.model ??
    own.model ??
    (asked.provider === undefined ? configured.model : undefined) ??
    provider.defaultModel
  if (model) return model
  throw new HermesError(`No model chosen for ${name}: pass -m MODEL, or run: hermes config set model.default MODEL`, {
    code: 'models.no_model',
  })
}

/** What stands for "no key" in config.yaml. */
const NO_KEY = /^(?:none|no-key-required)$/i

function keyFor({
  name,
  provider,
  baseUrl,
  endpoint,
  own,
  secrets,
  asked,
  hasStored,
}: Sources & Pick<ModelWishes, 'secrets' | 'asked'> & { readonly baseUrl: string; readonly hasStored: boolean }):
  | string
  | null {
  if (asked.keyEnv !== undefined) return secrets[asked.keyEnv] || null
  const written = endpoint?.apiKey ?? firstOf(keyVariablesOf(endpoint), secrets) ?? own.apiKey
  const configured = written ?? (own.keyEnv ? secrets[own.keyEnv] : undefined)
  if (configured !== undefined) return NO_KEY.test(configured) ? null : configured
  if (provider.auth === 'aws') return awsCredential(secrets)
  const allowed = keyVariablesFor(provider, baseUrl)
  const found = firstOf(allowed, secrets)
  if (
    found === undefined &&
    !hasStored &&
    allowed.length === 0 &&
    firstOf(provider.keyVariables, secrets) !== undefined
  )
    throw foreignKey(provider, baseUrl, endpoint ? name : null)
  return found ?? null
}

/** Where a key is from, unless it is where one of this provider usually is. */
function keySource(
  apiKey: string | null,
  {
    provider,
    baseUrl,
    secrets,
    named,
  }: Pick<Sources, 'provider'> &
    Pick<ModelWishes, 'secrets'> & { readonly baseUrl: string; readonly named: readonly (string | undefined)[] },
): string | undefined {
  if (apiKey === null) return undefined
  const variables = [...named, ...keyVariablesFor(provider, baseUrl)]
  const variable = variables.find((name) => name !== undefined && secrets[name] === apiKey)
  if (variable === undefined) return provider.auth === 'aws' ? 'credentials of AWS' : 'config.yaml'
  return provider.id !== 'custom' && variable === provider.keyVariables[0] ? undefined : variable
}

/** The address that a variable moves a provider to. */
function movedTo({ baseUrlVariable, auth }: Provider, { secrets, bedrock }: ModelWishes): string | undefined {
  const moved = baseUrlVariable && secrets[baseUrlVariable]
  if (moved || auth !== 'aws') return moved || undefined
  return bedrockAddress(bedrock?.region ? { AWS_REGION: bedrock.region } : secrets) ?? undefined
}

function addressOfKey({ keyAddresses = [] }: Provider, apiKey: string | null): string | undefined {
  return keyAddresses.find(({ prefix }) => apiKey?.startsWith(prefix))?.baseUrl
}

/** The name of an endpoint of config.yaml, which may be written as `custom:NAME` or by an alias too, also one of the catalogue; else the name as it is. */
export function plainName(wanted: string, endpoints: ModelWishes['endpoints']): string {
  const name = wanted.replace(/^custom:/, '')
  if (Object.hasOwn(endpoints, name)) return name
  const known = findProvider(wanted)
  if (known) return Object.keys(endpoints).find((one) => findProvider(one)?.id === known.id) ?? wanted
  const lower = name.toLowerCase()
  const found = Object.entries(endpoints).find(([, { aliases }]) => aliases?.some((one) => one.toLowerCase() === lower))
  return found?.[0] ?? wanted
}

function keyVariablesOf(endpoint: ConfiguredEndpoint | undefined): readonly string[] {
  return [...(endpoint?.keyEnv === undefined ? [] : [endpoint.keyEnv]), ...(endpoint?.keyEnvs ?? [])]
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

function firstWithKey({ secrets, stored = {} }: ModelWishes): string | null {
  const withKey = PROVIDERS.find(
    (provider) => provider.keyRequired && firstOf(provider.keyVariables, secrets) !== undefined,
  )
  return (withKey ?? PROVIDERS.find(({ id }) => Object.hasOwn(stored, id)))?.id ?? null
}

function firstOf(names: readonly string[], secrets: Readonly<Record<string, string>>): string | undefined {
  return names.map((name) => secrets[name]).find((value) => value !== undefined && value !== '')
}

function unknownProvider(name: string, endpoints: ModelWishes['endpoints']): never {
  const absent = absentProvider(name)
  if (absent !== null)
    throw new HermesError(`Hermes does not offer the provider ${name}: ${absent}`, { code: 'models.unknown_provider' })
  const own = Object.entries(endpoints).flatMap(([id, { aliases = [] }]) => [id, ...aliases])
  const meant = similarProviders(name, own)
  const hint = meant.length > 0 ? ` Did you mean ${meant.join(' or ')}?` : ''
  const valid = [...own, ...PROVIDERS.map(({ id }) => id)].join(', ')
  throw new HermesError(`Unknown provider "${name}".${hint} Valid providers: ${valid}.`, {
    code: 'models.unknown_provider',
  })
}

/** A key goes to whom it was made for; an endpoint without a name could be anybody. */
function foreignKey(provider: Provider, baseUrl: string, name: string | null): HermesError {
  const [variable] = provider.keyVariables
  const where = name === null ? 'model.key_env' : `providers.${name}.key_env`
  return new HermesError(
    `${variable} is not sent to ${new URL(baseUrl).host}: name the variable with its key as ${where} in config.yaml (${variable} itself, if you trust it), or set ${where.replace('key_env', 'api_key')} to none.`,
    { code: 'models.foreign_key', details: { provider: name ?? provider.id } },
  )
}

function checkBaseUrl(baseUrl: string): void {
  if (URL.canParse(baseUrl) && /^https?:$/.test(new URL(baseUrl).protocol)) return
  throw new HermesError(`"${baseUrl}" is not a web address. It should look like http://127.0.0.1:8080/v1`, {
    code: 'runtime.bad_base_url',
  })
}

const NAMED_VARIABLES = 3

function noProvider(): HermesError {
  const variables = PROVIDERS.flatMap((provider) =>
    provider.keyRequired ? (provider.keyVariables[0] ?? []) : [],
  ).slice(0, NAMED_VARIABLES)
  return new HermesError(
    `No model is set up. Set ${variables.join(' or ')} (export ${variables[0]}=…), or use a local one: --provider ollama -m MODEL, or --base-url URL -m MODEL. To look around without a key: hermes demo`,
    { code: 'models.no_key' },
  )
}

function noKey(provider: Provider): HermesError {
  const variable = provider.keyVariables[0] ?? provider.sharedKeyVariables[0]
  if (variable === undefined)
    return new HermesError(`${provider.name} needs a sign-in: hermes auth add ${provider.id}`, {
      code: 'models.no_key',
    })
  return new HermesError(
    `${provider.name} needs a key: export ${variable}=…, or put ${variable}=… into the .env file of the Hermes home.`,
    { code: 'models.no_key' },
  )
}
