import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { ToolDefinition, ToolOutcome } from '@hermes/contracts/tool'

/** The tools a program may call where its session has them; all others need a model that looks at what they give. */
const ALLOWED: readonly string[] = Object.freeze([
  ...['web_search', 'web_extract', 'read_file', 'write_file', 'search', 'patch', 'terminal'],
  ...['browser_navigate', 'browser_snapshot', 'browser_click', 'browser_type', 'browser_scroll', 'browser_back'],
  'browser_press',
])

/** Another name for a tool of the list. */
const ALIASES: Readonly<Record<string, string>> = Object.freeze({ search: 'search_files' })

/** What is left of `terminal`: a program that ends soon must leave nothing running, and has no screen. */
const TERMINAL_PARAMETERS: readonly string[] = Object.freeze(['command', 'timeout', 'workdir'])

const withAlias = (name: string): readonly string[] => [
  name,
  ...Object.entries(ALIASES).flatMap(([alias, target]) => (target === name ? [alias] : [])),
]

/** The names among `visible` that programs may use, sorted, other names included. */
export function scriptToolNames(visible: readonly string[]): readonly string[] {
  return visible
    .filter((name) => withAlias(name).some((one) => ALLOWED.includes(one)))
    .flatMap(withAlias)
    .sort()
}

/** The definitions that programs get functions for, under every name, with the parameters they may use. */
export function scriptDefinitions(visible: readonly ToolDefinition[]): readonly ToolDefinition[] {
  const names = scriptToolNames(visible.map(({ name }) => name))
  return names.map((name) => {
    const definition = visible.find((one) => withAlias(one.name).includes(name))!
    return { ...definition, name, parameters: restrict(definition) }
  })
}

function restrict({ name, parameters }: ToolDefinition): JsonObject {
  const properties = parameters['properties']
  if (name !== 'terminal' || !isJsonObject(properties)) return parameters
  return { ...parameters, properties: pick(properties, TERMINAL_PARAMETERS) }
}

/** Why a program may not call `tool`; `null` when it may. */
export function refusal(tool: string, visible: readonly ToolDefinition[]): string | null {
  const names = scriptToolNames(visible.map(({ name }) => name))
  if (names.includes(tool)) return null
  if (visible.some(({ name }) => name === tool))
    return `Tool '${tool}' is not available in execute_code. Use it as a normal tool call instead.`
  return `Unknown tool: ${tool}. Available: ${names.join(', ') || 'none'}`
}

/** The arguments as they are passed on, or a line that says why they are not. */
export function checkArguments(tool: string, args: JsonObject): JsonObject | string {
  if (tool !== 'terminal') return args
  if (args['background'] === true)
    return 'Programs cannot leave processes in the background. Run the command in the foreground, or call terminal as a normal tool.'
  return pick(args, TERMINAL_PARAMETERS)
}

/** What a program gets: the data, else the text; of a call that failed a map with `error`. */
export function scriptResult(tool: string, { content, data, isError }: ToolOutcome): JsonValue {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  if (isError) return { ...(isJsonObject(data) ? data : {}), error: text }
  if (data === undefined) return text
  return tool === 'read_file' && isJsonObject(data) ? withoutNumbers(data) : data
}

/** Line numbers help a model and hinder a program. */
function withoutNumbers(data: JsonObject): JsonObject {
  const { content } = data
  if (typeof content !== 'string') return data
  const lines = content.split('\n').map((line) => line.replace(/^\d+\|/, ''))
  return { ...data, content: lines.join('\n') }
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)))
}
