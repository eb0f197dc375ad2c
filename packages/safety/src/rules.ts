import type { Action, Subject } from '@hermes/contracts/policy'
import { matchGlob } from './glob.js'

/** What a rule says. */
export type RuleEffect = 'allow' | 'ask' | 'deny'

/** One line of `permissions.yaml`. */
export interface PermissionRule {
  /**
   * As written: `terminal.*`, `file.write`, `terminal(git push*)`, `browser.*`, `mcp__github__*`; narrowed to a surface and a user by
   * `terminal.* on gateway for guest-*`, and a command to
   * its folder and the files it runs by `terminal(bash deploy.sh) in "/srv/app" with sha256-…`.
   */
  readonly pattern: string
  readonly effect: RuleEffect
  /** Where it is written, as `FILE:LINE:COLUMN`, for explanations. */
  readonly source?: string
  /** It could not be read in whole: it asks, in doubt about all that its name stands for, and takes no denial before it back. */
  readonly unread?: true
}

/** What the name in front of a pattern's brackets stands for. */
interface Selector {
  readonly types: readonly Action['type'][]
  /** Only these operations of a write. */
  readonly operation?: string
  /** Only commands that are to run outside the isolation. */
  readonly outside?: true
  /** Only actions of tools whose name matches this glob, or is it with more behind an underscore when it ends in `.*`. */
  readonly tool?: string
}

const EVERYTHING: Selector = { types: ['spawn', 'read', 'write', 'fetch', 'send'] }
const SPAWN: Selector = { types: ['spawn'] }
const OUTSIDE: Selector = { types: ['spawn'], outside: true }
const READ: Selector = { types: ['read'] }
const WRITE: Selector = { types: ['write'] }
const FETCH: Selector = { types: ['fetch'] }
const SEND: Selector = { types: ['send'] }

/** Names of kinds of action. Any other name is that of a tool. */
const KINDS: Readonly<Record<string, Selector>> = Object.freeze({
  '*': EVERYTHING,
  terminal: SPAWN,
  'terminal.run': SPAWN,
  shell: SPAWN,
  terminal_outside: OUTSIDE,
  file: { types: ['read', 'write'] },
  'file.read': READ,
  read_file: READ,
  search_files: READ,
  'file.write': WRITE,
  write_file: WRITE,
  patch: WRITE,
  'file.mkdir': { types: ['write'], operation: 'mkdir' },
  'file.rename': { types: ['write'], operation: 'rename' },
  'file.remove': { types: ['write'], operation: 'remove' },
  'file.delete': { types: ['write'], operation: 'remove' },
  web: FETCH,
  'web.fetch': FETCH,
  fetch: FETCH,
  send: SEND,
  send_message: SEND,
  browser: { ...EVERYTHING, tool: 'browser.*' },
})

/** A rule split into what it selects and what it asks of the action. */
export interface ParsedRule extends PermissionRule {
  readonly selector: Selector
  /** What stands in the brackets. */
  readonly argument: string | null
  /** The folder a command has to run in, `BACKEND:FOLDER` on another machine; `null` for any. */
  readonly folder: string | null
  /** What the files that the command names have to hold, as SHA-256; `null` where they do not matter. */
  readonly digest: string | null
  /** The method of a request or the kind of a write, in capitals; `null` for any. */
  readonly method: string | null
  /** Glob over surfaces, `null` for all. */
  readonly platform: string | null
  /** Glob over users, `null` for all and for nobody in particular. */
  readonly user: string | null
}

const UNBOUND = Object.freeze({ folder: null, digest: null, method: null, platform: null, user: null })
const SHAPE =
  /^\s*(\*|[a-z_][\w*-]*(?:\.[a-z_]+|\.\*)?)\s*(?:\(([\s\S]*)\))?(?:\s+in\s+"([^"()\\]+)")?(?:\s+with\s+sha256-([0-9a-f]{64}))?(?:\s+by\s+([A-Z]+))?(?:\s+on\s+([^\s()]+))?(?:\s+for\s+([^\s()]+))?\s*$/

/** Reads a pattern; a string says what is wrong with it. */
export function parseRule(rule: PermissionRule): ParsedRule | string {
  const match = SHAPE.exec(rule.pattern)
  const [, name = '', argument, folder = null, digest = null, method = null, platform = null, user = null] = match ?? []
  const bounds = { folder, digest, method, platform, user }
  const selector = match && selectorOf(name)
  if (selector)
    return { ...rule, selector, argument: argument === undefined || argument === '*' ? null : argument, ...bounds }
  if (rule.unread) return { ...rule, selector: widest(rule.pattern), argument: null, ...UNBOUND }
  if (!match) return `"${rule.pattern}" is not a pattern; write a name such as terminal.* or terminal(git push*).`
  const meant = Object.keys(KINDS).find((kind) => isSlip(name, kind))
  if (meant) return `"${rule.pattern}" names no tool; ${meant} may be meant.`
  return `"${rule.pattern}" names nothing known; use a tool such as browser.* or one of ${Object.keys(KINDS).join(', ')}.`
}

