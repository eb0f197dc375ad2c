// Hooks as files have them, read into one form. What has no effect here is a line for the person.
import { isJsonObject, isValueTooDeep, type JsonValue, nearestName } from '@hermes/contracts'
import { EVENTS, type EventRow, type HookForm, WITHOUT_EFFECT } from './event-table.js'

/** A program that runs at an event. */
export interface HookDeclaration {
  readonly form: HookForm
  readonly event: string
  readonly row: EventRow
  /** `null` for every tool, source … */
  readonly matcher: RegExp | null
  /** `Tool(pattern)`: runs only for calls like that. */
  readonly only: string | null
  readonly command: string
  /** Which shell gets the command, in forms that have one. Default `sh`. */
  readonly shell?: 'bash'
  readonly timeoutMs: number
  /** What a failure means at a gate: `strict` objects for every one, `open` for none, `default` where nothing can be said of the answer. */
  readonly onFailure: 'default' | 'strict' | 'open'
  /** Nobody waits for it, and its answer counts for nothing. */
  readonly isAsync: boolean
  /** The file it stands in. */
  readonly source: string
  /** The project that brought it; `null` for the person's own. Absolute. */
  readonly project: string | null
  /** Variables that its program gets besides those of every hook. Default: none. */
  readonly variables?: Readonly<Record<string, string>>
}

/** A webhook that is told of events. */
export interface OutboundHook {
  readonly name: string
  readonly url: string
  readonly events: readonly string[]
  readonly matcher: RegExp | null
  readonly secret: string | null
  readonly secretEnv: string | null
  readonly timeoutMs: number
}

/** What a file holds. */
export interface ReadHooks {
  readonly hooks: readonly HookDeclaration[]
  readonly outbound: readonly OutboundHook[]
  /** What has no effect, one line each. */
  readonly problems: readonly string[]
}

/** Where a file lies, and whose it is. */
export interface HookSource {
  readonly form: HookForm
  readonly source: string
  readonly project: string | null
  readonly variables?: Readonly<Record<string, string>>
}

const DEFAULT_TIMEOUT_MS = 30_000
const MAX_TIMEOUT_MS = 600_000
const MAX_HOOKS = 200

/** The section `hooks` of config.yaml: `EVENT: [{ matcher, command, timeout, fail_closed }]`, and `outbound`. */
export function readConfigHooks(section: JsonValue | undefined, source: string): ReadHooks {
  const place: HookSource = { form: 'hermes', source, project: null }
  if (section === undefined || section === null) return { hooks: [], outbound: [], problems: [] }
  if (!isJsonObject(section)) return nothing(`${source}: hooks is no map of events; it has no effect.`)
  const { outbound, ...events } = section
  const read = readEvents(place, events, (entry) => [entry])
  const webhooks = readOutbound(outbound, source)
  return { ...read, outbound: webhooks.outbound, problems: [...read.problems, ...webhooks.problems] }
}

/** The key `hooks` of Claude Code's settings or Codex' hooks.json: `Event: [{ matcher, hooks: [{ type, command, timeout }] }]`. */
export function readHookFile(text: string, place: HookSource): ReadHooks {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return nothing(`${place.source} is no JSON; its hooks have no effect.`)
  }
  if (!isJsonObject(value)) return nothing(`${place.source} is no JSON object; its hooks have no effect.`)
  if (isValueTooDeep(value)) return nothing(`${place.source} is nested more than 200 deep; its hooks have no effect.`)
  if (value['disableAllHooks'] === true) return { hooks: [], outbound: [], problems: [] }
  const events = value['hooks']
  if (events === undefined) return { hooks: [], outbound: [], problems: [] }
  if (!isJsonObject(events)) return nothing(`${place.source}: hooks is no map of events; it has no effect.`)
  return readEvents(place, events, (group) => {
    const inner = group['hooks']
    const matcher = group['matcher']
    return Array.isArray(inner)
      ? inner.map((one) => (isJsonObject(one) ? { ...(matcher === undefined ? {} : { matcher }), ...one } : one))
      : [null]
  })
}

type JsonMap = { readonly [key: string]: JsonValue }

