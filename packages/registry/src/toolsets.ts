import { closest } from 'fastest-levenshtein'
import { RegistryError } from './registry-error.js'

/** A named bundle of tools. */
export interface Toolset {
  readonly description: string
  readonly tools: readonly string[]
  readonly includes: readonly string[]
}

const set = (description: string, tools: readonly string[], includes: readonly string[] = []): Toolset =>
  Object.freeze({ description, tools: Object.freeze([...tools]), includes: Object.freeze([...includes]) })

const UNATTENDED = ['file', 'terminal', 'todo', 'memory', 'delegation', 'code_execution']
const EVERYDAY = [...UNATTENDED, 'clarify']
/** Where one person works alone: past sessions are theirs. */
const OWN = [...EVERYDAY, 'session_search']

/** Toolsets that are never hidden behind `tool_search`, however many others there are. */
export const CORE_TOOLSETS: readonly string[] = Object.freeze([...OWN, 'skills', 'cronjob'])

/** Chat platforms whose set is everything, as in the terminal. */
const CHATS = [
  ...[
    'telegram',
    'whatsapp',
    'slack',
    'signal',
    'bluebubbles',
    'homeassistant',
    'email',
    'mattermost',
    'matrix',
    'discord',
  ],
  ...[
    'dingtalk',
    'feishu',
    'weixin',
    'qqbot',
    'wecom',
    'wecom-callback',
    'sms',
    'yuanbao',
    'xmpp',
    'irc',
    'mqtt',
    'teams',
  ],
]

/** The built-in toolsets. Frozen: sets of plugins and MCP servers are merged on read, from the tools that name them. */
export const TOOLSETS: Readonly<Record<string, Toolset>> = Object.freeze({
  file: set('Read, write, patch and search files', ['read_file', 'write_file', 'patch', 'search_files']),
  terminal: set('Run commands and manage background processes', ['terminal', 'process']),
  todo: set('Keep a task list', ['todo_write', 'todo_read']),
  clarify: set('Ask the user', ['clarify']),
  session_search: set('Search and read earlier conversations', ['session_search']),
  learning: set('Remember what fixed an error', ['learning']),
  delegation: set('Hand tasks to fresh agents', ['delegate_task']),
  code_execution: set('Run programs that call tools', ['execute_code']),
  memory: set('Remember across sessions', ['memory', 'recall']),
  moa: set('Put hard questions to several models', ['mixture_of_agents']),
  coding: set('Files, shell and planning', [], ['file', 'terminal', 'todo', 'clarify']),
  debugging: set('Shell and files', [], ['terminal', 'file']),
  safe: set('Neither files nor shell', [], ['clarify', 'todo']),
  'hermes-cli': set('Everything for the terminal', [], OWN),
  'hermes-acp': set('Everything for editors', [], OWN),
  // Nobody there could be asked by a tool.
  'hermes-api-server': set('Everything for the HTTP API', [], UNATTENDED),
  'hermes-cron': set('Everything for scheduled runs', [], UNATTENDED),
  'hermes-webhook': set('For payloads that nobody vouches for', [], ['safe']),
  ...Object.fromEntries(CHATS.map((name) => [`hermes-${name}`, set(`Everything for ${name}`, [], EVERYDAY)])),
  'hermes-gateway': set('What any chat platform has', [], EVERYDAY),
})

/** Surfaces whose set has another name. */
const PLATFORMS: Readonly<Record<string, string>> = Object.freeze({
  oneshot: 'hermes-cli',
  api: 'hermes-api-server',
  gateway: 'hermes-api-server',
})

/** The toolset of a surface such as `cli`, `acp` or `telegram`; that of the terminal where it has none. */
export function platformToolset(platform: string): string {
  const name = PLATFORMS[platform] ?? `hermes-${platform}`
  return Object.hasOwn(TOOLSETS, name) ? name : 'hermes-cli'
}

/** Toolsets that a person made up: what each is called, and the tools and toolsets in it. */
export type CustomToolsets = Readonly<Record<string, readonly string[] | undefined>>

/**
 * All toolsets there are: the built-in ones plus those that registered tools name, each with its registered members added, and `custom` ones.
 * @throws RegistryError `registry.toolset_exists` for a custom one with the name of another, `registry.unknown_tool` for what is in it.
 */
