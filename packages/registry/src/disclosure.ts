import type { JsonObject } from '@hermes/contracts'
import type { Tool, ToolDefinition } from '@hermes/contracts/tool'

/** When the definitions of a session are too many to be sent whole. */
export interface DisclosureOptions {
  /** `auto`: tools are hidden once all definitions together pass `budgetTokens`. `on`: whatever they come to. `off`: never. */
  readonly mode: 'auto' | 'on' | 'off'
  /** Default 10,000. */
  readonly budgetTokens: number
  /** For the names of hidden tools; beyond it toolsets are only counted. Default 4,000. */
  readonly listingTokens: number
  /** Toolsets that are never hidden. */
  readonly core: readonly string[]
}

/** Finds hidden tools. */
export const TOOL_SEARCH = 'tool_search'
/** Calls a hidden tool. */
export const TOOL_CALL = 'tool_call'
/** The toolset of the two. Nobody enables it: it is there when something is hidden. */
const BRIDGE_TOOLS = 'tool_search'

/** A definition and the toolset it belongs to. */
export interface OwnedDefinition {
  readonly toolset: string
  readonly definition: ToolDefinition
}

/** What is sent whole and what is only listed. */
export interface Disclosed {
  readonly shown: readonly ToolDefinition[]
  readonly hidden: readonly OwnedDefinition[]
}

const CHARS_PER_TOKEN = 4

const tokensOf = (value: unknown): number => Math.ceil(JSON.stringify(value).length / CHARS_PER_TOKEN)

/** Hides whole toolsets outside the core, the largest first, until the rest is within the budget. Order is kept; the same in, the same out. */
export function disclose(all: readonly OwnedDefinition[], options: DisclosureOptions): Disclosed {
  const weights = new Map<string, number>()
  for (const { toolset, definition } of all) weights.set(toolset, (weights.get(toolset) ?? 0) + tokensOf(definition))
  const largestFirst = [...weights]
    .filter(([toolset]) => !options.core.includes(toolset))
    .sort(([left, leftTokens], [right, rightTokens]) => rightTokens - leftTokens || (left < right ? -1 : 1))
  let left = [...weights.values()].reduce((sum, tokens) => sum + tokens, 0)
  const gone = new Set<string>()
  for (const [toolset, tokens] of largestFirst) {
    if (options.mode === 'off' || (options.mode === 'auto' && left <= options.budgetTokens)) break
    gone.add(toolset)
    left -= tokens
  }
  return {
    shown: all.filter(({ toolset }) => !gone.has(toolset)).map(({ definition }) => definition),
    hidden: all.filter(({ toolset }) => gone.has(toolset)),
  }
}

const SEARCH_PARAMETERS = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'Words for what is to be done, or exact names of tools' },
    limit: { type: 'integer', minimum: 1, maximum: 25, default: 5 },
  },
  required: ['query'],
} as const satisfies JsonObject

const CALL_PARAMETERS = {
  type: 'object',
  properties: { name: { type: 'string' }, arguments: { type: 'object' } },
  required: ['name', 'arguments'],
} as const satisfies JsonObject

/** The definitions of the two doors: the names of what is hidden are part of them, so they are told once, with all other definitions. */
export function bridgeDefinitions(
  hidden: readonly OwnedDefinition[],
  { listingTokens }: Pick<DisclosureOptions, 'listingTokens'>,
): readonly ToolDefinition[] {
  return [
    {
      name: TOOL_CALL,
      description: `Call a tool that is not defined here, with the parameters ${TOOL_SEARCH} gave for it.`,
      parameters: CALL_PARAMETERS,
    },
    {
      name: TOOL_SEARCH,
      description: `More tools are there than are defined here. This gives the parameters of those that fit; then call them with ${TOOL_CALL}.\n${listing(hidden, listingTokens)}`,
      parameters: SEARCH_PARAMETERS,
    },
  ]
}

function listing(hidden: readonly OwnedDefinition[], budgetTokens: number): string {
  const sets = new Map<string, string[]>()
  for (const { toolset, definition } of hidden) sets.set(toolset, [...(sets.get(toolset) ?? []), definition.name])
  const ordered = [...sets].sort(([left], [right]) => (left < right ? -1 : 1))
  // Small sets keep their names for longest: they cost little.
  const smallestFirst = [...ordered].sort(([, left], [, right]) => left.join().length - right.join().length)
  let tokens = 0
  const named = new Set<string>()
  for (const [toolset, names] of smallestFirst) {
    tokens += tokensOf(names)
    if (tokens <= budgetTokens) named.add(toolset)
  }
  return ordered
    .map(([toolset, names]) => `${toolset}: ${named.has(toolset) ? names.join(', ') : `${names.length} tools`}`)
    .join('\n')
}

/** Of names that are told although nobody asked for them by name. */
const MAX_NAMES = 200
const MAX_MORE = 25

function listed(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ')
  return names.length > most ? `${shown} and ${names.length - most} more` : shown
}

/** The tool behind {@link TOOL_SEARCH}; `candidates` are the definitions that may be found. */
export function searchTool(
  candidates: () => Promise<readonly ToolDefinition[]>,
): Tool<{ query: string; limit: number }> {
  return {
    name: TOOL_SEARCH,
    toolset: BRIDGE_TOOLS,
    description: '',
    parameters: SEARCH_PARAMETERS,
    effect: 'read',
    concurrency: 'parallel',
    icon: '🧰',
    summarize: ({ query }) => `find tools: ${query}`,
    execute: async ({ query, limit }) => {
      const { rankTools } = await import('./rank-tools.js')
      const all = await candidates()
      const ranked = rankTools(all, query)
      const found = ranked.slice(0, limit)
      if (found.length === 0) {
        const names = all.map(({ name }) => name)
        return `No tool fits "${query}". ${names.length === 0 ? 'There are none besides those defined.' : `There are: ${listed(names, MAX_NAMES)}.`}`
      }
      const more = ranked.slice(limit).map(({ name }) => name)
      const lines = found.map((tool) => JSON.stringify(tool))
      const rest = more.length > 0 ? [`Also: ${listed(more, MAX_MORE)}`] : []
      return { data: { tools: found as never, more: more.slice(0, MAX_MORE) }, text: [...lines, ...rest].join('\n') }
    },
  }
}

/** What a call through {@link TOOL_CALL} is meant to be; a string says what is wrong with it. */
export function unwrapToolCall(args: JsonObject): { readonly name: string; readonly args: JsonObject } | string {
  const { name, arguments: input } = args
  if (typeof name !== 'string' || name === '')
    return `${TOOL_CALL} needs the name of a tool; find one with ${TOOL_SEARCH}.`
  if (name === TOOL_CALL) return `${TOOL_CALL} cannot call itself.`
  if (input === undefined) return { name, args: withoutName(args) }
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { name, args: input as JsonObject }
  try {
    const parsed: unknown = JSON.parse(String(input))
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return { name, args: parsed as JsonObject }
  } catch {
    // Said below.
  }
  return `"arguments" of ${TOOL_CALL} must be an object with the parameters of ${name}.`
}

/** Models that know functions with flat parameters put them beside the name. */
function withoutName({ name: _, ...rest }: JsonObject): JsonObject {
  return rest
}
