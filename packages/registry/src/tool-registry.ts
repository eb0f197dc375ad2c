import type { Clock, JsonObject } from '@hermes/contracts'
import type { Registration, ToolOptions } from '@hermes/contracts/extension'
import type { Tool, ToolContext, ToolDefinition, ToolOutcome, ToolSource } from '@hermes/contracts/tool'
import { toolParameters } from './arguments.js'
import {
  bridgeDefinitions,
  type DisclosureOptions,
  disclose,
  type HiddenToolset,
  type OwnedDefinition,
  searchTool,
  TOOL_CALL,
  TOOL_SEARCH,
  unwrapToolCall,
} from './disclosure.js'
import { checkName, type RegisteredTool, toRegisteredTool } from './registered-tool.js'
import { RegistryError } from './registry-error.js'
import { errorOutcome } from './result.js'
import { SourceListing, type SourceListingOptions } from './source-listing.js'
import {
  checkCall,
  type KeepResult,
  type PreparedCall,
  type ReadyCall,
  runCall,
  type ToolNames,
  unknownTool,
} from './tool-call.js'
import {
  type CustomToolsets,
  mergeToolsets,
  type RegisteredToolset,
  type Selected,
  selectToolsets,
  TOOLSETS,
  type Toolset,
  type ToolsetSelection,
} from './toolsets.js'

const AVAILABILITY_TTL_MS = 30_000

/** Which tools exist, which of them a session may see, and how one is called. */
export interface ToolRegistry {
  /** Grows with every change; what was derived from an older value is stale. */
  readonly generation: number
  /**
   * Adds a tool. The same name again from the same toolset replaces it, and MCP may replace MCP.
   * @throws RegistryError `registry.bad_name`, `registry.bad_schema`, `registry.shadowed` when another toolset has the name or alias
   * and `override` is not set.
   */
  register(tool: Tool, options?: RegisterOptions): void
  /** The same; what it gives back removes the tool, if no other one has taken its name since. */
  add(tool: Tool, options?: RegisterOptions): Registration
  /**
   * Has the tools of a source as long as it is not taken back. Of two tools of one name that of the registry itself counts, else that of the
   * source that came first.
   * @throws RegistryError `registry.bad_name`, `registry.toolset_exists` for the name of a built-in toolset or of another source.
   */
  addSource(source: ToolSource): Registration
  /** Has the tools of another registry too, behind its own, as they come and go there; what it gives back ends that. */
  use(base: ToolRegistry): Registration
  /** Removes a tool; `false` when there was none. */
  deregister(name: string): boolean
  /** The tool of that name or alias. */
  get(name: string): Tool | null
  /** Names, sorted. */
  names(): readonly string[]
  /** All toolsets, built in and registered. */
  toolsets(): Readonly<Record<string, Toolset>>
  /**
   * What a model gets: the available tools of a selection, sorted by name, the same bytes every time while nothing changed. What is deferred
   * or too much is behind `tool_search` and `tool_call`, which are there for sources too, whatever those list by now.
   * @throws RegistryError `registry.unknown_toolset`, `registry.toolset_cycle`.
   */
  definitions(selection?: ToolsetSelection): Promise<readonly ToolDefinition[]>
  /** The names of the tools that can work here now, hidden or not, sorted. */
  available(): Promise<readonly string[]>
  /**
   * The names a session may call that was shown `definitions`: those among them that the selection still has, and with `tool_search`
   * among them everything the selection has, tools that came later included.
   */
  callable(shown: readonly string[], selection?: ToolsetSelection): ToolNames
  /**
   * Finds the tool and checks the arguments; never throws. `visible` limits it to the names a session may call. A call through
   * `tool_call` comes out as the call of the tool it names. Arguments are checked by the parameters the tool has now.
   */
  prepare(call: { readonly name: string; readonly args: JsonObject }, visible?: ToolNames): Promise<PreparedCall>
  /** Runs a prepared call; what a tool throws becomes an error outcome, except an abort. */
  execute(prepared: ReadyCall, context: ToolContext): Promise<ToolOutcome>
  /** `prepare` and `execute` in one. */
  dispatch(name: string, args: JsonObject, context: ToolContext): Promise<ToolOutcome>
}

/** How a tool is registered. */
interface RegisterOptions extends ToolOptions {
  /** Takes the place of a tool of another toolset. Default `false`. */
  readonly override?: boolean
}

