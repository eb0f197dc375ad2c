import { QUIRKS } from './quirk-settings.js'
import { TERMINAL_FIELDS } from './terminal-settings.js'

/** What one key of `config.yaml` may hold. */
export type Field =
  | { readonly type: 'text'; readonly default?: string }
  | { readonly type: 'number'; readonly min: number; readonly max?: number; readonly default?: number }
  /** A number above 0 and at most 1. */
  | { readonly type: 'share'; readonly default?: number }
  /** A number above 0, with decimals. */
  | { readonly type: 'amount'; readonly default?: number }
  | { readonly type: 'boolean'; readonly default?: boolean }
  /** `words` maps what may be written to what it means. */
  | { readonly type: 'choice'; readonly words: Readonly<Record<string, string>>; readonly default?: string }
  /** Nothing, rather than an empty list, when the file holds nothing and it is `optional`. */
  | { readonly type: 'texts'; readonly default?: readonly string[]; readonly optional?: boolean }
  /** Left as it is for whoever reads it. */
  | { readonly type: 'any' }
  /** Anything inside. */
  | { readonly type: 'list' }
  | { readonly type: 'map' }
  /** A map with free names. */
  | { readonly type: 'record'; readonly of: Field }
  | Section

/** A map with known keys; others are kept as they are. */
export interface Section {
  readonly type: 'section'
  readonly fields: Readonly<Record<string, Field>>
  /** The key meant when the file holds a plain text instead of a map. */
  readonly shorthand?: string
  /** Other names of keys. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Nothing, rather than a map of defaults, when the file holds nothing. Default `false`. */
  readonly optional?: boolean
  /** Other keys are mistakes. Default `false`: they are kept. */
  readonly isClosed?: boolean
}

const text = { type: 'text' } as const
const texts = { type: 'texts' } as const
const count = (min: number, value?: number, max?: number): Field => ({
  type: 'number',
  min,
  ...(max === undefined ? {} : { max }),
  ...(value === undefined ? {} : { default: value }),
})
// A timer cannot be longer than 2 ** 31 - 1 milliseconds: beyond that Node fires it at once.
const seconds = (value?: number): Field => count(1, value, 2_147_483)
const section = (fields: Section['fields'], more: Partial<Section> = {}): Section => ({
  type: 'section',
  fields,
  ...more,
})

const STRATEGIES = {
  fill_first: 'fill_first',
  round_robin: 'round_robin',
  least_used: 'least_used',
  random: 'random',
  'fill-first': 'fill_first',
  'round-robin': 'round_robin',
  'least-used': 'least_used',
}

const budget = section({ tokens: count(1), usd: { type: 'amount' } }, { optional: true })

/** One auxiliary task: who does it, and how long it may take. */
const auxiliaryTask = section(
  {
    enabled: { type: 'boolean', default: true },
    provider: text,
    model: text,
    base_url: text,
    api_key: text,
    key_env: text,
    timeout: seconds(),
    max_tokens: count(1),
    reasoning_effort: text,
    extra_body: { type: 'any' },
    language: text,
    fallback_chain: { type: 'list' },
  },
  { optional: true },
)

