import { DISPLAY } from './display.js'
import {
  amount,
  choice,
  effort,
  flag,
  map,
  name,
  oneOf,
  record,
  seconds,
  section,
  share,
  someSection,
  someTexts,
  temperature,
  text,
  texts,
  whole,
} from './kinds.js'
import { MODELS } from './models.js'
import { PLATFORMS } from './platforms.js'
import { TERMINAL } from './terminal.js'

/** Where sessions speak. */
const PLATFORM_NAMES = [
  'cli',
  'oneshot',
  'acp',
  'api',
  'gateway',
  'mcp',
  'cron',
  'embedded',
  'telegram',
  'email',
] as const

function byPlatform<Value>(value: Value): Record<(typeof PLATFORM_NAMES)[number], Value> {
  return Object.fromEntries(PLATFORM_NAMES.map((name) => [name, value])) as never
}

const UNATTENDED = ['deny', 'park', 'approve'] as const

/** When a conversation begins anew. */
const RESET = {
  mode: oneOf('none', 'idle', 'daily', 'both')(),
  idle_minutes: whole(1)(),
  at_hour: whole(0, 23)(),
}

/** Every key that Hermes reads from `config.yaml`. */
export const CONFIG = section({
  ...MODELS,
  toolsets: texts(['hermes-cli']).describe(
    'Default `[hermes-cli]`, which stands for the set of the platform: `hermes-acp` in editors, `hermes-telegram` there.',
  ),
  platform_toolsets: section(byPlatform(someTexts())).describe('In place of `toolsets`, by where a session speaks.'),
  custom_toolsets: record(texts()).describe("Toolsets of one's own: names of tools and of other toolsets."),
  extensions: texts().describe(
    'Modules below `extensions/` of the home, each with an extension as its default export. Read once, when a program starts.',
  ),
  tools: section({
    tool_search: section({
      enabled: choice({ auto: 'auto', on: 'on', off: 'off', true: 'on', false: 'off' })('auto').describe(
        '`auto`: deferred tools, and toolsets beyond the threshold, are found through `tool_search`. `off`: all tools are defined whole.',
      ),
      always: texts().describe('Toolsets and tools that are defined whole although they are deferred.'),
      // Of a window of 200,000 tokens, whatever the model: what a session sends must not depend on who answers.
      threshold_pct: whole(0, 100)(5).describe('Per cent of a window of 200,000 tokens, 0 to 100.'),
    }),
  }),
  agent: section({
    max_turns: whole(1)(90).describe('Tool rounds in one run, at least 1.'),
    run_budget_seconds: seconds().describe(
      'Seconds by the clock that a run may take before it is ended. Default: no limit.',
    ),
    api_max_retries: whole(0, 100)(3).describe('Default 3; 0 means never.'),
    max_wait: seconds().describe(
      'Seconds that a call waits in all for a server that asks to. Default: 600, and 21,600 where nobody watches.',
    ),
    reasoning_effort: effort().describe('Default: as the provider has it.'),
    reasoning_overrides: record(effort().describe('Of that model.')).describe(
      '`reasoning_effort` by the id of a model.',
    ),
    service_tier: choice({
      standard: 'standard',
      normal: 'standard',
      default: 'standard',
      fast: 'fast',
      priority: 'fast',
      flex: 'flex',
    })().describe(
      'How soon answers are made, where the provider sells that: `fast` at a higher price, `flex` when there is room, at a lower one. What such answers cost is only known where the provider says it. Default: as usual.',
    ),
    temperature_overrides: record(temperature().describe('Of that model.')).describe(
      '`model.temperature` by the id of a model.',
    ),
    disabled_toolsets: texts(),
    gateway_notify_interval: whole(0)(180).describe(
      'Seconds after which a run in a chat says that it goes on, then after twice as long; 0 for never.',
    ),
    image_input_mode: oneOf(
      'auto',
      'native',
      'text',
    )('auto').describe(
      'Images go to the model (`native`), are described to it by `auxiliary.vision` (`text`), or that which it can take.',
    ),
    coding_context: choice({ auto: 'auto', focus: 'auto', on: 'on', off: 'off', true: 'on', false: 'off' })(
      'auto',
    ).describe('Messages tell the model what changed around it; of git with `auto` in terminals and editors only.'),
    verify_on_stop: choice({ auto: 'auto', on: 'on', off: 'off', true: 'on', false: 'off' })('auto').describe(
      'Whether an answer after changed files that were neither run nor looked at since waits for a check; with `auto` not where only prose changed.',
    ),
    extension_prompt_bytes: whole(0)(2_000).describe('For what extensions add to the system text, all together.'),
    environment_hint: text('').describe('Added to what the system text says of the machine. Default none.'),
  }),
  terminal: TERMINAL.describe('Where commands run and files live.'),
  compression: section({
    enabled: flag(true).describe('Whether long sessions are compacted.'),
    threshold: share().describe(
      "Share of the model's window. Default: half of a window of 512,000 tokens or more, three quarters of a smaller one.",
    ),
    threshold_tokens: whole(1)().describe('Tokens at which to compact at the latest.'),
    model_thresholds: record(share()).describe(
      "`threshold` of models whose id holds the key, or of a provider's as `PROVIDER:PART`; the longest key counts.",
    ),
    target_ratio: share(0.2).describe('The newest messages that stay, as a share of the threshold.'),
    protect_first_n: whole(0)(3).describe('Messages that stay at the beginning.'),
    protect_last_n: whole(0)(20).describe('Messages that stay at the end, as long as they fit.'),
  }),
  context: section({
    engine: text('compressor').describe(
      "What compacts long sessions: `compressor`, or a module of one's own by path or package name.",
    ),
  }),
  delegation: section({
    model: name().describe('Default: the model of the agent that delegates.'),
    provider: name(),
    base_url: text(),
    reasoning_effort: effort().describe('Default: that of the agent that delegates.'),
    temperature: temperature().describe('Default: that of the agent that delegates.'),
    max_tokens: whole(1)().describe('Tokens of one answer. Default: as for the agent that delegates.'),
    max_iterations: whole(1)(50).describe('Model calls of one task.'),
    child_timeout_seconds: seconds().describe(
      'Seconds by the clock that a task may take before it is ended with what it has. Default: no limit.',
    ),
    max_concurrent_children: whole(1)(3).describe('Tasks at a time.'),
    max_spawn_depth: whole(1, 3)(1).describe('Levels below the agent a person talks to; 1 to 3.'),
    orchestrator_enabled: flag(true).describe('Whether children may delegate at all.'),
    max_summary_chars: whole(1)(24_000).describe('Longer answers are cut; in characters.'),
  }).describe('Tasks that an agent hands to fresh agents.'),
  goals: section({
    max_turns: whole(1, 1_000)(20).describe('Turns that begin by themselves before `/goal resume` is needed.'),
  }).describe('What a session works towards by itself: `/goal`. `budget` holds for it too.'),
  tool_loop_guardrails: section({
    warnings_enabled: flag(true).describe('Whether the model is told.'),
    hard_stop_enabled: flag(false).describe(
      'Whether such calls are refused and the run ended, where a person watches.',
    ),
    non_interactive_hard_stop_enabled: flag(true).describe('The same where nobody does.'),
    warn_after: section({
      exact_failure: whole(1)(2),
      same_tool_failure: whole(1)(3),
      idempotent_no_progress: whole(1)(2),
    }).describe('After how many of a kind the model is told. Default 2, 3 and 2.'),
    hard_stop_after: section({
      exact_failure: whole(1)(5),
      same_tool_failure: whole(1)(8),
      idempotent_no_progress: whole(1)(5),
    }).describe('After how many the next one is refused. Default 5, 8 and 5.'),
    loop_caps: section({
      max_web_searches: whole(1)(50),
      max_subagents: whole(1)(50),
    }).describe('What one run may start, whoever watches. Default 50 of each.'),
  }).describe('What is done about calls that go in circles.'),
  memory: section({
    memory_enabled: flag(true).describe('Whether the agent keeps notes, MEMORY.md.'),
    user_profile_enabled: flag(true).describe('Whether it keeps what it learns of its user, USER.md.'),
    memory_char_limit: whole(1)(2_200),
    user_char_limit: whole(1)(1_375),
    nudge_interval: whole(0)(10).describe(
      'Messages of the person without anything saved before the model is reminded. Default 10; 0 for never.',
    ),
    write_approval: flag(false).describe(
      'Whether what an agent wants to remember waits for your yes: `hermes memory pending`.',
    ),
    flush_min_turns: whole(0)(6).describe(
      'Messages of the person since anything was saved from which on a session is looked through. Default 6; 0 for never.',
    ),
    provider: text('').describe('`honcho`, `mem0`, `supermemory` or `local`. Default none.'),
    base_url: text().describe("A server of one's own."),
    user_id: text().describe('Whose memories they are. Default: the user of this machine.'),
    workspace: text().describe('Keeps programs with one account apart. Default `hermes`.'),
    recall_limit: whole(1, 50)(8).describe('The most that is recalled for one message. Default 8, at most 50.'),
    recall_timeout: seconds(3).describe('Seconds a message waits for it.'),
    embedding: section({
      base_url: text(),
      model: text(),
      key_env: text(),
    }).describe('What gives vectors to `local`. Default: OpenAI.'),
  }),
  code_execution: section({
    timeout: seconds(120).describe('Seconds one may take.'),
    max_tool_calls: whole(1)(50),
  }).describe('Programs that `execute_code` runs.'),
  tool_output: section({
    max_bytes: whole(1)(50_000),
    max_lines: whole(1)(2_000),
    max_line_length: whole(1)(2_000).describe('Characters.'),
  }),
  file_read_max_chars: whole(1)(100_000),
  lint: section({
    enabled: flag(true),
    timeout: seconds(3).describe('Seconds; a linter that takes longer is not asked again in the session.'),
  }).describe(
    'After a write, new errors of the linter that the project is set up for are told, where the person trusts the project.',
  ),
  approvals: section({
    // YAML 1.1 writes the word off as the boolean false.
    mode: choice({ ask: 'ask', smart: 'smart', off: 'off', manual: 'ask', false: 'off' })('ask').describe(
      'Default `ask`; the file may say `manual` for it.',
    ),
    timeout: seconds(300).describe('Seconds to wait for an answer.'),
    single_query_mode: oneOf(...UNATTENDED)('deny').describe(
      'What comes of a question of `hermes chat -q` where no person is at a terminal: `deny` says no at once and the run goes on, `park` ends the run with exit code 4, `approve` allows it. Unless it is allowed the question is kept, to be answered with `hermes approvals`.',
    ),
    cron_mode: oneOf(...UNATTENDED)('deny').describe('The same for schedules.'),
    unattended_mode: oneOf(...UNATTENDED)('park').describe('The same for the gateway.'),
    deny: texts().describe('Globs of commands that never run.'),
    smart_policy: text('').describe(
      'What the model that reviews questions goes by besides its own rules, in plain words.',
    ),
  }),
  hooks: map().describe(
    'Programs that run at events: `EVENT: [{ matcher, command, timeout, fail_closed }]`, and `outbound`, a list of webhooks. Each program waits for your consent: `hermes hooks`.',
  ),
  hook_files: texts().describe(
    'Hook files of other agents that count too, such as `~/.claude/settings.json`. Those of a trusted project need no entry.',
  ),
  hooks_auto_accept: flag(false).describe('Whether hooks run without your consent.'),
  security: section({
    allow_private_urls: flag(false).describe(
      'Whether this machine and private networks are fetched from without asking.',
    ),
    allowed_ranges: texts().describe('Addresses and ranges such as `198.18.0.0/15` that count as public ones.'),
    website_blocklist: section({
      enabled: flag(false),
      domains: texts(),
    }).describe('Domains that nothing is fetched from, nor from what is below them.'),
  }),
  web: section({
    backend: text('').describe(
      'The service for both, where the two below say nothing: `firecrawl`, `parallel`, `tavily`, `exa`, `perplexity`, `brave`, `keenable`, `nous`, `xai`, `searxng`. Default: whichever has a key in `.env`, then the address in `SEARXNG_URL`, then services without a key. One that is named is the only one asked.',
    ),
    search_backend: text('').describe('The same for searching alone.'),
    extract_backend: text('').describe(
      'The same for reading pages; `local` is Hermes alone. Default: Hermes, and services with a key where it cannot.',
    ),
    extract_char_limit: whole(
      2_000,
      500_000,
    )(15_000).describe('Characters of a page that are shown, 2,000 to 500,000.'),
    keyless_fallback: flag(true).describe(
      'Whether Firecrawl, Tavily and Keenable are asked without a key where nothing is configured.',
    ),
    keyless_rescue: flag(true).describe('Whether they are asked so too where services with a key fail.'),
    provider_tier: record(oneOf('auto', 'free', 'paid')('auto')).describe(
      'By service: `free` asks it without its key, `paid` never without one.',
    ),
    cache_enabled: flag(true).describe('Whether results and pages are kept for a while, in memory.'),
    cache_ttl_minutes: whole(1)(20),
    cache_exempt_hosts: texts().describe('Hosts of which nothing is kept; of private networks nothing ever is.'),
  }).describe('Search and pages.'),
  x_search: section({
    model: text('grok-4.5').describe('The model of xAI that searches.'),
    reasoning_effort: effort().describe('How much it thinks. Default: as it likes.'),
    timeout_seconds: seconds(180),
    retries: whole(0, 10)(2).describe('How often a search is made again that failed and may do better.'),
  }).describe(
    'Posts on X, for a key in `XAI_API_KEY` or `hermes auth add xai-oauth`: `hermes tools enable x_search` switches the tool on.',
  ),
  skills: section({
    external_dirs: texts().describe('More folders with skills, besides those of the home and of `~/.agents/skills`.'),
    disabled: texts().describe('Names of skills that are switched off.'),
    write_approval: flag(false).describe(
      'Whether skills that an agent writes wait for your yes: `hermes skills pending`. After text from outside was read they always do.',
    ),
    project_discovery: flag(true).describe('Whether projects that you trust bring skills of their own.'),
    look_back: flag(true).describe(
      'Whether hard sessions are looked back at when they were left, for skills that are worth keeping or mending. What is found waits for your yes.',
    ),
    trusted_sources: texts().describe(
      'Where skills come from that you trust: `OWNER`, `OWNER/REPOSITORY`, an address, a folder. What the scanner finds in them is shown and needs no `--force`; what it blocks is not installed all the same.',
    ),
    packs: record(
      someSection({
        from: text().describe('Where its signed list lies: an address or a file.'),
        key: text().describe('The public key of who signs it: `ed25519:` and 43 characters.'),
      }),
    ).describe('Signed lists of skills with one version, by name: `hermes skills install pack:NAME`.'),
  }).describe('Proven ways to do a kind of task.'),
  curator: section({
    enabled: flag(true).describe('Whether the skills of the home are looked after by themselves: `hermes curator`.'),
    interval_hours: whole(1)(168).describe('Between two rounds.'),
    stale_after_days: whole(1)(14).describe('A skill that was not used for so long is named.'),
    archive_after_days: whole(1)(30).describe(
      'One that an agent wrote goes into `skills/.archive` then; `hermes curator restore` brings it back.',
    ),
  }).describe('Keeps skills in order; nothing is deleted.'),
  checkpoints: section({
    enabled: flag(true),
    max_snapshots: whole(1)(20).describe('Kept of one workspace.'),
    max_total_size_mb: whole(1)(500).describe('Of all workspaces together.'),
    max_file_size_mb: whole(1)(10).describe('Larger files are named, not kept.'),
    auto_prune: flag(true).describe('Whether old ones go by themselves.'),
    retention_days: whole(1)(7),
    min_interval_hours: whole(0)(24).describe('Between two looks for old ones.'),
  }).describe('Snapshots of the workspace before something in it may be destroyed.'),
  command_allowlist: texts(),
  database: section({
    journal_mode: oneOf(
      'wal',
      'delete',
    )('wal').describe(
      '`delete` for disks on which a write-ahead log does not work; network file systems are noticed without it.',
    ),
    synchronous: oneOf(
      'normal',
      'full',
    )('normal').describe('`normal` survives a kill of every process, `full` also a power loss.'),
  }),
  storage: section({
    url: text().describe('`postgres://USER:PASSWORD@HOST:PORT/DATABASE` of the sessions. Default: a file in the home.'),
  }),
  gateway: section({
    restart_drain_timeout: amount(60).describe(
      'Seconds that requests and chats may go on before a restart or a reload of the gateway interrupts them.',
    ),
    alert_url: text().describe(
      'Where to tell by `POST {"text": …}` that a chat platform is deaf, and that it hears again, beside the chats of the owner on other platforms.',
    ),
    loop_watchdog: flag(true).describe(
      'Whether a gateway whose event loop stands still for a minute and a half is ended.',
    ),
    message_timestamps: section({
      enabled: flag(false).describe('Whether the model is told when each message of a chat was sent, in `timezone`.'),
    }),
    api_server: section({
      key: text().describe('What clients have to send as a bearer token.'),
      host: text(),
      port: whole(0, 65_535)().describe('0 takes a free one.'),
      model_name: text().describe('The model id that clients are shown.'),
      max_concurrent_runs: whole(1)().describe('Requests under way at once. Default 64.'),
      max_waiting_requests: whole(0)().describe('Requests that wait beside these, for a minute at most. Default 512.'),
      answer_approvals: flag(false).describe(
        'Whether clients may answer approvals over HTTP, with `POST /v1/approvals/ID`.',
      ),
      keys: record(
        someSection({
          hash: text().describe('`sha256:` and the 64 hex digits of the key; the key itself stands nowhere.'),
          user: text().describe('A name of `people` whose sessions it opens. Default: the owner.'),
          scopes: someTexts().describe(
            'What it may do: `chat`, `runs`, `sessions`, `approvals`, `metrics`, `owner` (MCP and extensions). Default: all.',
          ),
          requests_per_minute: whole(1)().describe('Default: as many as it likes.'),
          max_concurrent: whole(1)().describe('Its requests under way at once. Default: as many as it likes.'),
        }),
      ).describe('Further keys of clients, by a name for each.'),
      cors_origins: texts().describe(
        'Origins of web pages that may ask and read answers, such as `https://chat.example`, or `*`; only where a key is needed.',
      ),
      // Who may ask is not always who owns the files.
      context_references: flag(false).describe('Whether `@file:`, `@url:` and their kin in a request are attached.'),
    }),
  }).describe('The gateway and its HTTP API; the app has the defaults.'),
  platforms: PLATFORMS.describe(
    'Chat platforms that the gateway speaks on; each is on as soon as its account is known.',
  ),
  human_delay: section({
    mode: oneOf(
      'off',
      'natural',
      'custom',
    )('off').describe(
      '`natural`: 800 to 2,500 milliseconds; `custom`: `min_ms` to `max_ms`, which count with it alone.',
    ),
    min_ms: whole(0, 60_000)(800),
    max_ms: whole(0, 60_000)(2_500),
  }).describe(
    'How long each message of an answer waits before a chat gets it, as if a person typed it; not one that grows.',
  ),
  streaming: section({
    enabled: flag(true).describe(
      'Whether answers grow in chats while they are written, where a platform has drafts or can change messages.',
    ),
    transport: choice({ auto: 'auto', draft: 'draft', edit: 'edit', off: 'off', false: 'off' })('auto').describe(
      'How: `draft` as drafts, where a chat has them; `edit` as messages that are changed; `auto` as drafts, else as messages; `off` not at all.',
    ),
    edit_interval: amount(1).describe('Seconds between two changes of a message.'),
    buffer_threshold: whole(1)(24).describe('Characters that a message begins with.'),
    cursor: text(' ▉').describe('Stands at the end of what is still written.'),
  }).describe('How answers appear in chats.'),
  stt: section({
    enabled: flag(true).describe('`false` leaves voice notes as files, whatever is configured.'),
    provider: oneOf('openai', 'groq', 'mistral')().describe(
      'The service that hears them, with `OPENAI_API_KEY`, `GROQ_API_KEY` or `MISTRAL_API_KEY`. Default: OpenAI where there is a `VOICE_TOOLS_OPENAI_KEY`, else none.',
    ),
    language: text().describe('What is spoken, as `en` or `de`. Default: the service finds out.'),
    prompt: text().describe('Words that the service is told to expect, such as names.'),
    echo_transcripts: flag(true).describe('Whether the chat is shown what was understood.'),
    openai: section({
      model: text('whisper-1'),
      base_url: text().describe("Of a server of one's own that speaks as OpenAI does; it needs no key."),
    }),
    groq: section({ model: text('whisper-large-v3-turbo'), base_url: text() }),
    mistral: section({ model: text('voxtral-mini-latest'), base_url: text() }),
  }).describe('Voice notes of chats as words.'),
  unauthorized_dm_behavior: oneOf(
    'pair',
    'ignore',
  )('pair').describe(
    'What a stranger gets who writes to the bot: a pairing code, or nothing. In groups always nothing.',
  ),
  sessions: section({
    auto_prune: flag(false).describe('Whether old sessions are deleted by themselves; pinned ones never are.'),
    retention_days: whole(1)(90).describe('A session that was quiet for so long is old.'),
    auto_archive: flag(false).describe(
      'Whether quiet sessions leave the lists by themselves; whoever goes on with one has it back.',
    ),
    auto_archive_days: whole(1)(3).describe('How long one is quiet before that.'),
    min_interval_hours: whole(0)(24).describe('Between two looks for such sessions, made when Hermes starts.'),
  }).describe('How long sessions are kept: forever, unless something here says otherwise.'),
  session_reset: section({
    mode: oneOf(
      'none',
      'idle',
      'daily',
      'both',
    )('none').describe(
      'Whether a conversation in a chat begins anew by itself: after a pause, each day, or at whichever comes first.',
    ),
    idle_minutes: whole(1)(1_440).describe('How long the pause is.'),
    at_hour: whole(0, 23)(4).describe('The hour of the day, by the clock of the machine.'),
    by_type: section({ dm: someSection(RESET), group: someSection(RESET) }).describe(
      'The same for conversations with one person, and for those in groups, where they differ.',
    ),
    by_platform: record(someSection(RESET)).describe(
      'The same for a platform, such as `telegram`; it counts before `by_type`.',
    ),
  }).describe('When conversations in chats begin anew. What runs or waits for an answer is never left.'),
  group_sessions_per_user: flag(true).describe('Whether each person has a conversation of their own in a group.'),
  thread_sessions_per_user: flag(false).describe('The same in a thread or topic.'),
  privacy: section({
    redact_pii: flag(false).describe(
      'Whether models get aliases (`id_` and hex digits) in place of ids of people and chats; who is answered stays the same.',
    ),
  }).describe('What models learn of people.'),
  people: record(record(texts())).describe(
    'Which ids are one person, by name: `telegram`, `email` … and `key`, the `sha256:…` of an API key. The name `owner` is the person at this machine.',
  ),
  groups: section({
    memory: oneOf(
      'own',
      'owner',
    )('own').describe("What a group's sessions are shown: what the group had kept, or the owner's memory too."),
    without_toolsets: texts(['messaging']).describe('Toolsets that new sessions of groups have not.'),
    unattended_mode: oneOf(...UNATTENDED)('park').describe(
      'What `approvals.unattended_mode` is in groups; the stricter of the two counts.',
    ),
  }),
  context_file_max_chars: whole(1)(20_000),
  platform_hints: section(
    byPlatform(someSection({ append: text(), replace: text() }, { shorthand: 'append' })),
  ).describe('What the system text says of how an agent speaks, by where it speaks: more, or instead.'),
  timezone: text('').describe("IANA name; empty for the machine's."),
  personalities: record(
    someSection(
      {
        system_prompt: text().describe('How the agent speaks.'),
        tone: text(),
        style: text(),
        description: text(),
      },
      { shorthand: 'system_prompt' },
    ),
  ).describe("Ways to speak of one's own, by name, for `/personality`."),
  quick_commands: record(
    someSection({
      type: oneOf('exec', 'alias')('exec').describe('`exec` runs a program; `alias` stands for another line.'),
      command: text().describe('With `exec`: run where commands of the agent run, for 30 s at most; no model sees it.'),
      target: text().describe('With `alias`: a command with its words, or a message.'),
      description: text().describe('One line, for `/help`.'),
    }),
  ).describe("Slash commands of one's own, by name."),
  display: DISPLAY,
})
