// What other agents call our tools and their arguments, so that hooks written for them see what they know, and what they change comes back.
import { isAbsolute, join } from 'node:path'
import type { JsonObject, JsonValue } from '@hermes/contracts'
import type { HookForm } from './event-table.js'

/** A call as a hook of some form knows it. */
interface NamedCall {
  readonly name: string
  readonly input: JsonObject
}

interface ToolRow {
  readonly claude: string
  /** Our argument by theirs. */
  readonly args: Readonly<Record<string, string>>
  /** Those that are paths: theirs are absolute. */
  readonly paths?: readonly string[]
  readonly codex?: 'Bash' | 'apply_patch'
}

const ROWS: Readonly<Record<string, ToolRow>> = Object.freeze({
  terminal: { claude: 'Bash', codex: 'Bash', args: { command: 'command', run_in_background: 'background' } },
  write_file: {
    claude: 'Write',
    codex: 'apply_patch',
    args: { file_path: 'path', content: 'content' },
    paths: ['file_path'],
  },
  patch: {
    claude: 'Edit',
    codex: 'apply_patch',
    args: {
      file_path: 'path',
      old_string: 'old_string',
      new_string: 'new_string',
      replace_all: 'replace_all',
      patch: 'patch',
    },
    paths: ['file_path'],
  },
  read_file: { claude: 'Read', args: { file_path: 'path', offset: 'offset', limit: 'limit' }, paths: ['file_path'] },
  search_files: { claude: 'Grep', args: { pattern: 'pattern', path: 'path', glob: 'file_glob' } },
  delegate_task: { claude: 'Task', args: { prompt: 'goal' } },
  todo_write: { claude: 'TodoWrite', args: { todos: 'todos' } },
  web_search: { claude: 'WebSearch', args: { query: 'query' } },
  web_extract: { claude: 'WebFetch', args: { url: 'url' } },
  clarify: { claude: 'AskUserQuestion', args: {} },
})

/** Every name that a matcher may know a tool by. */
export function namesOfTool(form: HookForm, toolName: string): readonly string[] {
  const row = rowOf(toolName)
  if (form === 'hermes' || row === null) return [toolName]
  const more = row.claude === 'Task' ? ['Agent'] : toolName === 'search_files' ? ['Glob'] : []
  const ofCodex = form === 'codex' && row.codex ? [row.codex] : []
  return [toolName, ...ofCodex, row.claude, ...more]
}

/** The call as hooks of that form are told it. */
export function callFor(form: HookForm, toolName: string, args: JsonObject, cwd: string): NamedCall {
  const row = rowOf(toolName)
  if (form === 'hermes' || row === null) return { name: toolName, input: args }
  if (form === 'codex' && row.codex === 'apply_patch') return { name: 'apply_patch', input: { command: asPatch(args) } }
  const theirs = Object.entries(row.args).flatMap(([their, ours]) => {
    const value = args[ours]
    return value === undefined ? [] : [[their, absolute(row, their, value, cwd)] as const]
  })
  const timeout = args['timeout']
  // Theirs are milliseconds.
  const more: JsonObject = toolName === 'terminal' && typeof timeout === 'number' ? { timeout: timeout * 1_000 } : {}
  return {
    name: form === 'codex' && row.codex ? row.codex : row.claude,
    input: { ...Object.fromEntries(theirs), ...more },
  }
}

/**
 * Our arguments after a hook gave others in its own names; what it left as it was stays as the model wrote it. `null` where they cannot be
 * brought back.
 */
export function argsFrom(
  form: HookForm,
  toolName: string,
  { args, cwd, updated }: { readonly args: JsonObject; readonly cwd: string; readonly updated: JsonObject },
): JsonObject | null {
  const row = rowOf(toolName)
  if (form === 'hermes' || row === null) return { ...args, ...updated }
  if (form === 'codex' && row.codex === 'apply_patch') {
    const { command } = updated
    return toolName === 'patch' && typeof command === 'string' ? { mode: 'patch', patch: command } : null
  }
  const before = callFor(form, toolName, args, cwd).input
  const changed: Record<string, JsonValue> = {}
  for (const [key, value] of Object.entries(updated)) {
    if (JSON.stringify(before[key]) === JSON.stringify(value)) continue
    if (toolName === 'terminal' && key === 'timeout' && typeof value === 'number') changed['timeout'] = value / 1_000
    else if (Object.hasOwn(row.args, key)) changed[row.args[key]!] = value
  }
  return { ...args, ...changed }
}

/** The texts of a call that a pattern in `if` is about. */
export function textsOf(args: JsonObject): readonly string[] {
  return [args['command'], args['path'], args['url'], args['pattern']].filter((value) => typeof value === 'string')
}

function rowOf(toolName: string): ToolRow | null {
  return Object.hasOwn(ROWS, toolName) ? ROWS[toolName]! : null
}

function absolute({ paths = [] }: ToolRow, key: string, value: JsonValue, cwd: string): JsonValue {
  return paths.includes(key) && typeof value === 'string' && !isAbsolute(value) && !value.startsWith('~')
    ? join(cwd, value)
    : value
}

/** A change of files in the form that Codex' hooks know. */
function asPatch({ path, content, old_string: from, new_string: to, patch }: JsonObject): string {
  if (typeof patch === 'string') return patch
  const lines = (text: JsonValue | undefined, mark: string) =>
    String(text ?? '')
      .split('\n')
      .map((line) => `${mark}${line}`)
  const body =
    content === undefined
      ? [`*** Update File: ${String(path)}`, '@@', ...lines(from, '-'), ...lines(to, '+')]
      : [`*** Add File: ${String(path)}`, ...lines(content, '+')]
  return ['*** Begin Patch', ...body, '*** End Patch'].join('\n')
}
