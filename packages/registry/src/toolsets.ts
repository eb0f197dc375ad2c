import { closest } from 'fastest-levenshtein'
import { RegistryError } from './registry-error.js'

/** A named bundle of tools. */
export interface Toolset {
  readonly description: string
  readonly tools: readonly string[]
  readonly includes: readonly string[]
  /** Its tools are found by `tool_search` instead of being defined. Default `false`. */
  readonly isDeferred?: boolean
  /** It includes every toolset that is not built in. Default `false`. */
  readonly isOpen?: boolean
}

const set = (description: string, tools: readonly string[], includes: readonly string[] = []): Toolset =>
  Object.freeze({ description, tools: Object.freeze([...tools]), includes: Object.freeze([...includes]) })

const deferred = (description: string, tools: readonly string[]): Toolset =>
  Object.freeze({ ...set(description, tools), isDeferred: true })

const platform = (name: string, includes: readonly string[]): Toolset =>
  Object.freeze({ ...set(`Everything for ${name}`, [], includes), isOpen: true })

const UNATTENDED = [
  'file',
  'terminal',
  'todo',
  'memory',
  'delegation',
  'code_execution',
  'checkpoints',
  'moa',
  'vision',
  'web',
  'skills',
]
const EVERYDAY = [...UNATTENDED, 'clarify', 'messaging']
/** Where one person works alone: past sessions are theirs. */
const OWN = [...EVERYDAY, 'session_search', 'learning']

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
  todo: set('Keep a task list', ['todo_write']),
  clarify: set('Ask the user', ['clarify']),
  session_search: set('Search and read earlier conversations', ['session_search']),
  learning: deferred('Remember what fixed an error', ['learning']),
  checkpoints: deferred('Keep states of the files, go back to one', ['checkpoint', 'restore']),
  delegation: set('Hand tasks to fresh agents', ['delegate_task']),
  code_execution: set('Run programs that call tools', ['execute_code']),
  // Its tools come with the extension of that name.
  skills: set('Load skills, and write them', []),
  memory: set('Remember across sessions', ['memory', 'recall']),
  vision: deferred('Look at images', ['vision_analyze']),
  web: set('Search the web and read pages', ['web_search', 'web_extract']),
  search: set('Search the web', ['web_search']),
  // In none of the sets below: each search is paid, so that somebody switches it on.
  x_search: deferred('Search posts on X', ['x_search']),
  messaging: deferred('Write to people and chats that agreed, and to other sessions', [
    'send_message',
    'sessions_send',
  ]),
  moa: deferred('Put a hard question to several models', ['mixture_of_agents']),
  coding: set('Files, shell and planning', [], ['file', 'terminal', 'todo', 'clarify']),
  debugging: set('Shell and files', [], ['terminal', 'file']),
  safe: set('Neither files nor shell', [], ['clarify', 'todo']),
  'hermes-cli': platform('the terminal', OWN),
  'hermes-acp': platform('editors', OWN),
  // Nobody there could be asked by a tool.
  'hermes-api-server': platform('the HTTP API', EVERYDAY),
  'hermes-cron': platform('scheduled runs', UNATTENDED),
  'hermes-webhook': set('For payloads that nobody vouches for', [], ['safe']),
  ...Object.fromEntries(CHATS.map((name) => [`hermes-${name}`, platform(name, EVERYDAY)])),
  'hermes-gateway': platform('any chat platform', EVERYDAY),
})

/** Toolsets that are not hidden for want of room, however many others there are. */
export const CORE_TOOLSETS: readonly string[] = Object.freeze([...EVERYDAY, 'session_search'])

const BUILT_IN: ReadonlySet<string> = new Set(Object.values(TOOLSETS).flatMap(({ tools }) => tools))

/** Whether a tool of Hermes has that name. */
export const isBuiltIn = (name: string): boolean => BUILT_IN.has(name)

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

/** A toolset that a registry has beside the built-in ones, or tools it has in one of those. */
export interface RegisteredToolset {
  readonly name: string
  readonly tools: readonly string[]
  readonly description?: string | undefined
}

/**
 * All toolsets there are: the built-in ones, the `registered` ones with their members added, and `custom` ones. Where a registered and a
 * custom one have the same name, both are meant. `aliases` are further names of tools; with `mayCome` tools come and go, so that a name nobody
 * has may have a tool later.
 * @throws RegistryError `registry.toolset_exists` for a custom one with the name of a built-in one, `registry.unknown_tool` for what is in it.
 */
export function mergeToolsets(
  registered: Iterable<RegisteredToolset>,
  custom: CustomToolsets = {},
  {
    aliases = new Map(),
    mayCome = false,
  }: { readonly aliases?: ReadonlyMap<string, string>; readonly mayCome?: boolean } = {},
): Record<string, Toolset> {
  const merged: Record<string, Toolset> = { ...TOOLSETS }
  const others = new Set<string>()
  for (const { name, tools, description } of registered) {
    const before = Object.hasOwn(merged, name) ? merged[name]! : set(description ?? `Tools of ${name}`, [])
    if (!Object.hasOwn(TOOLSETS, name)) others.add(name)
    merged[name] = { ...before, tools: before.tools.length === 0 ? tools : [...new Set([...before.tools, ...tools])] }
  }
  for (const [name, toolset] of Object.entries(merged))
    if (toolset.isOpen) merged[name] = { ...toolset, includes: [...toolset.includes, ...others] }
  return { ...merged, ...customSets(merged, custom, { aliases, mayCome }) }
}

