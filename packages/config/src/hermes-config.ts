import type { QuirkSettings } from './quirk-settings.js'
import type { TerminalSettings } from './terminal-settings.js'

/** `config.yaml` with defaults filled in. Names are those of the file; keys that are not listed here are kept too. */
export interface HermesConfig {
  readonly model: ModelSettings
  /** Named endpoints. */
  readonly providers: Readonly<Record<string, ProviderSettings>>
  /** Named endpoints as a list of maps with a `name`; those under `providers` count more. */
  readonly custom_providers: readonly unknown[]
  readonly fallback_providers: readonly unknown[]
  /** Mixtures of models, chosen with the provider `moa`. */
  readonly moa: {
    /** Default `default`. */
    readonly default_preset: string
    /** By name: `reference_models`, a list of maps with `provider` and `model`, and an `aggregator`. */
    readonly presets: Readonly<Record<string, unknown>>
  }
  /** Rules that decide which model a new session gets, the first that fits: `model`, `provider` or `base_url`, and `when`. */
  readonly routing: readonly unknown[]
  /** How the next of several keys is chosen, by provider. Default `fill_first`. */
  readonly credential_pool_strategies: Readonly<Record<string, 'fill_first' | 'round_robin' | 'least_used' | 'random'>>
  /** What is known about models, by name: `context_window`, `max_output_tokens`, `supports_vision`, prices per million tokens … */
  readonly model_overrides: Readonly<Record<string, unknown>>
  readonly models_dev: {
    /** Where facts about models are fetched. Default: models.dev. */
    readonly url?: string
    /** Whether they are fetched at all, once a day at most. Default `true`. */
    readonly refresh: boolean
  }
  /** What may be spent for one run, one session, one day, one month. Default: anything. */
  readonly budget: {
    readonly turn?: BudgetSettings
    readonly session?: BudgetSettings
    readonly day?: BudgetSettings
    readonly month?: BudgetSettings
  }
  /** Auxiliary tasks by name: `title_generation`, `session_summary`, `compression`, `vision` … */
  readonly auxiliary: Readonly<Record<string, AuxiliaryTaskSettings | undefined>>
  /** Default `[hermes-cli]`, which stands for the set of the platform: `hermes-acp` in editors, `hermes-telegram` there. */
  readonly toolsets: readonly string[]
  /** In place of `toolsets`, by platform: `cli`, `acp`, `gateway`, `telegram` … */
  readonly platform_toolsets: Readonly<Record<string, readonly string[] | undefined>>
  /** Toolsets of one's own: names of tools and of other toolsets. */
  readonly custom_toolsets: Readonly<Record<string, readonly string[] | undefined>>
  readonly tools: {
    readonly tool_search: {
      /** `auto`: definitions beyond the threshold are listed by name, and opened through `tool_search`. Default `auto`. */
      readonly enabled: 'auto' | 'on' | 'off'
      /** Per cent of a window of 200,000 tokens, 0 to 100. Default 5. */
      readonly threshold_pct: number
      /** For the names of hidden tools. Default 4,000. */
      readonly listing_max_tokens: number
    }
  }
  readonly agent: {
    /** Tool rounds in one run, at least 1. Default 90. */
    readonly max_turns: number
    /** Default 3; 0 means never. */
    readonly api_max_retries: number
    /** Seconds that a call waits in all for a server that asks to. Default: 600, and 21,600 where nobody watches. */
    readonly max_wait?: number | undefined
    readonly disabled_toolsets: readonly string[]
    /** Messages tell the model what changed around it; of git with `auto` in terminals and editors only. Default `auto`. */
    readonly coding_context: 'auto' | 'on' | 'off'
    /** Added to what the system text says of the machine. Default none. */
    readonly environment_hint: string
  }
  readonly terminal: TerminalSettings
  readonly compression: {
    /** Whether long sessions are condensed. Default `true`. */
    readonly enabled: boolean
    /** Share of the model's window. Default: half of a window of 512,000 tokens or more, three quarters of a smaller one. */
    readonly threshold?: number
    /** `threshold` of models whose id holds the key, or of a provider's as `PROVIDER:PART`; the longest key counts. */
    readonly model_thresholds: Readonly<Record<string, number | undefined>>
    /** Tokens at which to condense at the latest. */
    readonly threshold_tokens?: number
    /** The newest messages that stay, as a share of the threshold. Default 0.2. */
    readonly target_ratio: number
    /** Messages that stay at the beginning. Default 3. */
    readonly protect_first_n: number
    /** Messages that stay at the end, as long as they fit. Default 20. */
    readonly protect_last_n: number
  }
  readonly context: {
    /** What condenses long sessions: `compressor`, or a module of one's own by path or package name. */
    readonly engine: string
  }
  /** Tasks that an agent hands to fresh agents. */
  readonly delegation: {
    /** Default: the model of the agent that delegates. */
    readonly model?: string
    readonly provider?: string
    readonly base_url?: string
    /** Model calls of one task. Default 50. */
    readonly max_iterations: number
    /** Tasks at a time. Default 3. */
    readonly max_concurrent_children: number
    /** Levels below the agent a person talks to; 1 to 3. Default 1. */
    readonly max_spawn_depth: number
    /** Whether children may delegate at all. Default `true`. */
    readonly orchestrator_enabled: boolean
    /** Longer answers are cut; in characters. Default 24,000. */
    readonly max_summary_chars: number
  }
  /** What is done about calls that go in circles. */
  readonly tool_loop_guardrails: {
    /** Whether the model is told. Default `true`. */
    readonly warnings_enabled: boolean
    /** Whether such calls are refused and the run ended, where a person watches. Default `false`. */
    readonly hard_stop_enabled: boolean
    /** The same where nobody does. Default `true`. */
    readonly non_interactive_hard_stop_enabled: boolean
    /** After how many of a kind the model is told. Default 2, 3 and 2. */
    readonly warn_after: LoopLimitSettings
    /** After how many the next one is refused. Default 5, 8 and 5. */
    readonly hard_stop_after: LoopLimitSettings
    /** What one run may start, whoever watches. Default 50 of each. */
    readonly loop_caps: { readonly max_web_searches: number; readonly max_subagents: number }
  }
  readonly memory: {
    /** Whether the agent keeps notes, MEMORY.md. Default `true`. */
    readonly memory_enabled: boolean
    /** Whether it keeps what it learns of its user, USER.md. Default `true`. */
    readonly user_profile_enabled: boolean
    /** Default 2,200. */
    readonly memory_char_limit: number
    /** Default 1,375. */
    readonly user_char_limit: number
    /** Messages of the person without anything saved before the model is reminded. Default 10; 0 for never. */
    readonly nudge_interval: number
    /** Messages of the person since anything was saved from which on a session is looked through. Default 6; 0 for never. */
    readonly flush_min_turns: number
    /** `honcho`, `mem0`, `supermemory` or `local`. Default none. */
    readonly provider: string
    /** A server of one's own. */
    readonly base_url?: string
    /** Whose memories they are. Default: the user of this machine. */
    readonly user_id?: string
    /** Keeps programs with one account apart. Default `hermes`. */
    readonly workspace?: string
    /** The most that is recalled for one message. Default 8, at most 50. */
    readonly recall_limit: number
    /** Seconds a message waits for it. Default 3. */
    readonly recall_timeout: number
    /** What gives vectors to `local`. Default: OpenAI. */
    readonly embedding: { readonly base_url?: string; readonly model?: string; readonly key_env?: string }
  }
  /** Programs that `execute_code` runs. */
  readonly code_execution: {
    /** Seconds one may take. Default 120. */
    readonly timeout: number
    /** Default 50. */
    readonly max_tool_calls: number
  }
  readonly tool_output: {
    /** Default 50,000. */
    readonly max_bytes: number
    /** Default 2,000. */
    readonly max_lines: number
    /** Characters. Default 2,000. */
    readonly max_line_length: number
  }
  /** Default 100,000. */
  readonly file_read_max_chars: number
  /** After a write, new errors of the linter that the project is set up for are told. */
  readonly lint: {
    /** Default `true`. */
    readonly enabled: boolean
    /** Seconds; a linter that takes longer is not asked again in the session. Default 3. */
    readonly timeout: number
  }
  readonly approvals: {
    /** Default `ask`; the file may say `manual` for it. */
    readonly mode: 'ask' | 'smart' | 'off'
    /** Seconds to wait for an answer. Default 300. */
    readonly timeout: number
    /** Globs of commands that never run. */
    readonly deny: readonly string[]
    /** What the model that reviews questions goes by besides its own rules, in plain words. */
    readonly smart_policy: string
  }
  readonly security: {
    /** Whether this machine and private networks are fetched from without asking. Default `false`. */
    readonly allow_private_urls: boolean
    /** Addresses and ranges such as `198.18.0.0/15` that count as public ones. */
    readonly allowed_ranges: readonly string[]
    /** Domains that nothing is fetched from, nor from what is below them. */
    readonly website_blocklist: { readonly enabled: boolean; readonly domains: readonly string[] }
  }
  readonly checkpoints: CheckpointSettings
  readonly command_allowlist: readonly string[]
  readonly bedrock: BedrockSettings
  readonly database: {
    /** `delete` for disks on which a write-ahead log does not work; network file systems are noticed without it. Default `wal`. */
    readonly journal_mode: 'wal' | 'delete'
    /** `normal` survives a kill of every process, `full` also a power loss. Default `normal`. */
    readonly synchronous: 'normal' | 'full'
  }
  readonly storage: {
    /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE` of the sessions. Default: a file in the home. */
    readonly url?: string
  }
  readonly prompt_caching: {
    /** How long a provider with marks for its cache keeps a prefix; an hour costs more to write. Default `5m`. */
    readonly cache_ttl: '5m' | '1h'
  }
  readonly gateway: { readonly api_server: ApiServerSettings }
  /** Default 20,000. */
  readonly context_file_max_chars: number
  /** What the system text says of how an agent speaks, by surface (`cli`, `oneshot`, `acp`, `gateway` …): more, or instead. */
  readonly platform_hints: Readonly<Record<string, { readonly append?: string; readonly replace?: string } | undefined>>
  /** IANA name; empty for the machine's. */
  readonly timezone: string
  readonly display: {
    /** What a line sent during a run does. Default `queue`. */
    readonly busy_input_mode: 'queue' | 'steer' | 'interrupt'
  }
}

/** One limit of spending. */
interface BudgetSettings {
  /** Input and output, cached input included. */
  readonly tokens?: number
  /** US dollars. */
  readonly usd?: number
}

/** Who does one auxiliary task. Default: the model of the session. */
interface AuxiliaryTaskSettings {
  /** Default `true`. */
  readonly enabled: boolean
  readonly provider?: string
  readonly model?: string
  readonly base_url?: string
  readonly api_key?: string
  /** The environment variable that holds the key. */
  readonly key_env?: string
  /** Seconds. */
  readonly timeout?: number
  /** Tokens of the answer. */
  readonly max_tokens?: number
  readonly reasoning_effort?: string
  /** Further fields of each request body. */
  readonly extra_body?: unknown
  /** Of titles. Default: that of the conversation. */
  readonly language?: string
  /** Asked in turn when the first does not answer, like `fallback_providers`. */
  readonly fallback_chain: readonly unknown[]
}

/** The `model` section. A plain text in the file is `default`; `model.model` is another name of it. */
export interface ModelSettings {
  readonly default?: string
  readonly provider?: string
  readonly base_url?: string
  readonly api_key?: string
  /** The environment variable that holds the key. */
  readonly key_env?: string
  /** `chat_completions`, `anthropic_messages`, `bedrock_converse` or `codex_responses`. Default: judged by provider and address. */
  readonly api_mode?: string
  /** Tokens. Default: found out. */
  readonly context_length?: number
  /** Sent with each request; never logged. */
  readonly extra_headers?: unknown
}

/** Snapshots of the workspace before something in it may be destroyed. */
export interface CheckpointSettings {
  /** Default `true`. */
  readonly enabled: boolean
  /** Kept of one workspace. Default 20. */
  readonly max_snapshots: number
  /** Of all workspaces together. Default 500. */
  readonly max_total_size_mb: number
  /** Larger files are named, not kept. Default 10. */
  readonly max_file_size_mb: number
  /** Whether old ones go by themselves. Default `true`. */
  readonly auto_prune: boolean
  /** Default 7. */
  readonly retention_days: number
  /** Between two looks for old ones. Default 24. */
  readonly min_interval_hours: number
}

/** What Amazon Bedrock wants to know beside a key. */
interface BedrockSettings {
  /** Default: that of `AWS_REGION`, else `us-east-1`. */
  readonly region?: string
  /** Applied to each request when both names are given. */
  readonly guardrail: {
    readonly identifier?: string
    readonly version?: string
    /** `sync` holds a stream back until it was checked. Default `async`. */
    readonly stream_processing_mode: 'async' | 'sync'
    /** Default `disabled`. */
    readonly trace: 'disabled' | 'enabled' | 'enabled_full'
  }
}

/** The HTTP API of the gateway; the app has the defaults. */
export interface ApiServerSettings {
  /** What clients have to send as a bearer token. */
  readonly key?: string
  readonly host?: string
  /** 0 takes a free one. */
  readonly port?: number
  /** The model id that clients are shown. */
  readonly model_name?: string
  readonly max_concurrent_runs?: number
  /** Whether `@file:`, `@url:` and their kin in a request are attached. Default `false`. */
  readonly context_references: boolean
}

/** One named endpoint under `providers`. */
export interface ProviderSettings {
  /** Other names of it. Those of the catalogue count more. */
  readonly aliases?: readonly string[]
  readonly base_url?: string
  readonly api_key?: string
  /** The environment variable that holds the key. */
  readonly key_env?: string
  /** Further variables with keys, which stand in for the first. */
  readonly key_envs?: readonly string[]
  readonly model?: string
  /** Names of its models, as a list or as a map to `context_length`, `timeout_seconds`, `stale_timeout_seconds` … */
  readonly models?: unknown
  /** Tokens, for all its models. Default: found out. */
  readonly context_length?: number
  /** Sent with each request; never logged. */
  readonly extra_headers?: unknown
  /** Further fields of each request body. */
  readonly extra_body?: unknown
  /** As in `model`. */
  readonly api_mode?: string
  /** How it departs from the plain protocol of its wire. */
  readonly quirks?: QuirkSettings
  /** Until the first byte of an answer. Default 600. */
  readonly request_timeout_seconds?: number
  /** Without any progress of an answer that has begun. Default 180. */
  readonly stale_timeout_seconds?: number
  /** How to log in there. Without `client_id` nobody can. */
  readonly oauth?: ProviderOAuthSettings
}

/** A client registered with the authorization server of an endpoint, and where that server is. */
interface ProviderOAuthSettings {
  readonly client_id?: string
  readonly client_secret?: string
  /** Names the endpoints below that are not given. */
  readonly issuer?: string
  /** Separated by spaces. */
  readonly scope?: string
  readonly device_authorization_endpoint?: string
  readonly authorization_endpoint?: string
  readonly token_endpoint?: string
  /** Where the browser comes back to on this machine. Default: any free port. */
  readonly redirect_port?: number
}

/** How often the same call may fail, calls of one tool may, and the same call may bring nothing new. */
interface LoopLimitSettings {
  readonly exact_failure: number
  readonly same_tool_failure: number
  readonly idempotent_no_progress: number
}