export function mergeToolsets(
  registered: Iterable<{ readonly name: string; readonly toolset: string }>,
  custom: CustomToolsets = {},
): Record<string, Toolset> {
  const merged: Record<string, { description: string; tools: string[]; includes: readonly string[] }> = {}
  for (const [name, toolset] of Object.entries(TOOLSETS)) merged[name] = { ...toolset, tools: [...toolset.tools] }
  for (const tool of registered) {
    merged[tool.toolset] ??= { description: `Tools of ${tool.toolset}`, tools: [], includes: [] }
    const members = merged[tool.toolset]!.tools
    if (!members.includes(tool.name)) members.push(tool.name)
  }
  return { ...merged, ...customSets(merged, custom) }
}

function customSets(merged: Readonly<Record<string, Toolset>>, custom: CustomToolsets): Record<string, Toolset> {
  const names = new Set([...Object.keys(merged), ...Object.keys(custom)])
  const tools = new Set(Object.values(merged).flatMap((toolset) => toolset.tools))
  const isSet = (name: string) => names.has(name) || names.has(`mcp-${name}`)
  return Object.fromEntries(
    Object.entries(custom).map(([name, members = []]) => {
      if (Object.hasOwn(merged, name))
        throw new RegistryError(
          'registry.toolset_exists',
          `There is a toolset "${name}" already; name yours otherwise.`,
        )
      // Tools of servers come and go.
      const unknown = members.find((member) => !isSet(member) && !tools.has(member) && !member.startsWith('mcp_'))
      if (unknown !== undefined) throw unknownMember(name, unknown, [...names, ...tools])
      const [includes, own] = [members.filter(isSet), members.filter((member) => !isSet(member))]
      return [name, { description: 'Your own', tools: own, includes }]
    }),
  )
}

function unknownMember(name: string, unknown: string, known: readonly string[]): RegistryError {
  return new RegistryError(
    'registry.unknown_tool',
    `The toolset "${name}" names "${unknown}", which is neither a tool nor a toolset. Did you mean "${closest(unknown, [...known])}"?`,
  )
}

/** Which toolsets are on and off. */
export interface ToolsetSelection {
  /** Toolset names; `all` or `*` stands for every one. Default: all. */
  readonly enabled?: readonly string[]
  /** Taken away last, whatever `enabled` says. */
  readonly disabled?: readonly string[]
}

/**
 * The tool names a selection comes to, sorted.
 * @throws RegistryError `registry.unknown_toolset` naming the valid ones, `registry.toolset_cycle`.
 */
export function resolveToolsets(toolsets: Readonly<Record<string, Toolset>>, selection: ToolsetSelection): string[] {
  const names = new Set<string>()
  for (const name of selection.enabled ?? ['all']) for (const tool of expand(toolsets, name, [])) names.add(tool)
  for (const name of selection.disabled ?? []) for (const tool of expand(toolsets, name, [])) names.delete(tool)
  return [...names].sort()
}

function expand(toolsets: Readonly<Record<string, Toolset>>, requested: string, trail: readonly string[]): string[] {
  if (requested === 'all' || requested === '*') return Object.values(toolsets).flatMap((toolset) => toolset.tools)
  const name = canonicalName(toolsets, requested)
  if (trail.includes(name)) {
    throw new RegistryError('registry.toolset_cycle', `Toolsets include each other: ${[...trail, name].join(' > ')}.`)
  }
  const toolset = Object.hasOwn(toolsets, name) ? toolsets[name] : undefined
  if (!toolset) {
    const valid = Object.keys(toolsets).sort().join(', ')
    throw new RegistryError(
      'registry.unknown_toolset',
      `Unknown toolset "${requested}". Valid toolsets: all, ${valid}.`,
      {
        toolset: requested,
      },
    )
  }
  // An MCP server may bear the name of another set: then both are meant.
  const server = Object.hasOwn(toolsets, `mcp-${name}`) ? toolsets[`mcp-${name}`]!.tools : []
  const inner = toolset.includes.flatMap((included) => expand(toolsets, included, [...trail, name]))
  return [...toolset.tools, ...server, ...inner]
}

/** Older configurations write `file_tools` for `file`. */
const LEGACY_SUFFIX = /_tools$/

function canonicalName(toolsets: Readonly<Record<string, Toolset>>, requested: string): string {
  const names = [requested, requested.replace(LEGACY_SUFFIX, ''), `mcp-${requested}`]
  return names.find((name) => Object.hasOwn(toolsets, name)) ?? requested
}
