// Why no model can answer: one line each, with what to do.

import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import { HermesError } from '@hermes/contracts'
import type { WireApi } from '@hermes/contracts/model'
import type { SessionInfo } from '@hermes/contracts/store'
import type { Provider, ProviderQuirks } from '@hermes/transports'
import {
  absentProvider,
  awsCredential,
  bedrockAddress,
  findProvider,
  keyVariablesFor,
  PROVIDERS,
  similarProviders,
} from '@hermes/transports'
import { type ModelAlias, withoutAliases } from './model-aliases.js'
import { modelNameAt, providersOf } from './model-names.js'

/** What decides which model answers, strongest first within each pair. */
export interface ModelChoiceOptions {
  /** From flags or a caller. */
  readonly requested: {
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
  /** Names of the person's own for models. Default none. */
  readonly aliases?: Readonly<Record<string, ModelAlias>>
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
interface ConfiguredModel extends Configured {
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

/** Whose keys a session uses. */
export interface SessionAccount {
  /** The key or login that it chose at a provider, by its label; `null` for none. Asked before each request. */
  readonly at: (provider: string) => Promise<string | null>
  /** Where it works, symbolic links resolved: the choice of that project counts where it made none itself. */
  readonly folder: string | null
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
  /** Whose key a session uses alone, where it or its project chose one. Default: all keys and logins of the provider. */
  readonly account?: SessionAccount | undefined
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
export function chooseModel(options: ModelChoiceOptions): ModelChoice {
  const modelOptions: ModelChoiceOptions = { ...options, ...withoutAliases(options) }
  const sources = sourcesOf(modelOptions)
  const address = addressOf(modelOptions, sources)
  const model = modelOf(modelOptions, sources, address.baseUrl)
  const apiKey = keyFor(modelOptions, sources, address.baseUrl)
  const { name, endpoint, provider, kept } = sources
  const isElsewhere = modelOptions.requested.baseUrl !== undefined
  if (apiKey === null && kept === null && provider.keyRequired && !isElsewhere) throw noKey(provider)
  const ofKey = apiKey === null ? kept?.baseUrl : addressOfKey(provider, apiKey)
  return {
    provider: endpoint ? name : provider.id,
    catalogueId: provider.id,
    model,
    baseUrl: (!address.isExplicit && ofKey) || address.baseUrl,
    apiKey,
    keySource: keySource(modelOptions, sources, { apiKey, baseUrl: address.baseUrl }),
    keyVariables: endpoint?.keyEnvs && keyVariablesOf(endpoint),
    ...settingsOf(modelOptions, sources, model),
  }
}

/** A folder with its symbolic links resolved, as far as it is there: one that was deleted, or is not on this machine, keeps its last names. */
export async function resolvedFolder(folder: string): Promise<string> {
  const above = dirname(folder)
  return realpath(folder).catch(async () =>
    above === folder ? folder : join(await resolvedFolder(above), basename(folder)),
  )
}

/** Whether a name is another one for a provider, whose keys and logins are the same then. */
export function isSamePool(provider: string): (name: string) => boolean {
  const pool = poolName(provider)
  return (name) => poolName(name) === pool
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
  /** What `auth.json` keeps for it, and for which server; `null` for nothing. */
  readonly kept: { readonly baseUrl: string | null } | null
}

function sourcesOf(modelOptions: ModelChoiceOptions): Sources {
  const { requested, session, configured, endpoints, stored = {} } = modelOptions
  const wanted =
    requested.provider ??
    (requested.baseUrl
      ? 'custom'
      : (session?.provider ?? configuredProvider(configured) ?? withKeyFor(modelOptions) ?? firstWithKey(modelOptions)))
  if (wanted === null) throw noProvider(requested.model ?? configured.model)
  const name = plainName(wanted, endpoints)
  const endpoint = endpoints[name]
  const provider = findProvider(name) ?? (endpoint ? findProvider('custom') : null)
  if (provider === null) throw unknownProvider(name, endpoints)
  const isConfigured =
    sameProvider(configured.provider, name) ||
    (name === 'custom' && configured.provider === undefined && configured.baseUrl !== undefined)
  const pool = poolName(name)
  const kept = Object.hasOwn(stored, pool) ? { baseUrl: stored[pool]! } : null
  return { name, endpoint, own: isConfigured ? configured : {}, provider, kept }
}

/** `isExplicit`: somebody chose it, rather than its being where the provider usually is. */
function addressOf(
  modelOptions: ModelChoiceOptions,
  { name, endpoint, own, provider, kept }: Sources,
): { readonly baseUrl: string; readonly isExplicit: boolean } {
  const { requested, session } = modelOptions
  const lastRequested = session?.provider === name ? (session.baseUrl ?? undefined) : undefined
  const input = requested.baseUrl ?? endpoint?.baseUrl ?? own.baseUrl ?? movedTo(provider, modelOptions)
  const baseUrl = input ?? provider.baseUrl ?? lastRequested ?? kept?.baseUrl
  if (!baseUrl) throw noAddress(name)
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) throw badAddress(baseUrl)
  return { baseUrl, isExplicit: input !== undefined }
}

function modelOf(
  { requested, session, configured }: ModelChoiceOptions,
  { name, endpoint, own, provider }: Sources,
  baseUrl: string,
): string {
  const inSession = session?.provider === name ? (session.model ?? undefined) : undefined
  const model =
    requested.model ??
    inSession ??
    endpoint?.model ??
    own.model ??
    (requested.provider === undefined ? configured.model : undefined) ??
    provider.defaultModel
  // Servers of one's own, and gateways at another address, have names of their own.
  const isElsewhere = endpoint !== undefined || requested.baseUrl !== undefined || !isHouseOf(provider, baseUrl)
  if (model) return isElsewhere ? model : modelNameAt(provider, model)
  throw noModel(name)
}

/** Whether an address is one of those where the catalogue finds the provider. */
function isHouseOf({ baseUrl: usual, keyAddresses = [] }: Provider, baseUrl: string): boolean {
  const houses = [usual, ...keyAddresses.map((address) => address.baseUrl)]
  return usual === null || houses.some((house) => house !== null && new URL(house).host === new URL(baseUrl).host)
}

/** How it is asked; what is said of the model counts more than what is said of the endpoint. */
function settingsOf({ bedrock }: ModelChoiceOptions, { endpoint, own, provider }: Sources, model: string) {
  const facts = endpoint?.models?.[model]
  return {
    api: endpoint?.api ?? own.api,
    quirks: endpoint?.quirks,
    contextLength: facts?.contextLength ?? endpoint?.contextLength ?? own.contextLength,
    headers: endpoint?.headers ?? own.headers,
    body: provider.auth === 'aws' ? (endpoint?.body ?? bedrock?.body) : endpoint?.body,
    timeoutMs: facts?.timeoutMs ?? endpoint?.timeoutMs,
    stallTimeoutMs: facts?.stallTimeoutMs ?? endpoint?.stallTimeoutMs,
  }
}

/** What stands for "no key" in config.yaml. */
const NO_KEY = /^(?:none|no-key-required)$/i

function keyFor(
  { requested, secrets }: ModelChoiceOptions,
  { name, endpoint, own, provider, kept }: Sources,
  baseUrl: string,
): string | null {
  if (requested.keyEnv !== undefined) return secrets[requested.keyEnv] || null
  const written = endpoint?.apiKey ?? firstOf(keyVariablesOf(endpoint), secrets) ?? own.apiKey
  const configured = written ?? (own.keyEnv ? secrets[own.keyEnv] : undefined)
  if (configured !== undefined) return NO_KEY.test(configured) ? null : configured
  if (provider.auth === 'aws') return awsCredential(secrets)
  const allowed = keyVariablesFor(provider, baseUrl)
  const found = firstOf(allowed, secrets)
  const isForeign = allowed.length === 0 && firstOf(provider.keyVariables, secrets) !== undefined
  if (found === undefined && kept === null && isForeign) throw foreignKey(provider, baseUrl, endpoint ? name : null)
  return found ?? null
}

/** Where a key is from, unless it is where one of this provider usually is. */
function keySource(
  { requested, secrets }: ModelChoiceOptions,
  { endpoint, own, provider }: Sources,
  { apiKey, baseUrl }: Pick<ModelChoice, 'apiKey' | 'baseUrl'>,
): string | undefined {
  if (apiKey === null) return undefined
  const named = [requested.keyEnv, ...keyVariablesOf(endpoint), own.keyEnv]
  const variables = [...named, ...keyVariablesFor(provider, baseUrl)]
  const variable = variables.find((name) => name !== undefined && secrets[name] === apiKey)
  if (variable === undefined) return provider.auth === 'aws' ? 'credentials of AWS' : 'config.yaml'
  return provider.id !== 'custom' && variable === provider.keyVariables[0] ? undefined : variable
}

/** The address that a variable moves a provider to. */
function movedTo({ baseUrlVariable, auth }: Provider, { secrets, bedrock }: ModelChoiceOptions): string | undefined {
  const moved = baseUrlVariable && secrets[baseUrlVariable]
  if (moved || auth !== 'aws') return moved || undefined
  return bedrockAddress(bedrock?.region ? { AWS_REGION: bedrock.region } : secrets) ?? undefined
}

function addressOfKey({ keyAddresses = [] }: Provider, apiKey: string | null): string | undefined {
  return keyAddresses.find(({ prefix }) => apiKey?.startsWith(prefix))?.baseUrl
}

/** The name of an endpoint of config.yaml, which may be written as `custom:NAME` or by an alias too, also one of the catalogue; else the name as it is. */
export function plainName(wanted: string, endpoints: ModelChoiceOptions['endpoints']): string {
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

/** Where the model that is wanted is served, among the providers whose key is there. */
function withKeyFor({ requested, configured, secrets, stored = {} }: ModelChoiceOptions): string | null {
  const model = requested.model ?? configured.model
  const hasKey = (id: string) =>
    Object.hasOwn(stored, id) || firstOf(findProvider(id)?.keyVariables ?? [], secrets) !== undefined
  return (model && providersOf(model).find(hasKey)) || null
}

function firstWithKey({ secrets, stored = {} }: ModelChoiceOptions): string | null {
  const withKey = PROVIDERS.find(
    (provider) => provider.keyRequired && firstOf(provider.keyVariables, secrets) !== undefined,
  )
  return (withKey ?? PROVIDERS.find(({ id }) => Object.hasOwn(stored, id)))?.id ?? null
}

function firstOf(names: readonly string[], secrets: Readonly<Record<string, string>>): string | undefined {
  return names.map((name) => secrets[name]).find((value) => value !== undefined && value !== '')
}

/** A provider that neither the catalogue nor config.yaml has. */
function unknownProvider(
  name: string,
  endpoints: Readonly<Record<string, { readonly aliases?: readonly string[] | undefined }>>,
): HermesError {
  const absent = absentProvider(name)
  if (absent !== null)
    return new HermesError(`Hermes does not offer the provider ${name}: ${absent}`, { code: 'models.unknown_provider' })
  const own = Object.entries(endpoints).flatMap(([id, { aliases = [] }]) => [id, ...aliases])
  const meant = similarProviders(name, own)
  const hint = meant.length > 0 ? ` Did you mean ${meant.join(' or ')}?` : ''
  const valid = [...own, ...PROVIDERS.map(({ id }) => id)].join(', ')
  return new HermesError(`Unknown provider "${name}".${hint} Valid providers: ${valid}.`, {
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

function noAddress(name: string): HermesError {
  return new HermesError(`Provider ${name} needs an address: --base-url URL, or model.base_url in config.yaml.`, {
    code: 'runtime.no_base_url',
  })
}

function badAddress(baseUrl: string): HermesError {
  return new HermesError(`"${baseUrl}" is not a web address. It should look like http://127.0.0.1:8080/v1`, {
    code: 'runtime.bad_base_url',
  })
}

function noModel(name: string): HermesError {
  return new HermesError(`No model chosen for ${name}: pass -m MODEL, or run: hermes config set model.default MODEL`, {
    code: 'models.no_model',
  })
}

const NAMED_VARIABLES = 3

/** `model`: the one that was named without a provider. */
function noProvider(model: string | undefined): HermesError {
  const variables = PROVIDERS.flatMap((provider) =>
    provider.keyRequired ? (provider.keyVariables[0] ?? []) : [],
  ).slice(0, NAMED_VARIABLES)
  return new HermesError(
    `${model === undefined ? 'No model is set up.' : `Nothing says where to ask ${model}.`} Set ${variables.join(' or ')} (export ${variables[0]}=…), or use a local one: --provider ollama -m MODEL, or --base-url URL -m MODEL. To look around without a key: hermes demo`,
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
