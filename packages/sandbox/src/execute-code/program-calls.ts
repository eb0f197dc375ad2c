import type { JsonObject, JsonValue } from '@hermes/contracts'
import { errorLine, isJsonObject } from '@hermes/contracts'
import { sourcesOf, type TextSource } from '@hermes/contracts/conversation'
import type { ToolCaller, ToolDefinition, ToolOutcome } from '@hermes/contracts/tool'
import type { CodeRequest } from './code-request.js'
import type { TimeLimit } from './time-limit.js'

/** The calls of one program. */
export class ProgramCalls {
  readonly #tools: ToolCaller
  readonly #maxCalls: number
  readonly #progress: CodeRequest['progress']
  readonly #limit: TimeLimit
  readonly #end = new AbortController()
  #made = 0
  #finished = 0
  #sources: readonly TextSource[] | null = []

  constructor(options: {
    readonly tools: ToolCaller
    readonly maxCalls: number
    readonly progress: CodeRequest['progress']
    readonly limit: TimeLimit
  }) {
    this.#tools = options.tools
    this.#maxCalls = options.maxCalls
    this.#progress = options.progress
    this.#limit = options.limit
  }

  get made(): number {
    return this.#made
  }

  /** Where the text from outside came from that the program got; `null` where one of them is not known. */
  get sources(): readonly TextSource[] | null {
    return this.#sources
  }

  /** Ends what is under way. */
  stop(): void {
    this.#end.abort()
  }

  /** Answers one call; never rejects. */
  readonly handle = async (tool: string, args: JsonObject): Promise<JsonValue> => {
    const refused = refusal(tool, this.#tools.definitions)
    if (refused !== null) return { error: refused }
    if (this.#made >= this.#maxCalls)
      return { error: `The limit of ${this.#maxCalls} tool calls is reached. Print what you have.` }
    const checked = checkArguments(tool, args)
    if (typeof checked === 'string') return { error: checked }
    this.#made++
    try {
      const outcome = await this.#tools.call(tool, checked, { signal: this.#end.signal, onWait: this.#limit.wait })
      this.#sources = joinSources(this.#sources, sourcesOf(outcome.content))
      return scriptResult(tool, outcome)
    } catch (error) {
      return { error: this.#end.signal.aborted ? 'The program was stopped.' : errorLine(error) }
    } finally {
      this.#finished++
      const data = { calls_finished: this.#finished, calls_made: this.#made }
      this.#progress(`${this.#finished}/${this.#made} calls`, { data })
    }
  }
}

/** Both together; what is not known of one is not known of both. */
export function joinSources(
  one: readonly TextSource[] | null,
  other: readonly TextSource[] | null,
): readonly TextSource[] | null {
  return one && other && [...one, ...other]
}

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
function refusal(tool: string, visible: readonly ToolDefinition[]): string | null {
  const names = scriptToolNames(visible.map(({ name }) => name))
  if (names.includes(tool)) return null
  if (visible.some(({ name }) => name === tool))
    return `Tool '${tool}' is not available in execute_code. Use it as a normal tool call instead.`
  return `Unknown tool: ${tool}. Available: ${names.join(', ') || 'none'}`
}

/** The arguments as they are passed on, or a line that says why they are not. */
function checkArguments(tool: string, args: JsonObject): JsonObject | string {
  if (tool !== 'terminal') return args
  if (args['background'] === true)
    return 'Programs cannot leave processes in the background. Run the command in the foreground, or call terminal as a normal tool.'
  return pick(args, TERMINAL_PARAMETERS)
}

/** What a program gets: the data, else the text; of a call that failed a map with `error`. */
function scriptResult(tool: string, { content, data, isError }: ToolOutcome): JsonValue {
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
