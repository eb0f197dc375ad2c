import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkConfig, getConfigValue, homeLayout, loadConfig } from './index.js'

let home = ''
let file = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-config-'))
  file = homeLayout(home).config
})
afterEach(() => rm(home, { recursive: true }))

const write = (text: string) => writeFile(file, text)
const load = (env = {}) => loadConfig({ home, env })
const goodFolder = () => join(homeLayout(home).backups, 'config')
const goodNames = async () => (await readdir(goodFolder())).filter((name) => name.includes('.good.')).sort()
const ref = (name: string) => `\${${name}}`

describe('loadConfig', () => {
  it('gives the defaults where there is no file, and writes nothing', async () => {
    expect(await load()).toEqual({
      config: {
        model: {},
        providers: {},
        custom_providers: [],
        credential_pool_strategies: {},
        fallback_providers: [],
        routing: [],
        moa: { default_preset: 'default', presets: {} },
        model_aliases: {},
        model_overrides: {},
        models_dev: { refresh: true },
        budget: {},
        auxiliary: {},
        toolsets: ['hermes-cli'],
        extensions: [],
        platform_toolsets: {},
        platforms: {
          telegram: {
            enabled: true,
            allowed_users: [],
            allow_all_users: false,
            allow_admin_from: [],
            reply_to_mode: 'first',
            typing_indicator: true,
            channel_overrides: {},
            allowed_chats: [],
            require_mention: false,
          },
          email: {
            enabled: true,
            allowed_users: [],
            allow_all_users: false,
            allow_admin_from: [],
            reply_to_mode: 'first',
            typing_indicator: true,
            channel_overrides: {},
            imap_port: 993,
            smtp_port: 587,
          },
        },
        streaming: { enabled: true, transport: 'auto', edit_interval: 1, buffer_threshold: 24, cursor: ' ▉' },
        stt: {
          ...{ enabled: true, echo_transcripts: true, openai: { model: 'whisper-1' } },
          ...{ groq: { model: 'whisper-large-v3-turbo' }, mistral: { model: 'voxtral-mini-latest' } },
        },
        unauthorized_dm_behavior: 'pair',
        sessions: {
          auto_prune: false,
          retention_days: 90,
          auto_archive: false,
          auto_archive_days: 3,
          min_interval_hours: 24,
        },
        session_reset: { mode: 'none', idle_minutes: 1_440, at_hour: 4, by_type: {}, by_platform: {} },
        group_sessions_per_user: true,
        thread_sessions_per_user: false,
        people: {},
        groups: { memory: 'own', without_toolsets: ['messaging'], unattended_mode: 'park' },
        custom_toolsets: {},
        tools: { tool_search: { enabled: 'auto', always: [], threshold_pct: 5 } },
        agent: {
          gateway_notify_interval: 180,
          max_turns: 90,
          api_max_retries: 3,
          disabled_toolsets: [],
          reasoning_overrides: {},
          temperature_overrides: {},
          coding_context: 'auto',
          image_input_mode: 'auto',
          environment_hint: '',
          verify_on_stop: 'auto',
          extension_prompt_bytes: 2_000,
        },
        terminal: {
          backend: 'local',
          timeout: 180,
          lifetime_seconds: 300,
          env_passthrough: [],
          login_shell: true,
          isolation: 'auto',
          isolation_network: 'ask',
          isolation_write: [],
          isolation_read: [],
          sync_folders: [],
          ssh_host_keys: 'strict',
          docker_image: 'nikolaik/python-nodejs:python3.11-nodejs20',
          docker_volumes: [],
          docker_env: {},
          docker_forward_env: [],
          docker_extra_args: [],
          docker_mount_cwd_to_workspace: false,
          docker_run_as_host_user: false,
          docker_snap_compat: false,
          docker_network: true,
          docker_shm_size: '1g',
          singularity_image: 'docker://nikolaik/python-nodejs:python3.11-nodejs20',
          modal_image: 'nikolaik/python-nodejs:python3.11-nodejs20',
          daytona_image: 'nikolaik/python-nodejs:python3.11-nodejs20',
          vercel_runtime: 'node24',
          container_cpu: 1,
          container_memory: 5120,
          container_disk: 51_200,
          container_persistent: true,
        },
        compression: { enabled: true, target_ratio: 0.2, protect_first_n: 3, protect_last_n: 20, model_thresholds: {} },
        code_execution: { timeout: 120, max_tool_calls: 50 },
        context: { engine: 'compressor' },
        delegation: {
          max_iterations: 50,
          max_concurrent_children: 3,
          max_spawn_depth: 1,
          orchestrator_enabled: true,
          max_summary_chars: 24_000,
        },
        goals: { max_turns: 20 },
        personalities: {},
        quick_commands: {},
        tool_loop_guardrails: {
          warnings_enabled: true,
          hard_stop_enabled: false,
          non_interactive_hard_stop_enabled: true,
          warn_after: { exact_failure: 2, same_tool_failure: 3, idempotent_no_progress: 2 },
          hard_stop_after: { exact_failure: 5, same_tool_failure: 8, idempotent_no_progress: 5 },
          loop_caps: { max_web_searches: 50, max_subagents: 50 },
        },
        memory: {
          memory_enabled: true,
          user_profile_enabled: true,
          memory_char_limit: 2200,
          user_char_limit: 1375,
          nudge_interval: 10,
          write_approval: false,
          flush_min_turns: 6,
          provider: '',
          recall_limit: 8,
          recall_timeout: 3,
          embedding: {},
        },
        tool_output: { max_bytes: 50_000, max_lines: 2000, max_line_length: 2000 },
        file_read_max_chars: 100_000,
        hooks: {},
        hook_files: [],
        hooks_auto_accept: false,
        human_delay: { mode: 'off', min_ms: 800, max_ms: 2500 },
        lint: { enabled: true, timeout: 3 },
        approvals: {
          mode: 'ask',
          timeout: 300,
          single_query_mode: 'deny',
          cron_mode: 'deny',
          unattended_mode: 'park',
          deny: [],
          smart_policy: '',
        },
        security: {
          allow_private_urls: false,
          allowed_ranges: [],
          website_blocklist: { enabled: false, domains: [] },
        },
        web: {
          backend: '',
          search_backend: '',
          extract_backend: '',
          extract_char_limit: 15_000,
          keyless_fallback: true,
          keyless_rescue: true,
          provider_tier: {},
          cache_enabled: true,
          cache_ttl_minutes: 20,
          cache_exempt_hosts: [],
        },
        skills: {
          external_dirs: [],
          disabled: [],
          write_approval: false,
          project_discovery: true,
          look_back: true,
          trusted_sources: [],
          packs: {},
        },
        curator: { enabled: true, interval_hours: 168, stale_after_days: 14, archive_after_days: 30 },
        x_search: { model: 'grok-4.5', timeout_seconds: 180, retries: 2 },
        checkpoints: {
          enabled: true,
          max_snapshots: 20,
          max_total_size_mb: 500,
          max_file_size_mb: 10,
          auto_prune: true,
          retention_days: 7,
          min_interval_hours: 24,
        },
        command_allowlist: [],
        bedrock: { guardrail: { stream_processing_mode: 'async', trace: 'disabled' } },
        database: { journal_mode: 'wal', synchronous: 'normal' },
        storage: {},
        prompt_caching: { cache_ttl: '5m', keep_warm: true },
        gateway: {
          api_server: { answer_approvals: false, keys: {}, cors_origins: [], context_references: false },
          loop_watchdog: true,
          message_timestamps: { enabled: false },
          restart_drain_timeout: 60,
        },
        privacy: { redact_pii: false },
        context_file_max_chars: 20_000,
        platform_hints: {},
        timezone: '',
        display: {
          ...{ busy_input_mode: 'queue', show_reasoning: false, personality: '', bell: 30, tool_progress: 'all' },
          ...{ inline_diffs: true, final_response_markdown: 'render', resume_display: 'full', resume_exchanges: 3 },
          ...{ timestamps: false, timestamp_format: '%H:%M', show_cost: true, status_bar: { fields: [] } },
          ...{ skin: 'default', screen_reader: false, vim_mode: false, keys: {}, platforms: {} },
          ...{ background_process_notifications: 'concise', runtime_footer: { enabled: false, fields: [] } },
        },
      },
      problems: [],
      source: 'defaults',
      asksAlways: false,
      own: [],
    })
    expect(await readdir(home)).toEqual([])
  })

  it('takes an empty file and empty sections as nothing said', async () => {
    const { config } = await load()
    for (const text of ['', '# a comment\n', 'agent:\nmodel:\ncontext_file_max_chars: ~\n', 'model: ""\n']) {
      await write(text)
      expect(await load()).toEqual({ config, problems: [], source: 'file', asksAlways: false, own: [] })
    }
  })

  it('keeps unknown keys and changes what is harmless to change', async () => {
    await write(
      'model: gpt-5\nagent: {max_turns: "12", extra: [1]}\napprovals: {mode: manual}\nlint: {enabled: no}\nother: {a: 1}\n',
    )
    const { config, problems } = await load()
    expect(problems).toMatchObject([{ line: 5, message: expect.stringContaining('other is not a known key') }])
    expect(config).toMatchObject({
      model: { default: 'gpt-5' },
      agent: { max_turns: 12, api_max_retries: 3, extra: [1] },
      approvals: { mode: 'ask' },
      lint: { enabled: false },
      other: { a: 1 },
    })
  })

  it('takes off and false for the same approval mode, and model.model for model.default', async () => {
    for (const word of ['off', 'false']) {
      await write(`approvals: {mode: ${word}}\nmodel: {model: m}\n`)
      expect((await load()).config).toMatchObject({ approvals: { mode: 'off' }, model: { default: 'm' } })
    }
  })

  it('keeps the digits of a number where a text is wanted', async () => {
    await write('model: {api_key: 0012, base_url: 4.10}\n')
    expect((await load()).config.model).toEqual({ api_key: '0012', base_url: '4.10' })
  })

  it('names file, line, column, what is wanted and what is there', async () => {
    await write('# mine\nmodel:\n  default:\n    - a\nagent:\n  max_turns: 0\n')
    const { problems, source, config } = await load()
    expect(source).toBe('readable')
    expect(config.model).toEqual({})
    expect(problems).toEqual([
      {
        message: `${file}:4:5: model.default must be a name, found a list. Its other values are used; nothing was overwritten.`,
        file,
        line: 4,
        column: 5,
      },
      {
        message: `${file}:6:14: agent.max_turns must be a whole number of at least 1, found 0.`,
        file,
        line: 6,
        column: 14,
      },
    ])
  })

  it.each([
    ['broken flow', 'agent: {max_turns: 5\nmodel: x\n'],
    ['tab', 'agent:\n\tmax_turns: 5\n'],
    ['twice the same key', 'timezone: a\ntimezone: b\n'],
    ['list at the top', '- a\n'],
    ['text at the top', 'hello\n'],
    ['unknown alias', 'timezone: *nobody\n'],
    ['wrong type', 'providers: [a]\n'],
    ['no such word', 'approvals: {mode: sometimes}\n'],
    ['fraction', 'agent: {max_turns: 1.5}\n'],
    ['too long for a timer', 'terminal: {timeout: 9999999}\n'],
    ['list in a list', 'toolsets: [[a]]\n'],
  ])('falls back to the last good values for %s and overwrites nothing', async (_, text) => {
    await write('timezone: UTC\n')
    await load()
    await write(text)
    const { config, problems, source } = await load()
    expect(source).toBe('last-good')
    expect(config.timezone).toBe('UTC')
    expect(problems.length).toBeGreaterThan(0)
    expect(problems[0]!.message).toMatch(
      /^\S+config\.yaml:\d+:\d+: [^\n]+ The last good values are used; nothing was overwritten\.$/,
    )
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  it('says so when the file cannot be read at all', async () => {
    await mkdir(file)
    const { problems, source } = await load()
    expect(source).toBe('defaults')
    expect(problems).toEqual([{ message: expect.stringContaining(`Cannot read ${file}`), file }])
  })

  it('keeps the five newest copies, private, and none twice', async () => {
    for (let turns = 1; turns <= 7; turns++) {
      await write(`agent: {max_turns: ${turns}}\n`)
      await load()
      await load()
    }
    const names = await goodNames()
    expect(names).toHaveLength(5)
    const texts = await Promise.all(names.map((name) => readFile(join(goodFolder(), name), 'utf8')))
    expect(texts).toEqual([3, 4, 5, 6, 7].map((turns) => `agent: {max_turns: ${turns}}\n`))
    expect((await stat(join(goodFolder(), names[0]!))).mode & 0o777).toBe(0o600)
    expect((await stat(goodFolder())).mode & 0o777).toBe(0o700)
  })

  it('skips a copy that is damaged', async () => {
    for (const zone of ['A', 'B']) {
      await write(`timezone: ${zone}\n`)
      await load()
    }
    const newest = (await goodNames()).at(-1)!
    await writeFile(join(goodFolder(), newest), '{')
    await write('- broken')
    expect((await load()).config.timezone).toBe('A')
  })

  it('puts variables in place of references, those of .env too, and warns of one that is not set', async () => {
    await writeFile(homeLayout(home).env, 'STORED=stored\n')
    await chmod(homeLayout(home).env, 0o600)
    await write(
      `model: {api_key: "${ref('A')}-${ref('env:A')}-${ref('STORED')}"}\ntimezone: "${ref('NONE')}/$A"\nagent: {max_turns: "${ref('N')}"}\n`,
    )
    const { config, problems, source } = await load({ A: 'a', N: '7' })
    expect(source).toBe('file')
    expect(config.model.api_key).toBe('a-a-stored')
    expect(config.agent.max_turns).toBe(7)
    expect(config.timezone).toBe(`${ref('NONE')}/$A`)
    expect(problems).toMatchObject([{ line: 2, column: 11, message: expect.stringContaining('NONE') }])
  })

  it('leaves what is not set below a key of an extension to that extension', async () => {
    await write(`kettle: {key: "${ref('NONE')}-${ref('A')}"}\n`)
    const { own, problems } = await load({ A: 'a' })
    expect(problems.filter(({ message }) => message.includes('not set'))).toEqual([])
    expect(own).toMatchObject([
      {
        value: { key: `${ref('NONE')}-a` },
        written: { key: `${ref('NONE')}-${ref('A')}` },
        unset: [{ line: 1, message: expect.stringContaining('kettle.key refers to ${NONE}') }],
      },
    ])
  })

  it('takes no key for more than a key', async () => {
    await write('__proto__: {polluted: 1}\ndisplay: {constructor: x}\n')
    const { config } = await load()
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(getConfigValue(config, 'toString')).toBeUndefined()
    expect(getConfigValue(config, 'display.constructor')).toBe('x')
    expect(getConfigValue(config, 'display.constructor.length')).toBeUndefined()
    expect(getConfigValue(config, 'toolsets.0')).toBe('hermes-cli')
  })
})

describe('checkConfig', () => {
  it('names unknown keys at every level, and which were likely meant', async () => {
    await write('agent:\n  max_turn: 5\ntolsets: [a]\nmcp_servers: {}\nproviders:\n  mine: {base_urll: x}\n')
    const messages = (await checkConfig({ home, env: {} })).map(({ message }) => message)
    expect(messages).toEqual([
      `${file}:3:1: tolsets is not a known key. Did you mean toolsets?`,
      `${file}:2:3: agent.max_turn is not a known key. Did you mean agent.max_turns?`,
      `${file}:4:1: mcp_servers is not a known key; it has no effect.`,
      `${file}:6:10: providers.mine.base_urll is not a known key. Did you mean providers.mine.base_url?`,
    ])
  })

  it('reads how keys are chosen and how to log in, and names a strategy that does not exist', async () => {
    await write(
      'credential_pool_strategies: {openai: round-robin, zai: least-used}\nproviders: {lab: {oauth: {client_id: 12}}}\n',
    )
    const { config, problems } = await load()
    expect(config.credential_pool_strategies).toEqual({ openai: 'round_robin', zai: 'least_used' })
    expect(config.providers['lab']).toMatchObject({ oauth: { client_id: '12' } })
    expect(problems).toEqual([])
    await write('credential_pool_strategies: {openai: quota_aware}\n')
    expect((await load()).problems[0]?.message).toContain(
      'credential_pool_strategies.openai must be one of fill_first, round_robin, least_used, random, found the text "quota_aware".',
    )
  })

  it('takes no number for the name of a model or a provider, and names platforms that are not there', async () => {
    await write('model: 7\ndelegation: {model: 8, provider: 9}\n')
    expect((await load()).problems.map(({ message }) => message.replace(/ (?:Until|Settings|The).*/, ''))).toEqual([
      expect.stringContaining(':1:8: model must be a name, found 7.'),
      `${file}:2:21: delegation.model must be a name, found 8.`,
      `${file}:2:34: delegation.provider must be a name, found 9.`,
    ])
    await write('model: "7"\nplatform_toolsets: {discord: [todo], telegran: [todo]}\nplatform_hints: {slack: Rhyme.}\n')
    const { config, problems } = await load()
    expect([config.model, problems]).toEqual([{ default: '7' }, []])
    expect((await checkConfig({ home, env: {} })).map(({ message }) => message)).toEqual([
      `${file}:2:21: platform_toolsets.discord is not a known key; it has no effect.`,
      `${file}:2:38: platform_toolsets.telegran is not a known key. Did you mean platform_toolsets.telegram?`,
      `${file}:3:18: platform_hints.slack is not a known key; it has no effect.`,
    ])
  })

  it('names providers, toolsets and wires that do not exist, and what was likely meant', async () => {
    await write(
      `model: { provider: opnai, api_mode: chat }
providers: { lab: { api_mode: codex_responses } }
fallback_providers: [{ provider: lab }, { provider: AUTO }, { provider: lap, model: m }]
toolsets: [hermes-cli, filee]
agent: { disabled_toolsets: [nonsense] }
auxiliary: { vision: { provider: main }, compression: { provider: custom:lab }, approval: { provider: labb } }
routing: [{ provider: nobody-at-all, model: m }]
`,
    )
    const known = { providers: ['openai'], toolsets: ['hermes-cli', 'file'], apiModes: ['codex_responses'] }
    const found = await checkConfig({ home, env: {}, known })
    expect(found.map(({ message }) => message.replace(/^.*config\.yaml:/, ''))).toEqual([
      '1:20: model.provider: there is no provider "opnai". Did you mean openai?',
      '1:37: model.api_mode: there is no wire "chat". Valid: codex_responses.',
      '3:73: fallback_providers.2.provider: there is no provider "lap". Did you mean lab?',
      '7:23: routing.0.provider: there is no provider "nobody-at-all". Valid: auto, lab, openai, custom:lab.',
      '6:103: auxiliary.approval.provider: there is no provider "labb". Did you mean lab?',
      '4:24: toolsets.1: there is no toolset "filee". Did you mean file?',
      '5:30: agent.disabled_toolsets.0: there is no toolset "nonsense". Valid: hermes-cli, file.',
    ])
    expect(await checkConfig({ home, env: {} })).toEqual([])
  })

  it('finds nothing where nothing is wrong', async () => {
    expect(await checkConfig({ home, env: {} })).toEqual([])
    await write('model: {default: a, model: b}\ntoolsets: [x]\n')
    expect(await checkConfig({ home, env: {} })).toEqual([])
  })
})
