import type { Clock, JsonObject } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { Tool, ToolContext, ToolDefinition, ToolOutcome, ToolResult } from '@hermes/contracts/tool'
import { closest } from 'fastest-levenshtein'
import { type ToolParameters, toolParameters } from './arguments.js'
import {
  bridgeDefinitions,
  type DisclosureOptions,
  disclose,
  searchTool,
  TOOL_CALL,
  TOOL_SEARCH,
  unwrapToolCall,
} from './disclosure.js'
import { isHermesError, RegistryError } from './registry-error.js'
import { asExternal, errorOutcome, overlongText, toOutcome } from './result.js'
import { type CustomToolsets, mergeToolsets, resolveToolsets, type Toolset, type ToolsetSelection } from './toolsets.js'

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const AVAILABILITY_TTL_MS = 30_000

/** A call after its tool was found and its arguments were checked; or its result already, when that failed. */
export type PreparedCall =
  | { readonly type: 'prepared'; readonly tool: Tool; readonly args: unknown }
  | { readonly type: 'immediate'; readonly outcome: ToolOutcome }

/** Which tools exist, which of them a session may see, and how one is called. */
export interface ToolRegistry {
  /** Grows with every change; what was derived from an older value is stale. */
  readonly generation: number
  /**
   * Adds a tool. The same name again from the same toolset replaces it, and MCP may replace MCP.
   * @throws RegistryError `registry.bad_name`, `registry.bad_schema`, `registry.shadowed` when another toolset has the name or alias
   * and `override` is not set.
   */
  register(tool: Tool, options?: { readonly override?: boolean }): void
  /** Removes a tool; `false` when there was none. */
  deregister(name: string): boolean
  /** The tool of that name or alias. */
  get(name: string): Tool | null
  /** Names, sorted. */
  names(): readonly string[]
  /** All toolsets, built in and registered. */
  toolsets(): Readonly<Record<string, Toolset>>
  /**
   * What a model gets: the available tools of a selection, sorted by name, the same bytes every time while nothing changed. Where they are
   * too many, some are hidden behind `tool_search` and `tool_call`.
   * @throws RegistryError `registry.unknown_toolset`, `registry.toolset_cycle`.
   */
  definitions(selection?: ToolsetSelection): Promise<readonly ToolDefinition[]>
  /** The names of the tools that can work here now, hidden or not. */
  available(): Promise<readonly string[]>
  /**
   * The names a session may call that was shown `definitions`: those among them that the selection still has, and with `tool_search`
   * among them everything the selection has, tools that came later included.
   */
  callable(shown: readonly string[], selection?: ToolsetSelection): readonly string[]
  /**
   * Finds the tool and checks the arguments; never throws. `visible` limits it to the names a session may call. A call through
   * `tool_call` comes out as the call of the tool it names.
   */
  prepare(
    call: { readonly name: string; readonly args: JsonObject },
    visible?: readonly string[],
  ): Promise<PreparedCall>
  /** Runs a prepared call; what a tool throws becomes an error outcome, except an abort. */
  execute(prepared: Extract<PreparedCall, { type: 'prepared' }>, context: ToolContext): Promise<ToolOutcome>
  /** `prepare` and `execute` in one. */
  dispatch(name: string, args: JsonObject, context: ToolContext): Promise<ToolOutcome>
}

interface Registered {
  readonly tool: Tool
  readonly parameters: ToolParameters
}

/** Writes an overlong result where `read_file` of `environment` finds it. */
export type KeepResult = (whole: {
  readonly sessionId: string
  readonly callId: string
  readonly text: string
  readonly environment: Environment
}) => Promise<string>

/** Options of {@link createToolRegistry}. */
export interface ToolRegistryOptions {
  readonly tools?: readonly Tool[]
  /** Keeps the whole of a result that is cut, and gives the path; what it rejects with is ignored. Default: it is not kept. */
  readonly keepResult?: KeepResult
  /** Toolsets beside the built-in ones and those of tools. Default: none. */
  readonly toolsets?: CustomToolsets
  /** Default: nothing is ever hidden. */
  readonly disclosure?: DisclosureOptions
  /** Default: `Date.now`. */
  readonly now?: Clock['now']
}

/** An empty registry, or one with `tools`. */
export function createToolRegistry(options: ToolRegistryOptions = {}): ToolRegistry {
  const registry = new Registry(options)
  for (const tool of options.tools ?? []) registry.register(tool)
  return registry
}