/** Options of {@link createToolRegistry}. */
interface ToolRegistryOptions extends SourceListingOptions {
  readonly tools?: readonly Tool[]
  /** Keeps the whole of a result that is cut, and gives the path; what it rejects with is ignored. Default: it is not kept. */
  readonly keepResult?: KeepResult
  /** Toolsets beside the built-in ones and those of tools. Default: none. */
  readonly toolsets?: CustomToolsets
  /** Default: only what is deferred is hidden. */
  readonly disclosure?: DisclosureOptions
  /** The only tools there are, whoever brings them; `null` for all. Default `null`. */
  readonly allowed?: readonly string[] | null
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
  readonly #tools = new Map<string, RegisteredTool>()
  readonly #aliases = new Map<string, string>()
  /** Tools of sources that nobody vouches for. */
  readonly #outside = new WeakSet<Tool>()
  readonly #availability = new WeakMap<Tool, { readonly available: boolean; readonly atMs: number }>()
  readonly #now: () => number
  readonly #disclosure: DisclosureOptions
  readonly #keep: KeepResult | null
  readonly #custom: CustomToolsets
  readonly #listing: SourceListingOptions
  readonly #allowed: ReadonlySet<string> | null
  #sources: readonly SourceListing[] = []
  /** Whether tools came, or a source whose tools come and go: some may be gone and come again. */
  #hasGuests = false
  #used: readonly { readonly base: Registry }[] = []
  #changes = 0
  #merged: { readonly generation: number; readonly toolsets: Readonly<Record<string, Toolset>> } | null = null

  constructor({
    now = Date.now,
    disclosure = { mode: 'auto' },
    keepResult,
    toolsets = {},
    allowed = null,
    logger,
    answersWithinMs,
  }: ToolRegistryOptions) {
    this.#custom = toolsets
    this.#now = now
    this.#keep = keepResult ?? null
    this.#disclosure = disclosure
    this.#listing = { logger, answersWithinMs }
    this.#allowed = allowed && new Set(allowed)
  }

