import { nearestName } from '@hermes/contracts'
import type { Path } from './check-field.js'
import { isMap } from './check-field.js'
import type { Field } from './field.js'
import type { ConfigProblem } from './problem.js'
import { problemAt } from './problem.js'
import { PLATFORM_SECTIONS, SCHEMA } from './schema.js'
import type { ReadYaml } from './yaml-file.js'

/** Sections in which a key with a typing error may leave something open that was meant to be closed. */
const GUARDED: readonly unknown[] = ['approvals', 'security', 'terminal', 'display']

/**
 * Keys that may leave something open because they are written wrong, or that somebody looks for the effect of: top-level ones that exist
 * nowhere, those of `approvals`, `security`, `terminal` and `display` that are near a known one, and any of `display` that exists nowhere. One
 * line each.
 */
export function misplacedKeys(file: string, yaml: ReadYaml): readonly ConfigProblem[] {
  return problemsOf(file, yaml, isMisplaced)
}

/** Every other key without a meaning here, those of the Hermes Agent that people come from included. One line each. */
export function unusedKeys(file: string, yaml: ReadYaml): readonly ConfigProblem[] {
  return problemsOf(file, yaml, (key) => !isMisplaced(key))
}

interface UnknownKey {
  readonly path: Path
  /** The keys there are beside it. */
  readonly known: readonly string[]
  /** The known key that was likely meant. */
  readonly meant: string | null
}

function isMisplaced({ path, meant }: Omit<UnknownKey, 'known'>): boolean {
  if (path.length === 1) return meant !== null || !REFERENCE_SECTIONS.has(String(path[0]))
  return GUARDED.includes(path[0]) && (meant !== null || isNoDisplay(path))
}

function isOfReferenceDisplay(path: Path): boolean {
  return path[0] === 'display' && path.length === 2 && REFERENCE_DISPLAY.has(String(path[1]))
}

function isNoDisplay(path: Path): boolean {
  return path[0] === 'display' && path.length === 2 && !REFERENCE_DISPLAY.has(String(path[1]))
}

function problemsOf(file: string, yaml: ReadYaml, isWanted: (key: UnknownKey) => boolean): readonly ConfigProblem[] {
  const keys = unknownKeys(SCHEMA, yaml.value, []).map(({ path, known }) => {
    const name = String(path.at(-1))
    const isKnownElsewhere = path.length === 1 ? REFERENCE_SECTIONS.has(name) : isOfReferenceDisplay(path)
    return { path, known, meant: isKnownElsewhere ? null : nearestName(name, known) }
  })
  return keys.filter(isWanted).map(({ path, known, meant }) => {
    const [written, right] = [path.join('.'), [...path.slice(0, -1), meant].join('.')]
    const place = yaml.locateKey(path)
    const mayBeOfExtension = path.length === 1 || (path.length === 2 && PLATFORM_SECTIONS.includes(String(path[0])))
    const unknownKey = mayBeOfExtension ? { unknownKey: written } : {}
    if (meant !== null)
      return { ...problemAt(file, place, `${written} is not a known key. Did you mean ${right}?`), ...unknownKey }
    if (isNoDisplay(path))
      return problemAt(file, place, `${written} is not a known key. Keys of display: ${known.join(', ')}.`)
    const message = `${written} is not a known key; it has no effect.`
    return { ...problemAt(file, place, message), ...unknownKey, isHarmless: true }
  })
}

function unknownKeys(
  field: Field | undefined,
  value: unknown,
  path: Path,
): { readonly path: Path; readonly known: readonly string[] }[] {
  if (!isMap(value)) return []
  if (field?.type === 'record')
    return Object.entries(value).flatMap(([name, item]) => unknownKeys(field.of, item, [...path, name]))
  // Of those that may hold nothing else, loading has told already.
  if (field?.type !== 'section' || field.isClosed) return []
  const { fields, aliases = {} } = field
  return Object.entries(value).flatMap(([key, item]) => {
    if (Object.hasOwn(fields, key)) return unknownKeys(fields[key], item, [...path, key])
    return Object.hasOwn(aliases, key) ? [] : [{ path: [...path, key], known: Object.keys(fields) }]
  })
}

/** Top-level keys of the Hermes Agent that people bring their `config.yaml` from, and that mean nothing here. */
const REFERENCE_SECTIONS: ReadonlySet<string> = new Set([
  ...[
    '_config_version',
    'attachments',
    'bot_mode',
    'bot_peers',
    'browser',
    'computer_use',
    'credential_pool_quota_aware',
  ],
  ...['cron', 'curator', 'dashboard', 'desktop', 'discord', 'doctor', 'honcho', 'hooks'],
  ...['hooks_auto_accept', 'human_delay', 'kanban', 'local_runtime', 'logging', 'loops', 'lsp', 'matrix', 'mattermost'],
  ...['max_concurrent_sessions', 'max_live_sessions', 'mcp', 'mcp_discovery_timeout', 'mcp_servers'],
  ...['mcp_single_query_discovery_timeout', 'model_catalog', 'monitoring', 'network', 'nous', 'onboarding'],
  ...['openrouter', 'paste_collapse_char_threshold', 'paste_collapse_threshold', 'paste_collapse_threshold_fallback'],
  ...['plugins', 'prefill_messages_file', 'privacy', 'profiles', 'provider_routing', 'proxy'],
  ...['runtime', 'secrets', 'session', 'session_reset', 'sessions', 'skills', 'slack', 'smart_model_routing'],
  ...['telegram', 'telemetry', 'tts', 'updates'],
  ...['vault', 'vertex', 'voice', 'wake_word', 'whatsapp', 'worktree_sync', 'context_file_read_timeout'],
])

/** Keys of `display` of the same Hermes Agent; those that are known here count before this list. */
const REFERENCE_DISPLAY: ReadonlySet<string> = new Set(
  `background_process_notifications battery bell_on_complete bell_on_prompt busy_ack_enabled busy_input_mode
  busy_steer_ack_enabled cli_multiline_shortcuts cli_rebuild_scrollback_on_redraw cli_refresh_interval compact
  copy_shortcut credits_notices details_mode ephemeral_system_ttl file_mutation_verifier final_response_markdown
  focus_saved_tool_progress focus_view friendly_tool_labels inline_diffs interface interim_assistant_messages
  language memory_notifications mouse_tracking persist_prompts persistent_output persistent_output_max_lines
  pet platforms reasoning_full reasoning_style resume_display resume_exchanges resume_last_session
  resume_max_assistant_chars resume_max_assistant_lines resume_max_user_chars resume_skip_tool_only
  runtime_footer sections show_commentary show_cost show_reasoning skin spinner_token_flow status_bar
  status_phrases streaming timestamp_format timestamps tool_preview_length tool_progress tool_progress_command
  tool_progress_grouping tool_progress_overrides tui_agents_nudge tui_auto_resume_recent tui_status_indicator
  turn_completion_explainer turn_summary user_message_preview vim_mode`.split(/\s+/),
)
