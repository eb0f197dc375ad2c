import type { HermesConfig, ProviderSettings } from '@hermes/config'
import type { JsonObject } from '@hermes/contracts'
import { isJsonObject } from '@hermes/contracts'
import type { WireApi } from '@hermes/contracts/model'
import type { ProviderQuirks } from '@hermes/transports'
import type { ConfiguredEndpoint, ConfiguredModelFacts } from './model-choice.js'

/** The endpoints that config.yaml names, under `providers` or, in the older form of a list without quirks and aliases, under `custom_providers`. */
export function namedEndpoints(config: HermesConfig): Readonly<Record<string, ConfiguredEndpoint>> {
  const listed = config.custom_providers.flatMap((entry): [string, ConfiguredEndpoint][] => {
    if (!isJsonObject(entry) || typeof entry['name'] !== 'string' || entry['name'].trim() === '') return []
    const { quirks: _q, aliases: _a, key_envs: _k, ...plain } = entry as ProviderSettings
    return [[entry['name'].trim(), toEndpoint(plain)]]
  })
  const mapped = Object.entries(config.providers).map(([name, entry]): [string, ConfiguredEndpoint] => [
    name,
    toEndpoint(entry),
  ])
  return Object.fromEntries([...listed, ...mapped])
}

function toEndpoint(entry: ProviderSettings): ConfiguredEndpoint {
  return {
    aliases: entry.aliases,
    baseUrl: textOf(entry.base_url),
    apiKey: textOf(entry.api_key),
    keyEnv: textOf(entry.key_env),
    keyEnvs: entry.key_envs,
    model: textOf(entry.model) ?? onlyName(entry.models),
    models: modelFacts(entry.models),
    api: toApi(entry.api_mode),
    quirks: toQuirks(entry.quirks),
    contextLength: numberOf(entry.context_length),
    headers: toHeaders(entry.extra_headers),
    body: toBody(entry.extra_body),
    timeoutMs: toMs(entry.request_timeout_seconds),
    stallTimeoutMs: toMs(entry.stale_timeout_seconds),
  }
}

/** An endpoint with one model needs no default. */
function onlyName(models: unknown): string | undefined {
  const names = namesOf(models)
  return names.length === 1 ? names[0] : undefined
}

/** The names of `models` of an entry of `providers`, a map or a list. */
export function namesOf(models: unknown): readonly string[] {
  if (isJsonObject(models)) return Object.keys(models)
  if (!Array.isArray(models)) return []
  return models.flatMap((item: unknown) => {
    if (typeof item === 'string') return item
    return isJsonObject(item) && typeof item['id'] === 'string' ? item['id'] : []
  })
}

function modelFacts(models: unknown): Readonly<Record<string, ConfiguredModelFacts>> {
  const entries = isJsonObject(models) ? Object.entries(models) : namesOf(models).map((name) => [name, {}] as const)
  return Object.fromEntries(
    entries.map(([name, facts]) => {
      const { context_length, timeout_seconds, stale_timeout_seconds } = isJsonObject(facts) ? facts : {}
      return [
        name,
        {
          contextLength: numberOf(context_length),
          timeoutMs: toMs(timeout_seconds),
          stallTimeoutMs: toMs(stale_timeout_seconds),
        },
      ]
    }),
  )
}

const API_MODES: Readonly<Record<string, WireApi>> = {
  chat_completions: 'chat-completions',
  anthropic_messages: 'anthropic-messages',
  bedrock_converse: 'bedrock-converse',
  codex_responses: 'responses',
  responses: 'responses',
}

/** The names of wires in config.yaml. */
export const API_MODE_NAMES: readonly string[] = Object.keys(API_MODES)

/** Another word is taken for none: the wire is then judged by the address. */
export function toApi(mode: unknown): WireApi | undefined {
  return typeof mode === 'string' && Object.hasOwn(API_MODES, mode) ? API_MODES[mode] : undefined
}

/** Headers whose values are text or numbers; `undefined` for none. */
export function toHeaders(map: unknown): Record<string, string> | undefined {
  const entries = Object.entries(isJsonObject(map) ? map : {}).filter(
    ([, value]) => typeof value === 'string' || typeof value === 'number',
  )
  return entries.length === 0 ? undefined : Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}

function toBody(map: unknown): JsonObject | undefined {
  return isJsonObject(map) && Object.keys(map).length > 0 ? map : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined
}

function toMs(seconds: unknown): number | undefined {
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined
}

type QuirkSettings = NonNullable<ProviderSettings['quirks']>
/** Headers and body have keys of their own. */
type Settable = Omit<ProviderQuirks, 'headers' | 'body'>
type EachOf<T> = { readonly [Name in keyof Required<T>]: T[Name] | undefined }

/** What config.yaml says of an endpoint's ways, in the terms of the catalogue; `undefined` for nothing. Model names match in any case. */
function toQuirks(text: QuirkSettings | undefined): ProviderQuirks | undefined {
  if (!text) return undefined
  const quirks: EachOf<Settable> = {
    outputLimitParameter: text.output_limit_parameter,
    refusesOutputLimit: text.refuses_output_limit,
    defaultMaxOutputTokens: text.default_max_output_tokens,
    developerRoleModels: lower(text.developer_role_models),
    fixedTemperatureModels: lower(text.fixed_temperature_models),
    reasoningEffortShape: text.reasoning_effort_shape,
    reasoningEffortModels: lower(text.reasoning_effort_models),
    replayReasoningAs: text.replay_reasoning_as,
    reasoningRequired: text.reasoning_required,
    replayCallExtras: text.replay_call_extras,
    thinkTags: text.think_tags,
    schemaDialect: text.schema_dialect,
    reservedToolNames: text.reserved_tool_names,
    serviceTiers: text.service_tiers,
    answerFormats: text.answer_formats,
    formatWithoutToolsModels: text.format_without_tools_models,
    callIds: toCallIds(text.call_ids),
    cacheMarks: toCacheMarks(text.cache_marks),
    repair: toRepair(text.repair),
    contentAsList: text.content_as_list,
    credentialHeader: text.credential_header,
  }
  return defined(quirks) as ProviderQuirks
}

function toCallIds({ max_chars: maxChars, exactly }: NonNullable<QuirkSettings['call_ids']> = {}): Settable['callIds'] {
  return maxChars === undefined ? undefined : { maxChars, ...(exactly === undefined ? {} : { exactly }) }
}

function toCacheMarks({ models, max_ttl: maxTtl }: NonNullable<QuirkSettings['cache_marks']> = {}) {
  return models === undefined ? undefined : { models: lower(models)!, ...(maxTtl === undefined ? {} : { maxTtl }) }
}

function toRepair(text: QuirkSettings['repair']): Settable['repair'] {
  if (!text) return undefined
  const rules: EachOf<NonNullable<Settable['repair']>> = {
    mergeAdjacentUsers: text.merge_adjacent_users,
    startWithUser: text.start_with_user,
    endWithUser: text.end_with_user,
    assistantAfterResults: text.assistant_after_results,
  }
  return defined(rules) as Settable['repair']
}

function lower(names: readonly string[] | undefined): readonly string[] | undefined {
  return names?.map((name) => name.toLowerCase())
}

/** Without the members that hold nothing, so that those of the catalogue show through. */
function defined(map: object): object {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => value !== undefined))
}