function selectorOf(name: string): Selector | null {
  const kind = name.replace(/\.\*$/, '')
  if (Object.hasOwn(KINDS, kind)) return KINDS[kind]!
  if (kind.includes('.') || Object.keys(KINDS).some((known) => isSlip(kind, known))) return null
  return { ...EVERYTHING, tool: name }
}

/** All that a pattern which cannot be read may be about. */
function widest(pattern: string): Selector {
  const [, whole = '*', name = '*'] =
    /^\s*(([a-z_][\w*-]*)(?:\.[a-z_]+)?)\s*(?:[.(]|$)/.exec(pattern.toLowerCase()) ?? []
  const kinds = Object.keys(KINDS)
  const kind = [whole, name].flatMap((word) => kinds.find((known) => known === word || isSlip(word, known)) ?? [])[0]
  return kind ? KINDS[kind]! : (selectorOf(name) ?? EVERYTHING)
}

/** Whether a name is a longer one with one letter too few, too many, wrong, or two in the wrong order. */
function isSlip(name: string, known: string): boolean {
  if (known.length < 4 || name === known || Math.abs(name.length - known.length) > 1) return false
  let start = 0
  while (start < name.length && name[start] === known[start]) start++
  const [left, right] = [name.slice(start), known.slice(start)]
  if (left.slice(1) === right || left === right.slice(1) || left.slice(1) === right.slice(1)) return true
  return left.slice(2) === right.slice(2) && left[0] === right[1] && left[1] === right[0]
}

/** Why a rule is not about such an action of such a subject, whatever its argument says; `null` when it is. */
export function whyNotSelected(
  { selector, folder, method, platform, user }: ParsedRule,
  action: Action,
  subject: Subject,
): string | null {
  if (!selector.types.includes(action.type)) return `it is about ${selector.types.join(' and ')}, not ${action.type}`
  if (selector.outside && !isOutside(action)) return 'it is about commands outside the isolation'
  if (selector.operation !== undefined && !(action.type === 'write' && action.operation === selector.operation))
    return `it is about ${selector.operation} only`
  if (selector.tool !== undefined && !isTool(selector.tool, subject.toolName))
    return subject.toolName === undefined
      ? `it is about the tool ${selector.tool}, and no tool is named`
      : `it is about the tool ${selector.tool}, not ${subject.toolName}`
  if (folder !== null && !(action.type === 'spawn' && isIn(folder, action))) return `it is for the folder ${folder}`
  if (method !== null && methodOf(action) !== method) return `it is for what is done by ${method}`
  if (platform !== null && !matchGlob(platform, subject.platform))
    return `it is for ${platform}, not ${subject.platform}`
  if (user !== null && (subject.user === undefined || !matchGlob(user, subject.user)))
    return `it is for ${user}, not ${subject.user ?? 'somebody without a name'}`
  return null
}

function methodOf(action: Action): string | null {
  if (action.type === 'write') return action.operation.toUpperCase()
  return action.type === 'fetch' ? action.method.toUpperCase() : null
}

/** Whether the command runs in the folder that a rule names, on the machine that it names. */
export function isIn(folder: string, { backend, cwd }: Extract<Action, { type: 'spawn' }>): boolean {
  return folder === (backend === 'local' ? cwd : `${backend}:${cwd}`)
}

/** Whether an action is a command that is to run outside the isolation. */
export function isOutside(action: Action): boolean {
  return action.type === 'spawn' && action.outside === true
}

/** Whether a rule also says something about that, and not just about what may run. */
export function isAboutOutside({ selector }: ParsedRule): boolean {
  return selector.outside ?? (selector.types === EVERYTHING.types && selector.tool === undefined)
}

function isTool(pattern: string, name: string | undefined): boolean {
  if (name === undefined) return false
  if (!pattern.endsWith('.*')) return matchGlob(pattern, name)
  const family = pattern.slice(0, -2)
  return matchGlob(family, name) || matchGlob(`${family}_*`, name)
}

/** Options of {@link parseRules}. */
interface ParseRulesOptions {
  /** Where a pattern is written, as `FILE:LINE:COLUMN`; it leads the problems with it. */
  readonly sourceOf?: (pattern: string) => string | undefined
  /** Patterns whose effect could not be read, and which ask therefore. Default none. */
  readonly unread?: readonly string[]
}

/**
 * Reads a plain record, such as the content of `permissions.yaml`. What is wrong becomes a problem, one line each; the rest counts. A rule
 * that cannot be read asks, unless it was to allow: then it is left out. A rule that never applies because a later one says something else
 * about all it is about is a problem too.
 */
export function parseRules(
  record: Readonly<Record<string, unknown>>,
  { sourceOf = () => undefined, unread = [] }: ParseRulesOptions = {},
): { readonly rules: readonly PermissionRule[]; readonly problems: readonly string[] } {
  const rules: ParsedRule[] = []
  const problems: string[] = []
  for (const [pattern, effect] of Object.entries(record)) {
    const source = sourceOf(pattern)
    const place = source === undefined ? {} : { source }
    const doubtful = () => parseRule({ pattern, effect: 'ask', unread: true, ...place }) as ParsedRule
    const problem = (text: string) => problems.push(source === undefined ? text : `${source}: ${text}`)
    if (effect !== 'allow' && effect !== 'ask' && effect !== 'deny') {
      problem(`"${pattern}" must be allow, ask or deny, not ${JSON.stringify(effect)}. Until it is fixed, this asks.`)
      rules.push(doubtful())
      continue
    }
    const parsed = parseRule({ pattern, effect, ...place })
    if (typeof parsed !== 'string') rules.push(unread.includes(pattern) ? { ...parsed, unread: true } : parsed)
    else if (effect === 'allow') problem(parsed)
    else {
      const instead = doubtful()
      problem(`${parsed} Until it is fixed, ${nameOf(instead.selector)} asks.`)
      rules.push(instead)
    }
  }
  const plain = rules.map(({ pattern, effect, source, unread }) => ({
    pattern,
    effect,
    ...(source === undefined ? {} : { source }),
    ...(unread ? { unread } : {}),
  }))
  return { rules: plain, problems: [...problems, ...contradictions(rules.filter((rule) => !rule.unread))] }
}

function nameOf(selector: Selector): string {
  if (selector.tool !== undefined) return `everything ${selector.tool} does`
  const kind = Object.keys(KINDS).find((name) => KINDS[name] === selector)
  return kind === undefined || kind === '*' ? 'every action' : `everything ${kind} is about`
}

function contradictions(rules: readonly ParsedRule[]): string[] {
  return rules.flatMap((rule, at) => {
    const over = rules.slice(at + 1).find((later) => later.effect !== rule.effect && covers(later, rule))
    if (!over) return []
    const [where, place] = [rule.source && `${rule.source}: `, over.source && ` (${over.source})`]
    const why = `the later "${over.pattern}: ${over.effect}"${place ?? ''} covers all it is about`
    return [`${where ?? ''}"${rule.pattern}: ${rule.effect}" never applies: ${why}. Move it below, or remove one.`]
  })
}

/** Whether everything `rule` is about is also what `later` is about. May miss some, never claims too much. */
function covers(later: ParsedRule, rule: ParsedRule): boolean {
  const { types, operation, outside, tool } = later.selector
  return (
    (outside === rule.selector.outside || (!outside && isAboutOutside(later))) &&
    rule.selector.types.every((type) => types.includes(type)) &&
    (operation === undefined || operation === rule.selector.operation) &&
    (tool === undefined || tool === rule.selector.tool) &&
    (later.folder === null || (later.folder === rule.folder && later.digest === rule.digest)) &&
    (later.method === null || later.method === rule.method) &&
    coversText(later.platform, rule.platform) &&
    coversText(later.user, rule.user) &&
    coversText(later.argument, rule.argument) &&
    (!types.some(isAboutPaths) || coversPath(later.argument, rule.argument))
  )
}

function isAboutPaths(type: Action['type']): boolean {
  return type === 'read' || type === 'write'
}

function coversText(later: string | null, text: string | null, options?: { readonly path: boolean }): boolean {
  if (later === null || later === text) return true
  // As text, a wildcard of the narrower pattern is matched by a star only; other signs could take it for a character.
  return text !== null && !/[?\\]/.test(later + text) && matchGlob(later, text, options)
}

function coversPath(later: string | null, text: string | null): boolean {
  const anchorOf = (pattern: string | null) => /^(?:~?\/)?/.exec(pattern ?? '')![0]
  return later === null || (anchorOf(later) === anchorOf(text) && coversText(later, text, { path: true }))
}