class Registry implements ToolRegistry {
  readonly #tools = new Map<string, Registered>()
  readonly #aliases = new Map<string, string>()
  readonly #availability = new Map<string, { readonly available: boolean; readonly atMs: number }>()
  readonly #now: () => number
  readonly #disclosure: DisclosureOptions | null
  readonly #keep: KeepResult | null
  readonly #custom: CustomToolsets
  #generation = 0

  constructor({ now = Date.now, disclosure, keepResult, toolsets = {} }: ToolRegistryOptions) {
    this.#custom = toolsets
    this.#now = now
    this.#keep = keepResult ?? null
    this.#disclosure = disclosure ?? null
  }

  get generation(): number {
    return this.#generation
  }

  register(tool: Tool, options: { readonly override?: boolean } = {}): void {
    for (const name of [tool.name, ...(tool.aliases ?? [])]) {
      if (!NAME.test(name)) {
        throw new RegistryError('registry.bad_name', `Tool name "${name}" must be 1 to 64 letters, digits, "_" or "-".`)
      }
      if (name === TOOL_SEARCH || name === TOOL_CALL)
        throw new RegistryError('registry.bad_name', `The name "${name}" is taken: it is how hidden tools are reached.`)
      this.#refuseShadowing(tool, name, options.override ?? false)
    }
    const parameters = toolParameters(tool.parameters)
    if (parameters.schema['type'] !== 'object') {
      throw new RegistryError('registry.bad_schema', `The parameters of tool "${tool.name}" must be an object schema.`)
    }
    this.deregister(tool.name)
    this.#tools.set(tool.name, { tool, parameters })
    for (const alias of tool.aliases ?? []) this.#aliases.set(alias, tool.name)
    this.#generation++
  }

