import { isAbsolute, join, relative, sep } from 'node:path'
import { errorLine } from '@hermes/contracts'
import { estimateTokens } from '@hermes/contracts/conversation'

/** What is known of a session when it starts. */
export interface SessionStart {
  /** `cli`, `oneshot`, `gateway`, `acp`, `cron`, `subagent` … */
  readonly kind: string
  /** What it starts with, where that is known. */
  readonly text?: string | undefined
  /** Unix milliseconds. */
  readonly atMs: number
  /** IANA name. */
  readonly timeZone: string
  /** Where it works. Absolute. */
  readonly cwd: string
  /** What `~` stands for. Absolute. */
  readonly userHome: string
}

/** The model a rule sends a session to. */
interface Route {
  readonly provider?: string
  readonly model?: string
  readonly baseUrl?: string
}

const CONDITIONS = ['kind', 'folder', 'min_tokens', 'max_tokens', 'hours', 'days']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/**
 * Where the first rule of `routing` that fits sends a new session; `null` when none does. A rule is a map with `model`, `provider` or
 * `base_url`, and under `when` any of `kind` and `folder` (a text or several; a folder stands for all below it), `min_tokens` and
 * `max_tokens` of the first message, `hours` such as `22-6`, and `days` such as `[sat, sun]`; all of them have to fit. A rule that cannot
 * be read fits nothing. Pure.
 */
export function routeFor(rules: readonly unknown[], start: SessionStart): Route | null {
  const rule = rules.map(toRule).find((one) => one !== null && fits(one.when, start))
  return rule?.route ?? null
}

/** The same for a delegated task; only rules that name the kind `subagent` count, for without one it has its parent's model. Pure. */
export function routeForChild(rules: readonly unknown[], start: Omit<SessionStart, 'kind'>): Route | null {
  const meant = rules.filter((rule) => toRule(rule)?.when.kinds?.includes('subagent'))
  return routeFor(meant, { ...start, kind: 'subagent' })
}

/** What is wrong with the rules, a line each. Pure. */
export function routingProblems(rules: readonly unknown[]): readonly string[] {
  return rules.flatMap((rule, index) => {
    try {
      readRule(rule)
      return []
    } catch (error) {
      return [`routing.${index} is left out: ${errorLine(error)}`]
    }
  })
}

interface Conditions {
  readonly kinds: readonly string[] | null
  /** Absolute, or from `~` on. */
  readonly folders: readonly string[] | null
  readonly minTokens: number
  readonly maxTokens: number
  /** From the first hour to before the second, over midnight where that is smaller. */
  readonly hours: readonly [from: number, to: number] | null
  readonly days: readonly string[] | null
}

interface Rule {
  readonly when: Conditions
  readonly route: Route
}

function toRule(rule: unknown): Rule | null {
  try {
    return readRule(rule)
  } catch {
    return null
  }
}

function readRule(rule: unknown): Rule {
  const { when = {}, provider, model, base_url: baseUrl, ...stray } = toMap(rule, 'a rule')
  const [astray] = Object.keys(stray)
  // A condition in the wrong place would leave a rule without any.
  if (astray !== undefined && CONDITIONS.includes(astray)) throw new TypeError(`${astray} belongs under when.`)
  if (astray !== undefined) throw new TypeError(`${astray} is not known.`)
  const route = {
    ...(provider === undefined ? {} : { provider: toText(provider, 'provider') }),
    ...(model === undefined ? {} : { model: toText(model, 'model') }),
    ...(baseUrl === undefined ? {} : { baseUrl: toText(baseUrl, 'base_url') }),
  }
  if (Object.keys(route).length === 0) throw new TypeError('it names neither model nor provider nor base_url.')
  const { kind, folder, min_tokens, max_tokens, hours, days, ...unknown } = toMap(when, 'when')
  const [odd] = Object.keys(unknown)
  if (odd !== undefined) throw new TypeError(`when.${odd} is not known.`)
  return {
    route,
    when: {
      kinds: kind === undefined ? null : toTexts(kind, 'when.kind'),
      folders: folder === undefined ? null : toFolders(folder),
      minTokens: min_tokens === undefined ? 0 : toNumber(min_tokens, 'when.min_tokens'),
      maxTokens: max_tokens === undefined ? Number.POSITIVE_INFINITY : toNumber(max_tokens, 'when.max_tokens'),
      hours: hours === undefined ? null : toHours(hours),
      days: days === undefined ? null : toDays(days),
    },
  }
}

function toMap(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new TypeError(`${name} must be a map.`)
}

function toText(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new TypeError(`${name} must be a text.`)
}

function toTexts(value: unknown, name: string): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map((one) => toText(one, name))
}

function toFolders(value: unknown): readonly string[] {
  const folders = toTexts(value, 'when.folder')
  if (folders.every((folder) => isAbsolute(folder) || /^~(?:[/\\]|$)/.test(folder))) return folders
  throw new TypeError('when.folder takes whole paths, such as ~/work.')
}

function toNumber(value: unknown, name: string): number {
  if (typeof value === 'number' && value >= 0) return value
  throw new TypeError(`${name} must be a number.`)
}

function toHours(value: unknown): readonly [number, number] {
  const [, from, to] = /^\s*(\d{1,2})\s*-\s*(\d{1,2})\s*$/.exec(String(value)) ?? []
  if (from !== undefined && Number(from) < 24 && Number(to) <= 24) return [Number(from), Number(to)]
  throw new TypeError('when.hours must look like 22-6.')
}

function toDays(value: unknown): readonly string[] {
  const days = toTexts(value, 'when.days').map((day) => day.toLowerCase().slice(0, 3))
  if (days.every((day) => DAYS.includes(day))) return days
  throw new TypeError(`when.days takes ${DAYS.join(', ')}.`)
}

function fits({ kinds, folders, minTokens, maxTokens, hours, days }: Conditions, start: SessionStart): boolean {
  const { hour, day } = localTime(start)
  // Of what is not known yet nothing can be said.
  const tokens = start.text === undefined ? null : estimateTokens(start.text)
  const isSized = minTokens > 0 || maxTokens < Number.POSITIVE_INFINITY
  if (isSized && (tokens === null || tokens < minTokens || tokens > maxTokens)) return false
  if (folders && !folders.some((folder) => isBelow(start, folder))) return false
  return (!kinds || kinds.includes(start.kind)) && (!days || days.includes(day)) && (!hours || isWithin(hour, hours))
}

function isBelow({ cwd, userHome }: SessionStart, folder: string): boolean {
  const way = relative(folder.startsWith('~') ? join(userHome, folder.slice(1)) : folder, cwd)
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
}

function isWithin(hour: number, [from, to]: readonly [number, number]): boolean {
  return from <= to ? hour >= from && hour < to : hour >= from || hour < to
}

function localTime({ atMs, timeZone }: SessionStart): { readonly hour: number; readonly day: string } {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', hour: 'numeric', weekday: 'short' })
  const parts = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]))
  return { hour: Number(parts['hour']), day: String(parts['weekday']).toLowerCase() }
}