function readEvents(place: HookSource, events: JsonMap, flat: (entry: JsonMap) => readonly JsonValue[]): ReadHooks {
  const hooks: HookDeclaration[] = []
  const problems: string[] = []
  for (const [event, entries] of Object.entries(events)) {
    const row = Object.hasOwn(EVENTS[place.form], event) ? EVENTS[place.form][event]! : null
    if (row === null) {
      problems.push(unknownEvent(place, event))
      continue
    }
    if (!Array.isArray(entries)) {
      problems.push(`${place.source}: hooks.${event} is no list; it has no effect.`)
      continue
    }
    const listed = entries.flatMap((entry) => (isJsonObject(entry) ? flat(entry) : [null]))
    for (const [index, entry] of listed.entries()) {
      const read = readHook(place, { event, row }, entry)
      if (typeof read === 'string')
        problems.push(`${place.source}: hooks.${event}[${index}] ${read}; it has no effect.`)
      else if (hooks.length < MAX_HOOKS) {
        hooks.push(read)
        const idle = idleKeys(place.form, entry as JsonMap)
        if (idle.length > 0)
          problems.push(
            `${place.source}: ${idle.join(', ')} of hooks.${event}[${index}] ${idle.length === 1 ? 'has' : 'have'} no effect; the hook runs all the same.`,
          )
      } else
        problems.push(`${place.source}: hooks.${event}[${index}] is beyond the first ${MAX_HOOKS}; it has no effect.`)
    }
  }
  return { hooks, outbound: [], problems }
}

function unknownEvent({ form, source }: HookSource, event: string): string {
  const reason = Object.hasOwn(WITHOUT_EFFECT[form], event) ? WITHOUT_EFFECT[form][event] : null
  if (reason) return `${source}: hooks.${event} has no effect: ${reason}.`
  const near = nearestName(event, Object.keys(EVENTS[form]))
  return `${source}: hooks.${event} is no known event; it has no effect.${near === null ? '' : ` Did you mean ${near}?`}`
}

function readHook(
  place: HookSource,
  { event, row }: { readonly event: string; readonly row: EventRow },
  entry: JsonValue,
): HookDeclaration | string {
  if (!isJsonObject(entry)) return 'is no map with a command'
  const { type = 'command', command, timeout, matcher } = entry
  if (type !== 'command') return `is of the type ${JSON.stringify(type)}, and only commands run here`
  if (typeof command !== 'string' || command.trim() === '') return 'has no command'
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0))
    return 'has a timeout that is no number of seconds'
  const compiled = readMatcher(matcher)
  if (compiled === undefined) return `has a matcher that is no regular expression: ${String(matcher)}`
  const { values } = row
  if (compiled !== null && values && !values.some((value) => compiled.test(value)))
    return `has a matcher for what never happens here: ${String(matcher)}. It can be ${values.join(', ')}`
  const only = typeof entry['if'] === 'string' && entry['if'] !== '' ? entry['if'] : null
  if (only !== null && !ONLY.test(only)) return `has an "if" that cannot be read: ${only}`
  const { shell, args } = entry
  if (shell !== undefined && shell !== 'bash' && shell !== 'sh')
    return `wants the shell ${JSON.stringify(shell)}, and sh and bash run here`
  if (args !== undefined && !(Array.isArray(args) && args.every((one) => typeof one === 'string')))
    return 'has args that are no list of texts'
  return {
    ...place,
    ...{ event, row, only, ...(shell === 'bash' ? { shell } : {}) },
    command: args === undefined ? command.trim() : [command.trim(), ...args].map(quoted).join(' '),
    matcher: row.matches === undefined ? null : compiled,
    timeoutMs: Math.min(typeof timeout === 'number' ? timeout * 1_000 : DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS),
    onFailure: failureOf(entry),
    isAsync: entry['async'] === true,
  }
}

/** What an entry may say of a hook; what it is called and shown as is nothing that happens. */
const KEYS = ['type', 'command', 'timeout', 'matcher', 'fail_closed', 'failClosed']
const FILE_KEYS = ['if', 'async', 'args', 'shell', 'onFailure', 'statusMessage', 'name', 'description']

function idleKeys(form: HookForm, entry: JsonMap): readonly string[] {
  const known = form === 'hermes' ? KEYS : [...KEYS, ...FILE_KEYS]
  const isIdle = (key: string) => !known.includes(key) || (key === 'onFailure' && entry[key] !== 'block')
  return Object.keys(entry).filter(isIdle)
}

