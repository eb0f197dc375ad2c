import type { JsonObject, JsonValue } from '@hermes/contracts'
import type { JsonSchema } from '@hermes/contracts/tool'

/** Names that tools of other agents have for the same argument; all of a row mean the same, in the same unit. */
const SAME: readonly (readonly string[])[] = [
  ['path', 'file_path', 'filepath', 'file', 'filename', 'file_name', 'target_file', 'absolute_path'],
  ['content', 'new_content', 'contents', 'file_content', 'file_text', 'text'],
  ['old_string', 'old_str', 'old_text'],
  ['new_string', 'new_str', 'new_text', 'replacement'],
  ['command', 'cmd', 'shell_command'],
  ['workdir', 'cwd', 'working_directory', 'working_dir'],
  ['pattern', 'regex', 'regexp'],
  ['query', 'q', 'search_query', 'search_term'],
  ['code', 'source', 'program'],
  ['url', 'uri', 'link'],
  ['question', 'prompt'],
  ['goal', 'task'],
  ['choices', 'options'],
  ['allow_free_text', 'allow_freetext', 'allow_freeform', 'free_text'],
]

/** Arguments under the names that a schema has for them. */
interface NamedArguments {
  readonly args: JsonObject
  /** Those that it has none for; empty where it allows others. */
  readonly unknown: readonly string[]
}

/** Brings other spellings of arguments to their name, where that one is not given and no other could be meant. */
export function nameArguments(args: JsonObject, schema: JsonSchema): NamedArguments {
  const { properties, additionalProperties, patternProperties } = schema
  const isOpen = patternProperties !== undefined || (additionalProperties ?? false) !== false
  if (isOpen || typeof properties !== 'object' || properties === null || Array.isArray(properties))
    return { args, unknown: [] }
  const known = Object.keys(properties)
  const strangers = Object.keys(args).filter((name) => !known.includes(name))
  if (strangers.length === 0) return { args, unknown: [] }
  const free = new Set(known.filter((name) => args[name] === undefined))
  const meant = new Map<string, string>()
  for (const name of strangers) {
    const [target, ...others] = [...free].filter((one) => isSame(one, name))
    if (target === undefined || others.length > 0) continue
    meant.set(name, target)
    free.delete(target)
  }
  const named = Object.entries(args).map(([name, value]): [string, JsonValue] => [meant.get(name) ?? name, value])
  return { args: Object.fromEntries(named), unknown: strangers.filter((name) => !meant.has(name)) }
}

/** What a model is told of arguments that did nothing. */
export function ignoredLine(tool: string, unknown: readonly string[], schema: JsonSchema): string {
  const known = Object.keys((schema['properties'] as JsonObject | undefined) ?? {})
  const names = unknown.map((name) => JSON.stringify(name))
  return `[${tool} has no argument ${names.join(', ')}; that was ignored. It takes: ${known.join(', ') || 'none'}.]`
}

function isSame(known: string, name: string): boolean {
  const [one, other] = [plain(known), plain(name)]
  if (one === other) return true
  return SAME.some((row) => row.some((word) => plain(word) === one) && row.some((word) => plain(word) === other))
}

/** `filePath`, `file-path` and `file_path` are one name. */
function plain(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase()
}
