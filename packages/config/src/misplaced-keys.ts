import { nearestName } from '@hermes/contracts'
import type { Path } from './check-field.js'
import { isMap } from './check-field.js'
import type { Field } from './field.js'
import type { ConfigProblem } from './problem.js'
import { problemAt } from './problem.js'
import { SCHEMA } from './schema.js'
import type { YamlFile } from './yaml-file.js'

/** Sections in which a key with a typing error may leave something open that was meant to be closed. */
const GUARDED: readonly unknown[] = ['approvals', 'security', 'terminal']

/**
 * Keys that may leave something open because they are written wrong: top-level ones that exist nowhere, and those of `approvals`,
 * `security` and `terminal` that are near a known one. One line each.
 */
export function misplacedKeys(file: string, yaml: YamlFile): readonly ConfigProblem[] {
  return problemsOf(file, yaml, isMisplaced)
}

/** Every other key without a meaning here, those of the Hermes Agent that people come from included. One line each. */
export function unusedKeys(file: string, yaml: YamlFile): readonly ConfigProblem[] {
  return problemsOf(file, yaml, (key) => !isMisplaced(key))
}

interface UnknownKey {
  readonly path: Path
  /** The known key that was likely meant. */
  readonly meant: string | null
}

function isMisplaced({ path, meant }: UnknownKey): boolean {
  if (path.length === 1) return meant !== null || !REFERENCE_SECTIONS.has(String(path[0]))
  return meant !== null && GUARDED.includes(path[0])
}

function problemsOf(file: string, yaml: YamlFile, isWanted: (key: UnknownKey) => boolean): readonly ConfigProblem[] {
  const keys = unknownKeys(SCHEMA, yaml.value, []).map(({ path, known }) => {
    const name = String(path.at(-1))
    const isKnownElsewhere = path.length === 1 && REFERENCE_SECTIONS.has(name)
    return { path, meant: isKnownElsewhere ? null : nearestName(name, known) }
  })
  return keys.filter(isWanted).map(({ path, meant }) => {
    const [written, right] = [path.join('.'), [...path.slice(0, -1), meant].join('.')]
    const place = yaml.locateKey(path)
    const unknownKey = path.length === 1 ? { unknownKey: written } : {}
    if (meant !== null)
      return { ...problemAt(file, place, `${written} is not a known key. Did you mean ${right}?`), ...unknownKey }
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
  ...[
    'cron',
    'curator',
    'dashboard',
    'desktop',
    'discord',
    'doctor',
    'goals',
    'group_sessions_per_user',
    'honcho',
    'hooks',
  ],
  ...['hooks_auto_accept', 'human_delay', 'kanban', 'local_runtime', 'logging', 'loops', 'lsp', 'matrix', 'mattermost'],
  ...['max_concurrent_sessions', 'max_live_sessions', 'mcp', 'mcp_discovery_timeout', 'mcp_servers'],
  ...[
    'mcp_single_query_discovery_timeout',
    'model_aliases',
    'model_catalog',
    'monitoring',
    'network',
    'nous',
    'onboarding',
  ],
  ...['openrouter', 'paste_collapse_char_threshold', 'paste_collapse_threshold', 'paste_collapse_threshold_fallback'],
  ...[
    'personalities',
    'platforms',
    'plugins',
    'prefill_messages_file',
    'privacy',
    'profiles',
    'provider_routing',
    'proxy',
  ],
  ...[
    'quick_commands',
    'runtime',
    'secrets',
    'session',
    'session_reset',
    'sessions',
    'skills',
    'slack',
    'smart_model_routing',
  ],
  ...[
    'streaming',
    'stt',
    'telegram',
    'telemetry',
    'thread_sessions_per_user',
    'tts',
    'unauthorized_dm_behavior',
    'updates',
  ],
  ...[
    'vault',
    'vertex',
    'voice',
    'wake_word',
    'web',
    'whatsapp',
    'worktree_sync',
    'x_search',
    'context_file_read_timeout',
  ],
])