  #refuseShadowing(tool: Tool, name: string, override: boolean): void {
    const existing = this.get(name)
    if (!existing || override || existing.toolset === tool.toolset) return
    if (existing.toolset.startsWith('mcp-') && tool.toolset.startsWith('mcp-')) return
    throw new RegistryError(
      'registry.shadowed',
      `Tool "${name}" of toolset "${tool.toolset}" would replace the one of "${existing.toolset}"; rename it or set override.`,
    )
  }

  deregister(name: string): boolean {
    const registered = this.#tools.get(name)
    if (!registered) return false
    for (const [alias, target] of this.#aliases) if (target === name) this.#aliases.delete(alias)
    this.#tools.delete(name)
    this.#availability.delete(name)
    this.#generation++
    return true
  }

  get(name: string): Tool | null {
    return (this.#tools.get(name) ?? this.#tools.get(this.#aliases.get(name) ?? ''))?.tool ?? null
  }

  names(): readonly string[] {
    return [...this.#tools.keys()].sort()
  }

  toolsets(): Readonly<Record<string, Toolset>> {
    return mergeToolsets(
      [...this.#tools.values()].map(({ tool }) => tool),
      this.#custom,
    )
  }

  async definitions(selection: ToolsetSelection = {}): Promise<readonly ToolDefinition[]> {
    const all = await this.#present(resolveToolsets(this.toolsets(), selection))
    if (!this.#disclosure) return all.map(({ definition }) => definition)
    const { shown, hidden } = disclose(all, this.#disclosure)
    if (hidden.length === 0) return shown
    const bridgeTools = bridgeDefinitions(hidden, this.#disclosure)
    return [...shown, ...bridgeTools].sort((left, right) => (left.name < right.name ? -1 : 1))
  }

  async available(): Promise<readonly string[]> {
    return (await this.#present(this.names())).map(({ definition }) => definition.name)
  }

  async #present(names: readonly string[]) {
    const selected = names.flatMap((name) => this.#tools.get(name) ?? [])
    const available = await Promise.all(selected.map(({ tool }) => this.#isAvailable(tool)))
    const present = selected.filter((_, index) => available[index])
    const beside = present.map(({ tool }) => tool.name)
    return present.map(({ tool, parameters }) => ({
      toolset: tool.toolset,
      definition: {
        name: tool.name,
        description: tool.describe?.(beside) ?? tool.description,
        parameters: parameters.schema,
      },
    }))
  }

  callable(shown: readonly string[], selection: ToolsetSelection = {}): readonly string[] {
    const chosen = resolveToolsets(this.toolsets(), selection)
    if (!shown.includes(TOOL_SEARCH)) return shown.filter((name) => chosen.includes(name))
    return [...chosen.filter((name) => this.#tools.has(name)), TOOL_CALL, TOOL_SEARCH]
  }

  /** What `tool_search` may find: the core is defined anyway. */
  async #hideable(names: readonly string[]): Promise<readonly ToolDefinition[]> {
    const core = this.#disclosure?.core ?? []
    const all = await this.#present(names)
    return all.filter(({ toolset }) => !core.includes(toolset)).map(({ definition }) => definition)
  }

  async #isAvailable(tool: Tool): Promise<boolean> {
    if (!tool.available) return true
    const cached = this.#availability.get(tool.name)
    if (cached && this.#now() - cached.atMs < AVAILABILITY_TTL_MS) return cached.available
    let available = false
    try {
      available = await tool.available()
    } catch {
      // A tool that cannot say whether it works here does not.
      available = false
    }
    this.#availability.set(tool.name, { available, atMs: this.#now() })
    return available
  }

  async prepare(
    call: { readonly name: string; readonly args: JsonObject },
    visible?: readonly string[],
  ): Promise<PreparedCall> {
    const names = visible ?? this.names()
    if (call.name === TOOL_CALL && names.includes(TOOL_CALL)) {
      const meant = unwrapToolCall(call.args)
      return typeof meant === 'string'
        ? { type: 'immediate', outcome: errorOutcome(meant) }
        : this.prepare(meant, names)
    }
    if (call.name === TOOL_SEARCH && names.includes(TOOL_SEARCH)) return this.#search(call.args, names)
    const tool = this.get(call.name)
    if (!tool || !names.includes(tool.name))
      return { type: 'immediate', outcome: errorOutcome(unknownTool(call.name, names)) }
    if (!(await this.#isAvailable(tool))) {
      return {
        type: 'immediate',
        outcome: errorOutcome(`Tool "${tool.name}" is not available here at the moment. Continue without it.`),
      }
    }
    return checked(tool, this.#tools.get(tool.name)!.parameters, call.args)
  }

  #search(args: JsonObject, names: readonly string[]): Promise<PreparedCall> {
    const tool = searchTool(() => this.#hideable(names)) as Tool
    return checked(tool, toolParameters(tool.parameters), args)
  }

  async execute(prepared: Extract<PreparedCall, { type: 'prepared' }>, context: ToolContext): Promise<ToolOutcome> {
    try {
      const { tool, args } = prepared
      const result = await tool.execute(args, context)
      const path = this.#keep ? await this.#keepWhole(tool, result, context) : null
      return toOutcome(tool.external ? asExternal(result) : result, tool.maxResultChars, path)
    } catch (error) {
      if (context.signal.aborted) throw error
      const line = error instanceof Error ? error.message : String(error)
      return errorOutcome(isHermesError(error) ? line : `${prepared.tool.name} failed: ${line}`)
    }
  }

  /** Where the whole of a result went that is too long. */
  async #keepWhole(tool: Tool, result: ToolResult, context: ToolContext): Promise<string | null> {
    const text = overlongText(result, tool.maxResultChars)
    if (text === null) return null
    try {
      const { sessionId, callId, environment } = context
      return await this.#keep!({ sessionId, callId, text, environment })
    } catch {
      // The model is told what was left out of the result, and then of no file that has it.
      return null
    }
  }

  async dispatch(name: string, args: JsonObject, context: ToolContext): Promise<ToolOutcome> {
    const prepared = await this.prepare({ name, args })
    return prepared.type === 'immediate' ? prepared.outcome : this.execute(prepared, context)
  }
}

async function checked(tool: Tool, parameters: ToolParameters, args: JsonObject): Promise<PreparedCall> {
  const result = await parameters.check(args)
  if (result.type === 'valid') return { type: 'prepared', tool, args: result.args }
  return {
    type: 'immediate',
    outcome: errorOutcome(
      `Invalid arguments for ${tool.name}: ${result.message.replace(/\.$/, '')}. Correct them and call again.`,
    ),
  }
}

function unknownTool(name: string, names: readonly string[]): string {
  if (names.length === 0) return `There is no tool "${name}", nor any other tool. Answer in text.`
  const nearest = closest(name, [...names])
  if (names.includes(TOOL_SEARCH))
    return `There is no tool "${name}". Did you mean "${nearest}"? Find others with ${TOOL_SEARCH}.`
  return `There is no tool "${name}". Did you mean "${nearest}"? Available: ${[...names].sort().join(', ')}.`
}