function customSets(
  merged: Readonly<Record<string, Toolset>>,
  custom: CustomToolsets,
  { aliases, mayCome }: { readonly aliases: ReadonlyMap<string, string>; readonly mayCome: boolean },
): Record<string, Toolset> {
  const names = new Set([...Object.keys(merged), ...Object.keys(custom)])
  const isSet = (name: string) => names.has(name) || names.has(`mcp-${name}`)
  return Object.fromEntries(
    Object.entries(custom).map(([name, requested = []]) => {
      if (Object.hasOwn(TOOLSETS, name))
        throw new RegistryError(
          'registry.toolset_exists',
          `There is a toolset "${name}" already; name yours otherwise.`,
        )
      const tools = new Set(Object.values(merged).flatMap((toolset) => toolset.tools))
      const members = requested.map((member) => (isSet(member) ? member : (aliases.get(member) ?? member)))
      // Tools of servers come and go.
      const isKnown = (member: string) => isSet(member) || tools.has(member) || member.startsWith('mcp_')
      const unknown = mayCome ? undefined : members.find((member) => !isKnown(member))
      if (unknown !== undefined) throw unknownMember(name, unknown, [...names, ...tools])
      const [includes, own] = [members.filter(isSet), members.filter((member) => !isSet(member))]
      const beside = Object.hasOwn(merged, name) ? merged[name]!.tools : []
      return [name, { description: 'Your own', tools: [...beside, ...own], includes }]
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

/** What a selection comes to, in no order. */
export interface Selected {
  readonly tools: ReadonlySet<string>
  readonly toolsets: ReadonlySet<string>
}

/**
 * The tools and toolsets a selection comes to.
 * @throws RegistryError `registry.unknown_toolset` naming the valid ones, `registry.toolset_cycle`.
 */
export function selectToolsets(
  toolsets: Readonly<Record<string, Toolset>>,
  { enabled = ['all'], disabled = [] }: ToolsetSelection,
): Selected {
  const [selected, without] = [enabled, disabled].map((names) => {
    const reached = { tools: new Set<string>(), toolsets: new Set<string>() }
    for (const name of names) expand(toolsets, name, [], reached)
    return reached
  }) as [Reached, Reached]
  for (const name of without.tools) selected.tools.delete(name)
  for (const name of without.toolsets) selected.toolsets.delete(name)
  return selected
}

/**
 * The tool names a selection comes to, sorted.
 * @throws RegistryError as {@link selectToolsets}.
 */
export function resolveToolsets(toolsets: Readonly<Record<string, Toolset>>, selection: ToolsetSelection): string[] {
  return [...selectToolsets(toolsets, selection).tools].sort()
}

interface Reached {
  readonly tools: Set<string>
  readonly toolsets: Set<string>
}

function expand(
  toolsets: Readonly<Record<string, Toolset>>,
  requested: string,
  trail: readonly string[],
  reached: Reached,
): void {
  if (requested === 'all' || requested === '*') {
    for (const name of Object.keys(toolsets)) take(toolsets, name, reached)
    return
  }
  const name = canonicalName(toolsets, requested)
  if (trail.includes(name)) {
    throw new RegistryError('registry.toolset_cycle', `Toolsets include each other: ${[...trail, name].join(' > ')}.`)
  }
  if (!Object.hasOwn(toolsets, name)) {
    const valid = Object.keys(toolsets).sort().join(', ')
    throw new RegistryError(
      'registry.unknown_toolset',
      `Unknown toolset "${requested}". Valid toolsets: all, ${valid}.`,
      {
        toolset: requested,
      },
    )
  }
  take(toolsets, name, reached)
  // An MCP server may bear the name of another set: then both are meant.
  take(toolsets, `mcp-${name}`, reached)
  for (const included of toolsets[name]!.includes) expand(toolsets, included, [...trail, name], reached)
}

function take(toolsets: Readonly<Record<string, Toolset>>, name: string, reached: Reached): void {
  if (!Object.hasOwn(toolsets, name)) return
  reached.toolsets.add(name)
  for (const tool of toolsets[name]!.tools) reached.tools.add(tool)
}

/** Older configurations write `file_tools` for `file`. */
const LEGACY_SUFFIX = /_tools$/

function canonicalName(toolsets: Readonly<Record<string, Toolset>>, requested: string): string {
  const names = [requested, requested.replace(LEGACY_SUFFIX, ''), `mcp-${requested}`]
  return names.find((name) => Object.hasOwn(toolsets, name)) ?? requested
}