  get generation(): number {
    // Looked at several times in each call.
    let sum = this.#changes
    for (const { base } of this.#used) sum += base.generation
    for (const { version } of this.#sources) sum += version
    return sum
  }

  register(tool: Tool, options: RegisterOptions = {}): void {
    this.#register(tool, options)
  }

  add(tool: Tool, options: RegisterOptions = {}): Registration {
    const registered = this.#register(tool, options)
    return {
      dispose: () => {
        if (this.#tools.get(tool.name) === registered) this.deregister(tool.name)
      },
    }
  }

  #register(tool: Tool, { override = false, deferred }: RegisterOptions): RegisteredTool {
    const isDeferred = deferred ?? TOOLSETS[tool.toolset]?.isDeferred ?? false
    const registered = toRegisteredTool(tool, { isDeferred, mayChange: false, isOutside: false })
    for (const name of [tool.name, ...(tool.aliases ?? [])]) this.#refuseShadowing(tool, name, override)
    if (this.#allowed && !this.#allowed.has(tool.name)) return registered
    this.deregister(tool.name)
    this.#tools.set(tool.name, registered)
    // What joins a set of Hermes stays: a name that nobody has is a mistake all the same.
    this.#hasGuests ||= !Object.hasOwn(TOOLSETS, tool.toolset)
    for (const alias of tool.aliases ?? []) this.#aliases.set(alias, tool.name)
    this.#changes++
    return registered
  }

  #refuseShadowing(tool: Tool, name: string, override: boolean): void {
    const existing = this.#own(name)?.tool
    if (!existing || override || existing.toolset === tool.toolset) return
    if (existing.toolset.startsWith('mcp-') && tool.toolset.startsWith('mcp-')) return
    throw new RegistryError(
      'registry.shadowed',
      `Tool "${name}" of toolset "${tool.toolset}" would replace the one of "${existing.toolset}"; rename it or set override.`,
    )
  }

  addSource(source: ToolSource): Registration {
    checkName(source.name)
    if (Object.hasOwn(TOOLSETS, source.name))
      throw new RegistryError(
        'registry.toolset_exists',
        `There is a toolset "${source.name}" already; name the source of tools otherwise.`,
      )
    if (this.#sources.some((other) => other.source.name === source.name))
      throw new RegistryError(
        'registry.toolset_exists',
        `There is a source of tools "${source.name}" already; name it otherwise.`,
      )
    const listing = new SourceListing(source, this.#listing)
    listing.start()
    this.#hasGuests ||= source.onChange !== undefined
    this.#sources = [...this.#sources, listing]
    this.#changes++
    return {
      dispose: () => {
        if (!this.#sources.includes(listing)) return
        listing.stop()
        this.#changes += listing.version + 1
        this.#sources = this.#sources.filter((other) => other !== listing)
      },
    }
  }

  use(base: ToolRegistry): Registration {
    if (!(base instanceof Registry))
      throw new RegistryError(
        'registry.bad_base',
        'Only a registry that createToolRegistry made can be used by another.',
      )
    // Each use is told from another one of the same registry.
    const used = { base }
    this.#used = [...this.#used, used]
    this.#changes++
    return {
      dispose: () => {
        if (!this.#used.includes(used)) return
        this.#changes += base.generation + 1
        this.#used = this.#used.filter((other) => other !== used)
      },
    }
  }

  deregister(name: string): boolean {
    const registered = this.#tools.get(name)
    if (!registered) return false
    for (const [alias, target] of this.#aliases) if (target === name) this.#aliases.delete(alias)
    this.#tools.delete(name)
    this.#changes++
    return true
  }

  #own(name: string): RegisteredTool | undefined {
    return this.#tools.get(name) ?? this.#tools.get(this.#aliases.get(name) ?? '')
  }

  #find(name: string): RegisteredTool | undefined {
    const own = this.#own(name)
    if (own) return own
    const found = this.#brought(name)
    return !found || !this.#allowed || this.#allowed.has(found.tool.name) ? found : undefined
  }

  #brought(name: string): RegisteredTool | undefined {
    for (const { tools } of this.#sources) {
      const found = tools.get(name)
      if (found) return found
    }
    for (const { base } of this.#used) {
      const found = base.#find(name)
      if (found) return found
    }
    return undefined
  }

  get(name: string): Tool | null {
    return this.#find(name)?.tool ?? null
  }

  names(): readonly string[] {
    return [...this.#names()].sort()
  }

  #names(): ReadonlySet<string> {
    const names = new Set(this.#tools.keys())
    const add = (name: string) => (!this.#allowed || this.#allowed.has(name)) && names.add(name)
    for (const source of this.#sources) source.names.forEach(add)
    for (const { base } of this.#used) base.#names().forEach(add)
    return names
  }

  /** Its own toolsets and those of its bases. */
  #registered(): readonly RegisteredToolset[] {
    return [
      ...[...this.#tools.values()].map(({ tool }) => ({ name: tool.toolset, tools: [tool.name] })),
      ...this.#sources.map(({ source: { name, description, trusted }, names }) => ({
        name,
        tools: names,
        description: trusted ? description : undefined,
      })),
      ...this.#used.flatMap(({ base }) => base.#registered()),
    ]
  }

  /** Names of toolsets that may have tools later; where only some tools may be had, of those that have one of them. */
  #sourceNames(allowed = this.#allowed): readonly string[] {
    const mayBring = ({ names }: SourceListing) => !allowed || names.some((name) => allowed.has(name))
    return [
      ...this.#sources.filter(mayBring).map(({ source }) => source.name),
      ...this.#used.flatMap(({ base }) => base.#sourceNames(allowed)),
    ]
  }

  toolsets(): Readonly<Record<string, Toolset>> {
    const { generation } = this
    if (this.#merged?.generation === generation) return this.#merged.toolsets
    const mayCome = this.#mayList() || this.#used.some(({ base }) => base.#hasGuests || base.#mayList())
    const toolsets = mergeToolsets(this.#registered(), this.#custom, { aliases: this.#aliases, mayCome })
    this.#merged = { generation, toolsets }
    return toolsets
  }

  /** Whether a source may have further tools: one that says when it changes, and one that is not listed yet. */
  #mayList(): boolean {
    return this.#sources.some(({ source, version }) => source.onChange !== undefined || version === 0)
  }

  async definitions(selection: ToolsetSelection = {}): Promise<readonly ToolDefinition[]> {
    const selected = selectToolsets(this.toolsets(), selection)
    const all = await this.#present([...selected.tools].sort())
    const { shown, hidden } = disclose(all, this.#disclosure)
    const behind = this.#behindBridge(selected, { all, hidden })
    if (behind.length === 0) return shown
    return [...shown, ...bridgeDefinitions(behind)].sort((left, right) => (left.name < right.name ? -1 : 1))
  }

  /** Sets of hidden tools, and of sources that may list some later. */
  #behindBridge(
    selected: Selected,
    { all, hidden }: { readonly all: readonly OwnedDefinition[]; readonly hidden: readonly OwnedDefinition[] },
  ): readonly HiddenToolset[] {
    const toolsets = this.toolsets()
    const names = new Set(hidden.map(({ toolset }) => toolset))
    if (this.#disclosure.mode !== 'off')
      for (const name of this.#sourceNames()) if (selected.toolsets.has(name)) names.add(name)
    // The definitions of a set that is shown whole say what it is for.
    const isWhole = (name: string) =>
      all.some(({ toolset }) => toolset === name) && !hidden.some(({ toolset }) => toolset === name)
    const behind = [...names].filter((name) => !isWhole(name))
    return (behind.length > 0 ? behind : [...names]).map((name) => ({
      name,
      description: toolsets[name]?.description ?? '',
    }))
  }

  async available(): Promise<readonly string[]> {
    return (await this.#present(this.names())).map(({ definition }) => definition.name)
  }

  async #present(names: readonly string[]): Promise<readonly OwnedDefinition[]> {
    const selected = names.flatMap((name) => {
      const found = this.#find(name)
      return found?.tool.name === name ? [found] : []
    })
    const available = await Promise.all(selected.map(({ tool }) => this.#isAvailable(tool)))
    const present = selected.filter((_, index) => available[index])
    const beside = present.map(({ tool }) => tool.name)
    return present.map(({ tool, parameters, isDeferred, isOutside }) => ({
      toolset: tool.toolset,
      isDeferred,
      isOutside,
      definition: {
        name: tool.name,
        description: tool.describe?.(beside) ?? tool.description,
        parameters: parameters.schema,
      },
    }))
  }

  callable(shown: readonly string[], selection: ToolsetSelection = {}): ToolNames {
    const { tools: chosen } = selectToolsets(this.toolsets(), selection)
    if (shown.includes(TOOL_SEARCH)) return this.#reachable(chosen)
    const names = new Set<string>()
    for (const name of shown) {
      const found = this.#find(name)
      // A tool that has another name by now is reached by the one that was shown.
      if (found && chosen.has(found.tool.name)) names.add(name).add(found.tool.name)
    }
    return names
  }

  /** Behind the bridge may be thousands, of which one is called: each is looked up when it is. */
  #reachable(chosen: ReadonlySet<string>): ToolNames {
    const has = (name: string) => {
      if (name === TOOL_CALL || name === TOOL_SEARCH) return true
      const found = this.#find(name)
      return found !== undefined && chosen.has(found.tool.name)
    }
    return {
      has,
      [Symbol.iterator]: () => [...[...chosen].filter(has), TOOL_CALL, TOOL_SEARCH].values(),
    }
  }

  /** What `tool_search` may find: the core is defined anyway. */
  async #hideable(names: ToolNames): Promise<readonly OwnedDefinition[]> {
    const { core = [] } = this.#disclosure
    const all = await this.#present([...names].sort())
    return all.filter(({ toolset, isDeferred }) => isDeferred || !core.includes(toolset))
  }

  async #isAvailable(tool: Tool): Promise<boolean> {
    if (!tool.available) return true
    const cached = this.#availability.get(tool)
    if (cached && this.#now() - cached.atMs < AVAILABILITY_TTL_MS) return cached.available
    let available = false
    try {
      available = await tool.available()
    } catch {
      // A tool that cannot say whether it works here does not.
      available = false
    }
    this.#availability.set(tool, { available, atMs: this.#now() })
    return available
  }

  async prepare(
    call: { readonly name: string; readonly args: JsonObject },
    visible?: ToolNames,
  ): Promise<PreparedCall> {
    const names = visible ?? this.#names()
    if (call.name === TOOL_CALL && names.has(TOOL_CALL)) {
      const meant = unwrapToolCall(call.args)
      return typeof meant === 'string'
        ? { type: 'immediate', outcome: errorOutcome(meant) }
        : this.prepare(meant, names)
    }
    if (call.name === TOOL_SEARCH && names.has(TOOL_SEARCH)) return this.#search(call.args, names)
    const registered = this.#find(call.name)
    if (!registered || !names.has(registered.tool.name))
      return { type: 'immediate', outcome: errorOutcome(unknownTool(call.name, names)) }
    const { tool } = registered
    if (!(await this.#isAvailable(tool))) {
      return {
        type: 'immediate',
        outcome: errorOutcome(`Tool "${tool.name}" is not available here at the moment. Continue without it.`),
      }
    }
    if (registered.isOutside) this.#outside.add(tool)
    return checkCall(registered, call.args)
  }

  #search(args: JsonObject, names: ToolNames): Promise<PreparedCall> {
    const tool = searchTool(() => this.#hideable(names)) as Tool
    const parameters = toolParameters(tool.parameters)
    return checkCall({ tool, parameters, mayChange: false, isOutside: false }, args)
  }

  execute({ tool, args, ignored }: ReadyCall, context: ToolContext): Promise<ToolOutcome> {
    return runCall({ tool, args, ignored }, context, { isOutside: this.#outside.has(tool), keep: this.#keep })
  }

  async dispatch(name: string, args: JsonObject, context: ToolContext): Promise<ToolOutcome> {
    const prepared = await this.prepare({ name, args })
    return prepared.type === 'immediate' ? prepared.outcome : this.execute(prepared, context)
  }
}
