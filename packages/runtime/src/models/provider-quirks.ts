import type { ProviderSettings } from '@hermes/config'
import type { ProviderQuirks } from '@hermes/transports'

type QuirkSettings = NonNullable<ProviderSettings['quirks']>
/** Headers and body have keys of their own. */
type Settable = Omit<ProviderQuirks, 'headers' | 'body'>
type EachOf<T> = { readonly [Name in keyof Required<T>]: T[Name] | undefined }

/** What config.yaml says of an endpoint's ways, in the terms of the catalogue; `undefined` for nothing. Model names match in any case. */
export function toQuirks(text: QuirkSettings | undefined): ProviderQuirks | undefined {
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
