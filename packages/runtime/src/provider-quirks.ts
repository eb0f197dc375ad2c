import type { ProviderSettings } from '@hermes/config'
import type { ProviderQuirks } from '@hermes/transports'

type QuirkSettings = NonNullable<ProviderSettings['quirks']>
/** Headers and body have keys of their own. */
type Settable = Omit<ProviderQuirks, 'headers' | 'body'>
type EachOf<T> = { readonly [Name in keyof Required<T>]: T[Name] | undefined }

/** What config.yaml says of an endpoint's ways, in the terms of the catalogue; `undefined` for nothing. Model names match in any case. */
export function toQuirks(said: QuirkSettings | undefined): ProviderQuirks | undefined {
  if (!said) return undefined
  const quirks: EachOf<Settable> = {
    outputLimitParameter: said.output_limit_parameter,
    refusesOutputLimit: said.refuses_output_limit,
    defaultMaxOutputTokens: said.default_max_output_tokens,
    developerRoleModels: lower(said.developer_role_models),
    fixedTemperatureModels: lower(said.fixed_temperature_models),
    reasoningEffortShape: said.reasoning_effort_shape,
    reasoningEffortModels: lower(said.reasoning_effort_models),
    replayReasoningAs: said.replay_reasoning_as,
    reasoningRequired: said.reasoning_required,
    replayCallExtras: said.replay_call_extras,
    thinkTags: said.think_tags,
    schemaDialect: said.schema_dialect,
    reservedToolNames: said.reserved_tool_names,
    callIds: toCallIds(said.call_ids),
    cacheMarks: toCacheMarks(said.cache_marks),
    repair: toRepair(said.repair),
    contentAsList: said.content_as_list,
    credentialHeader: said.credential_header,
  }
  return defined(quirks) as ProviderQuirks
}

function toCallIds({ max_chars: maxChars, exactly }: NonNullable<QuirkSettings['call_ids']> = {}): Settable['callIds'] {
  return maxChars === undefined ? undefined : { maxChars, ...(exactly === undefined ? {} : { exactly }) }
}

function toCacheMarks({ models, max_ttl: maxTtl }: NonNullable<QuirkSettings['cache_marks']> = {}) {
  return models === undefined ? undefined : { models: lower(models)!, ...(maxTtl === undefined ? {} : { maxTtl }) }
}

function toRepair(said: QuirkSettings['repair']): Settable['repair'] {
  if (!said) return undefined
  const rules: EachOf<NonNullable<Settable['repair']>> = {
    mergeAdjacentUsers: said.merge_adjacent_users,
    startWithUser: said.start_with_user,
    endWithUser: said.end_with_user,
    assistantAfterResults: said.assistant_after_results,
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