/** Every key that Hermes reads from `config.yaml`. */
export const SCHEMA: Section = section({
  model: section(
    {
      default: text,
      provider: text,
      base_url: text,
      api_key: text,
      key_env: text,
      api_mode: text,
      context_length: count(1),
      extra_headers: { type: 'any' },
    },
    { shorthand: 'default', aliases: { model: 'default' } },
  ),
  providers: {
    type: 'record',
    of: section({
      aliases: { ...texts, optional: true },
      base_url: text,
      api_key: text,
      key_env: text,
      key_envs: { ...texts, optional: true },
      model: text,
      models: { type: 'any' },
      api_mode: text,
      quirks: QUIRKS,
      context_length: count(1),
      extra_headers: { type: 'any' },
      extra_body: { type: 'any' },
      request_timeout_seconds: seconds(),
      stale_timeout_seconds: seconds(),
      oauth: section(
        {
          client_id: text,
          client_secret: text,
          issuer: text,
          scope: text,
          device_authorization_endpoint: text,
          authorization_endpoint: text,
          token_endpoint: text,
          redirect_port: count(0, undefined, 65_535),
        },
        { optional: true },
      ),
    }),
  },
  credential_pool_strategies: {
    type: 'record',
    // Quotas are not asked for beforehand; the first key is then used until its limit, as with `fill_first`.
    of: { type: 'choice', words: { ...STRATEGIES, quota_aware: 'fill_first' }, default: 'fill_first' },
  },
  custom_providers: { type: 'list' },
  fallback_providers: { type: 'list' },
  routing: { type: 'list' },
  moa: section({ default_preset: { type: 'text', default: 'default' }, presets: { type: 'map' } }),
  model_overrides: { type: 'map' },
  models_dev: section({ url: text, refresh: { type: 'boolean', default: true } }),
  budget: section({ turn: budget, session: budget, day: budget, month: budget }),
  auxiliary: section({
    vision: auxiliaryTask,
    compression: auxiliaryTask,
    title_generation: auxiliaryTask,
    session_summary: auxiliaryTask,
    approval: auxiliaryTask,
  }),
  toolsets: { type: 'texts', default: ['hermes-cli'] },
  platform_toolsets: { type: 'record', of: texts },
  custom_toolsets: { type: 'record', of: texts },
  tools: section({
    tool_search: section({
      enabled: {
        type: 'choice',
        words: { auto: 'auto', on: 'on', off: 'off', true: 'on', false: 'off' },
        default: 'auto',
      },
      // Of a context window of 200,000 tokens, whatever the model: what a session sends must not depend on who answers.
      threshold_pct: { type: 'number', min: 0, max: 100, default: 5 },
      listing_max_tokens: count(0, 4000),
    }),
  }),
  agent: section({
    max_turns: count(1, 90),
    api_max_retries: count(0, 3, 100),
    max_wait: seconds(),
    disabled_toolsets: texts,
    coding_context: {
      type: 'choice',
      words: { auto: 'auto', focus: 'auto', on: 'on', off: 'off', true: 'on', false: 'off' },
      default: 'auto',
    },
    environment_hint: { type: 'text', default: '' },
  }),
  terminal: section(TERMINAL_FIELDS),
  compression: section({
    enabled: { type: 'boolean', default: true },
    threshold: { type: 'share' },
    threshold_tokens: count(1),
    model_thresholds: { type: 'record', of: { type: 'share' } },
    target_ratio: { type: 'share', default: 0.2 },
    protect_first_n: count(0, 3),
    protect_last_n: count(0, 20),
  }),
  context: section({ engine: { type: 'text', default: 'compressor' } }),
  delegation: section({
    model: text,
    provider: text,
    base_url: text,
    max_iterations: count(1, 50),
    max_concurrent_children: count(1, 3),
    max_spawn_depth: count(1, 1, 3),
    orchestrator_enabled: { type: 'boolean', default: true },
    max_summary_chars: count(1, 24_000),
  }),
  tool_loop_guardrails: section({
    warnings_enabled: { type: 'boolean', default: true },
    hard_stop_enabled: { type: 'boolean', default: false },
    non_interactive_hard_stop_enabled: { type: 'boolean', default: true },
    warn_after: section({
      exact_failure: count(1, 2),
      same_tool_failure: count(1, 3),
      idempotent_no_progress: count(1, 2),
    }),
    hard_stop_after: section({
      exact_failure: count(1, 5),
      same_tool_failure: count(1, 8),
      idempotent_no_progress: count(1, 5),
    }),
    loop_caps: section({ max_web_searches: count(1, 50), max_subagents: count(1, 50) }),
  }),
  memory: section({
    memory_enabled: { type: 'boolean', default: true },
    user_profile_enabled: { type: 'boolean', default: true },
    memory_char_limit: count(1, 2200),
    user_char_limit: count(1, 1375),
    nudge_interval: count(0, 10),
    flush_min_turns: count(0, 6),
    provider: { type: 'text', default: '' },
    base_url: text,
    user_id: text,
    workspace: text,
    recall_limit: count(1, 8, 50),
    recall_timeout: seconds(3),
    embedding: section({ base_url: text, model: text, key_env: text }),
  }),
  code_execution: section({ timeout: seconds(120), max_tool_calls: count(1, 50) }),
  tool_output: section({
    max_bytes: count(1, 50_000),
    max_lines: count(1, 2000),
    max_line_length: count(1, 2000),
  }),
  file_read_max_chars: count(1, 100_000),
  lint: section({ enabled: { type: 'boolean', default: true }, timeout: seconds(3) }),
  approvals: section({
    // YAML 1.1 writes the word off as the boolean false.
    mode: {
      type: 'choice',
      words: { ask: 'ask', smart: 'smart', off: 'off', manual: 'ask', false: 'off' },
      default: 'ask',
    },
    timeout: seconds(300),
    deny: texts,
    smart_policy: { type: 'text', default: '' },
  }),
  security: section({
    allow_private_urls: { type: 'boolean', default: false },
    allowed_ranges: texts,
    website_blocklist: section({ enabled: { type: 'boolean', default: false }, domains: texts }),
  }),
  checkpoints: section({
    enabled: { type: 'boolean', default: true },
    max_snapshots: count(1, 20),
    max_total_size_mb: count(1, 500),
    max_file_size_mb: count(1, 10),
    auto_prune: { type: 'boolean', default: true },
    retention_days: count(1, 7),
    min_interval_hours: count(0, 24),
  }),
  command_allowlist: texts,
  bedrock: section({
    region: text,
    guardrail: section({
      identifier: text,
      version: text,
      stream_processing_mode: { type: 'choice', words: { async: 'async', sync: 'sync' }, default: 'async' },
      trace: {
        type: 'choice',
        words: { disabled: 'disabled', enabled: 'enabled', enabled_full: 'enabled_full' },
        default: 'disabled',
      },
    }),
  }),
  database: section({
    journal_mode: { type: 'choice', words: { wal: 'wal', delete: 'delete' }, default: 'wal' },
    synchronous: { type: 'choice', words: { normal: 'normal', full: 'full' }, default: 'normal' },
  }),
  storage: section({ url: text }),
  prompt_caching: section({ cache_ttl: { type: 'choice', words: { '5m': '5m', '1h': '1h' }, default: '5m' } }),
  gateway: section({
    api_server: section({
      key: text,
      host: text,
      port: count(0, undefined, 65_535),
      model_name: text,
      max_concurrent_runs: count(1),
      // Who may ask is not always who owns the files.
      context_references: { type: 'boolean', default: false },
    }),
  }),
  context_file_max_chars: count(1, 20_000),
  platform_hints: { type: 'record', of: section({ append: text, replace: text }, { shorthand: 'append' }) },
  timezone: { type: 'text', default: '' },
  display: section({
    busy_input_mode: {
      type: 'choice',
      words: { queue: 'queue', steer: 'steer', interrupt: 'interrupt' },
      default: 'queue',
    },
  }),
})

/** The field of a key path; `null` when the schema has none there. */
export function fieldAt(path: readonly string[]): Field | null {
  let field: Field | null = SCHEMA
  for (const key of path) {
    if (field?.type === 'section') field = Object.hasOwn(field.fields, key) ? field.fields[key]! : null
    else field = field?.type === 'record' ? field.of : null
  }
  return field
}

/** A dotted key as a path, other names of keys brought to the usual one. */
export function keyPath(key: string): readonly string[] {
  const path = key.split('.')
  return path.map((name, index) => {
    const parent = fieldAt(path.slice(0, index))
    return (parent?.type === 'section' && parent.aliases?.[name]) || name
  })
}
