/** `providers.NAME.quirks`: how an endpoint departs from the plain protocol of its wire. What is not said stays as it is known. */
export interface QuirkSettings {
  /** The parameter that limits output. */
  readonly output_limit_parameter?: 'max_tokens' | 'max_completion_tokens'
  /** Any limit of output is refused, so that none is sent. */
  readonly refuses_output_limit?: boolean
  /** Tokens that are asked for when a request names no limit. */
  readonly default_max_output_tokens?: number
  /** Parts of model names whose system text goes out with the role `developer`. */
  readonly developer_role_models?: readonly string[]
  /** Parts of model names that take no `temperature`. */
  readonly fixed_temperature_models?: readonly string[]
  /** How reasoning effort is asked for. */
  readonly reasoning_effort_shape?: 'flat' | 'nested' | 'thinking' | 'google' | 'none'
  /** Parts of model names that take an effort. */
  readonly reasoning_effort_models?: readonly string[]
  /** The field in which earlier reasoning goes back. */
  readonly replay_reasoning_as?: 'reasoning_content' | 'reasoning' | 'reasoning_details'
  /** A message with tool calls is refused without `reasoning_content`. */
  readonly reasoning_required?: boolean
  /** What the endpoint attaches to a tool call goes back with it. */
  readonly replay_call_extras?: boolean
  /** Names of tags whose content, at the start of an answer, is reasoning. */
  readonly think_tags?: readonly string[]
  /** The dialect of JSON Schema that tools are described in. */
  readonly schema_dialect?: 'gemini' | 'moonshot' | 'llama-cpp'
  /** Tool names that the endpoint keeps for itself. */
  readonly reserved_tool_names?: readonly string[]
  /** The form of call ids that the endpoint takes. */
  readonly call_ids?: { readonly max_chars?: number; readonly exactly?: boolean }
  /** Parts of model names that take marks for the provider's cache, and how long it keeps a prefix at most. */
  readonly cache_marks?: { readonly models?: readonly string[]; readonly max_ttl?: '5m' }
  /** What is wanted of the order of messages. */
  readonly repair?: {
    readonly merge_adjacent_users?: boolean
    readonly start_with_user?: boolean
    readonly end_with_user?: boolean
    readonly assistant_after_results?: boolean
  }
  /** User content goes out as a list of parts even when it is text alone. */
  readonly content_as_list?: boolean
  /** How a key goes to an endpoint of the wire `anthropic_messages`. */
  readonly credential_header?: 'x-api-key' | 'authorization'
}

const flag = { type: 'boolean' } as const
const names = { type: 'texts', optional: true } as const
const oneOf = (...words: readonly string[]) =>
  ({ type: 'choice', words: Object.fromEntries(words.map((word) => [word, word])) }) as const
const count = (min: number) => ({ type: 'number', min }) as const
const part = <Fields>(fields: Fields) => ({ type: 'section', fields, optional: true, isClosed: true }) as const

/** What `config.yaml` may hold under `quirks` of a provider. */
export const QUIRKS = part({
  output_limit_parameter: oneOf('max_tokens', 'max_completion_tokens'),
  refuses_output_limit: flag,
  default_max_output_tokens: count(1),
  developer_role_models: names,
  fixed_temperature_models: names,
  reasoning_effort_shape: oneOf('flat', 'nested', 'thinking', 'google', 'none'),
  reasoning_effort_models: names,
  replay_reasoning_as: oneOf('reasoning_content', 'reasoning', 'reasoning_details'),
  reasoning_required: flag,
  replay_call_extras: flag,
  think_tags: names,
  schema_dialect: oneOf('gemini', 'moonshot', 'llama-cpp'),
  reserved_tool_names: names,
  // A shorter id would not tell calls apart.
  call_ids: part({ max_chars: count(8), exactly: flag }),
  cache_marks: part({ models: names, max_ttl: oneOf('5m') }),
  repair: part({
    merge_adjacent_users: flag,
    start_with_user: flag,
    end_with_user: flag,
    assistant_after_results: flag,
  }),
  content_as_list: flag,
  credential_header: oneOf('x-api-key', 'authorization'),
} satisfies Record<keyof QuirkSettings, unknown>)