function failureOf(entry: JsonMap): HookDeclaration['onFailure'] {
  const closed = entry['fail_closed'] ?? entry['failClosed']
  if (closed === true || entry['onFailure'] === 'block') return 'strict'
  return closed === false ? 'open' : 'default'
}

/** A program or an argument of it as a word for a shell, in which places such as `${CLAUDE_PROJECT_DIR}` are filled in and nothing else is. */
function quoted(word: string): string {
  if (/^[\w./:=@%+,-]+$/.test(word)) return word
  const kept = word.replaceAll(
    /[\\"`]|\$(?!\{(?:CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)|PLUGIN_ROOT|PLUGIN_DATA)\})/g,
    '\\$&',
  )
  return `"${kept}"`
}

const ONLY = /^([\w.*-]+)(?:\(([\s\S]*)\))?$/

/** `undefined` for what is no matcher. Names and lists of names match whole names; everything else is a regular expression. */
function readMatcher(matcher: JsonValue | undefined): RegExp | null | undefined {
  if (matcher === undefined || matcher === null || matcher === '' || matcher === '*') return null
  if (typeof matcher !== 'string' || matcher.length > 1_000) return undefined
  try {
    return /^[\w|, -]+$/.test(matcher)
      ? new RegExp(`^(?:${matcher.replaceAll(/\s*[,|]\s*/g, '|')})$`)
      : new RegExp(matcher)
  } catch {
    return undefined
  }
}

/** Whether a call is one that `only` names: `Bash(git *)`. `*` stands for any text. */
export function isOnly(only: string, names: readonly string[], texts: readonly string[]): boolean {
  const [, name = '', pattern] = ONLY.exec(only) ?? []
  if (!names.some((one) => like(name).test(one))) return false
  return pattern === undefined || texts.some((text) => like(pattern.replace(/:\*$/, '*')).test(text))
}

const like = (pattern: string) =>
  new RegExp(`^${pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll(/\*+/g, '[\\s\\S]*')}$`)

function readOutbound(value: JsonValue | undefined, source: string): Pick<ReadHooks, 'outbound' | 'problems'> {
  if (value === undefined || value === null) return { outbound: [], problems: [] }
  if (!Array.isArray(value))
    return { outbound: [], problems: [`${source}: hooks.outbound is no list; it has no effect.`] }
  const outbound: OutboundHook[] = []
  const problems: string[] = []
  for (const [index, entry] of value.entries()) {
    const read = readWebhook(entry, index)
    if (typeof read === 'string') problems.push(`${source}: hooks.outbound[${index}] ${read}; it has no effect.`)
    else outbound.push(read)
  }
  return { outbound, problems }
}

function readWebhook(entry: JsonValue, index: number): OutboundHook | string {
  if (!isJsonObject(entry)) return 'is no map'
  const { name, url, events, timeout, secret, secret_env: secretEnv } = entry
  if (typeof url !== 'string' || !/^https?:/i.test(url) || !URL.canParse(url)) return 'has no http or https url'
  if (!Array.isArray(events) || events.length === 0) return 'names no events'
  const unknown = events.find((event) => event !== '*' && !Object.hasOwn(EVENTS.hermes, String(event)))
  if (unknown !== undefined) {
    const near = nearestName(String(unknown), Object.keys(EVENTS.hermes))
    return `names ${JSON.stringify(unknown)}, which is no event${near === null ? '' : ` (did you mean ${near}?)`}`
  }
  const matcher = readMatcher(entry['matcher'])
  if (matcher === undefined) return 'has a matcher that is no regular expression'
  return {
    name: typeof name === 'string' ? name : `outbound ${index + 1}`,
    url,
    events: events.map(String),
    matcher,
    secret: typeof secret === 'string' && secret !== '' ? secret : null,
    secretEnv: typeof secretEnv === 'string' && secretEnv !== '' ? secretEnv : null,
    timeoutMs: typeof timeout === 'number' && timeout > 0 ? Math.min(timeout * 1_000, 60_000) : 10_000,
  }
}

const nothing = (problem: string): ReadHooks => ({ hooks: [], outbound: [], problems: [problem] })
