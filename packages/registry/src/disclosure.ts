import type { JsonObject } from '@hermes/contracts'
import type { Tool, ToolDefinition } from '@hermes/contracts/tool'

/** Which tools are found by `tool_search` instead of being defined whole, beside those that say so themselves. */
export interface DisclosureOptions {
  /** `auto`: toolsets are hidden once all definitions together pass `budgetTokens`. `on`: whatever they come to. `off`: nothing is, ever. */
  readonly mode: 'auto' | 'on' | 'off'
  /** Default: however many they are. */
  readonly budgetTokens?: number
  /** Toolsets that are not hidden for want of room. Default none. */
  readonly core?: readonly string[]
  /** Toolsets and tools that are defined whole, whatever they say themselves. Default none. */
  readonly always?: readonly string[]
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
  readonly isDeferred: boolean
  /** It says of itself what others wrote. */
  readonly isOutside: boolean
}

/** What is sent whole and what is found by a search. */
interface Disclosed {
  readonly shown: readonly ToolDefinition[]
  readonly hidden: readonly OwnedDefinition[]
}

const CHARS_PER_TOKEN = 4

const tokensOf = (value: unknown): number => Math.ceil(JSON.stringify(value).length / CHARS_PER_TOKEN)

/**
 * Hides what is deferred, then whole toolsets outside the core, the largest first, until the rest is within the budget. Order is kept; the
 * same in, the same out.
 */
export function disclose(
  all: readonly OwnedDefinition[],
  { mode, budgetTokens = Number.POSITIVE_INFINITY, core = [], always = [] }: DisclosureOptions,
): Disclosed {
  if (mode === 'off') return { shown: all.map(({ definition }) => definition), hidden: [] }
  const isAlways = ({ toolset, definition }: OwnedDefinition) =>
    always.includes(toolset) || always.includes(definition.name)
  const open = all.filter((one) => !one.isDeferred || isAlways(one))
  const weights = new Map<string, number>()
  for (const one of open) {
    const weighed = core.includes(one.toolset) || isAlways(one) ? '' : one.toolset
    weights.set(weighed, (weights.get(weighed) ?? 0) + tokensOf(one.definition))
  }
  const largestFirst = [...weights]
    .filter(([toolset]) => toolset !== '')
    .sort(([left, leftTokens], [right, rightTokens]) => rightTokens - leftTokens || (left < right ? -1 : 1))
  let left = [...weights.values()].reduce((sum, tokens) => sum + tokens, 0)
  const gone = new Set<string>()
  for (const [toolset, tokens] of largestFirst) {
    if (mode === 'auto' && left <= budgetTokens) break
    gone.add(toolset)
    left -= tokens
  }
  const isHidden = (one: OwnedDefinition) => !isAlways(one) && (one.isDeferred || gone.has(one.toolset))
  return {
    shown: all.filter((one) => !isHidden(one)).map(({ definition }) => definition),
    hidden: all.filter(isHidden),
  }
}

const SEARCH_PARAMETERS = {
  type: 'object',
  properties: { query: { type: 'string', description: 'What to do, or exact names of tools or sets' } },
  required: ['query'],
} as const satisfies JsonObject

const CALL_PARAMETERS = {
  type: 'object',
  properties: { name: { type: 'string' }, arguments: { type: 'object' } },
  required: ['name', 'arguments'],
} as const satisfies JsonObject

/** A toolset behind the bridge. */
export interface HiddenToolset {
  readonly name: string
  readonly description: string
}

/** The definitions of the two bridge tools. The toolsets behind them are named there, as many as fit; single tools are not. */
export function bridgeDefinitions(hidden: readonly HiddenToolset[]): readonly ToolDefinition[] {
  return [
    {
      name: TOOL_CALL,
      description: `Call a tool that ${TOOL_SEARCH} found.`,
      parameters: CALL_PARAMETERS,
    },
    {
      name: TOOL_SEARCH,
      description: `Find more tools and their parameters. Sets:\n${listing(hidden)}`,
      parameters: SEARCH_PARAMETERS,
    },
  ]
}

/** The two definitions together stay below 700 bytes as chat completions send them. */
const LISTING_BYTES = 190
const LINE_BYTES = 60

const byteLength = (text: string): number => new TextEncoder().encode(text).length

/** A line for each set; where those are too many the names alone, and where even they are, how many more there are. */
function listing(hidden: readonly HiddenToolset[]): string {
  const ordered = hidden.toSorted((left, right) => (left.name < right.name ? -1 : 1))
  const lines = ordered.map(({ name, description }) => cutLine(`${name}: ${description.replace(/\s+/g, ' ').trim()}`))
  const whole = lines.join('\n')
  // A line feed is two bytes in JSON, and so is a quote.
  if (byteLength(JSON.stringify(whole)) <= LISTING_BYTES) return whole
  let names = ''
  for (const [index, { name }] of ordered.entries()) {
    const next = names === '' ? name : `${names}, ${name}`
    const left = ordered.length - index - 1
    if (byteLength(`${next} and ${left} more`) > LISTING_BYTES) return `${names} and ${left + 1} more`
    names = next
  }
  return names
}

function cutLine(line: string): string {
  const characters = [...line].slice(0, LINE_BYTES)
  while (byteLength(characters.join('')) > LINE_BYTES) characters.pop()
  return characters.join('').trimEnd()
}

/** How many definitions one answer has at most, and how many names. */
const MAX_FOUND = 5
const MAX_NAMES = 200

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(', ')
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown
}

/** The tool behind {@link TOOL_SEARCH}; `candidates` are the definitions that may be found. */
export function searchTool(candidates: () => Promise<readonly OwnedDefinition[]>): Tool<{ query: string }> {
  return {
    name: TOOL_SEARCH,
    toolset: BRIDGE_TOOLS,
    description: '',
    parameters: SEARCH_PARAMETERS,
    effect: 'read',
    concurrency: 'parallel',
    icon: '🧰',
    summarize: ({ query }) => `find tools: ${query}`,
    execute: async ({ query }) => {
      const { rankTools } = await import('./rank-tools.js')
      const all = await candidates()
      const ranked = rankTools(all, query)
      const outside = new Set(all.filter(({ isOutside }) => isOutside).map(({ definition }) => definition.name))
      const isOutside = (names: readonly string[]) => names.slice(0, MAX_NAMES).some((name) => outside.has(name))
      const found = ranked.slice(0, MAX_FOUND)
      if (found.length === 0) {
        const names = all.map(({ definition }) => definition.name)
        const text = `No tool fits "${query}". ${names.length === 0 ? 'There are none besides those defined.' : `There are: ${listed(names)}.`}`
        return { text, external: isOutside(names) }
      }
      const more = ranked.slice(MAX_FOUND).map(({ name }) => name)
      const lines = found.map((tool) => JSON.stringify(tool))
      const rest = more.length > 0 ? [`Also: ${listed(more)}`] : []
      return {
        data: { tools: found as never, more: more.slice(0, MAX_NAMES) },
        text: [...lines, ...rest].join('\n'),
        external: isOutside([...found.map(({ name }) => name), ...more.slice(0, MAX_NAMES)]),
      }
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
