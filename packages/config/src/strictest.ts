import type { Issue, Path } from './check-field.js'
import { checkField, isMap } from './check-field.js'
import type { HermesConfig } from './hermes-config.js'
import { SCHEMA } from './schema.js'
import type { YamlFile } from './yaml-file.js'
import { parseYaml } from './yaml-file.js'

/** What a text of settings says of each key that bounds the agent; `undefined` where it says nothing that can be read. */
type Reading = (path: readonly string[]) => unknown

/** What could be read of a file with a mistake. */
export interface Readable {
  readonly readings: readonly Reading[]
  /** Whether a bound may stand where it cannot be read. */
  readonly hidesBounds: boolean
}

/** Of a file that cannot be read at all. */
export const NOTHING_READABLE: Readable = { readings: [], hidesBounds: true }

/** What can be read of values some of which their keys may not hold. A key that is not there says what its default says. */
export function readableValues(config: HermesConfig, issues: readonly Issue[]): Readable {
  const isUnder = (inner: Path, outer: Path) => outer.every((key, index) => inner[index] === key)
  const reading: Reading = (path) =>
    issues.some((issue) => isUnder(path, issue.path)) ? undefined : valueAt(config, path)
  const hidesBounds = Object.keys(POLICY_KEYS)
    .map((key) => key.split('.'))
    .some((path) => issues.some((issue) => isUnder(path, issue.path) || isUnder(issue.path, path)))
  return { readings: [reading], hidesBounds }
}

/** What can be read of a text that is not valid YAML: each section is read by itself, so that one mistake hides no other section. */
export async function readableSections(text: string): Promise<Readable> {
  const sections = await Promise.all(text.split(/^(?=[\w"'])/m).map((section) => parseYaml(section)))
  return { readings: sections.map(readingOf), hidesBounds: true }
}

function readingOf({ value, sourceOf }: YamlFile): Reading {
  const issues: Issue[] = []
  const checked = isMap(value) ? checkField(SCHEMA, value, [], { issues, sourceOf }) : {}
  return (path) => {
    const isWritten = valueAt(value, path) !== undefined
    const isWrong = issues.some((issue) => issue.path.join('.') === path.join('.'))
    return isWritten && !isWrong ? valueAt(checked, path) : undefined
  }
}

/** `base` with the strictest of its own and all read values at each key that bounds the agent, and at which of them `base` was looser. */
export function strictest(
  base: HermesConfig,
  readings: readonly Reading[],
): { readonly config: HermesConfig; readonly tightened: readonly string[] } {
  let config: unknown = base
  const tightened: string[] = []
  for (const [key, how] of Object.entries(POLICY_KEYS)) {
    const path = key.split('.')
    const old = valueAt(base, path)
    const values = [old, ...readings.map((reading) => reading(path))].filter((value) => value !== undefined)
    if (values.length === 0) continue
    const strict = values.reduce<unknown>((first, second) => stricter(how, first, second), values[0])
    if (JSON.stringify(strict) === JSON.stringify(old)) continue
    config = withValueAt(config, path, strict)
    tightened.push(key)
  }
  return { config: config as HermesConfig, tightened }
}

/** How the stricter of two values of a key is found. */
type Strictness =
  /** The word that stands further left is stricter; words that are not listed are stricter than all that are. */
  | { readonly type: 'order'; readonly words: readonly unknown[] }
  /** Each entry forbids: all of both count. */
  | { readonly type: 'all' }
  /** Each entry permits: only those of both count. */
  | { readonly type: 'common' }
  | { readonly type: 'least' }

const order = (...words: readonly unknown[]) => ({ type: 'order', words }) as const
const all = { type: 'all' } as const
const common = { type: 'common' } as const
const least = { type: 'least' } as const

/** The keys of `config.yaml` that bound what the agent may do, spend or show, and which of two values is the stricter. */
export const POLICY_KEYS: Readonly<Record<string, Strictness>> = {
  'approvals.mode': order('ask', 'smart', 'off'),
  'approvals.deny': all,
  ...Object.fromEntries(
    ['single_query', 'cron', 'unattended'].map((where) => [
      `approvals.${where}_mode`,
      order('deny', 'park', 'approve'),
    ]),
  ),
  command_allowlist: common,
  'security.allow_private_urls': order(false, true),
  'security.allowed_ranges': common,
  'security.website_blocklist.enabled': order(true, false),
  'security.website_blocklist.domains': all,
  'terminal.backend': order('local'),
  'terminal.isolation': order('on', 'auto', 'off'),
  'terminal.isolation_network': order(false, 'off', 'ask', true, 'on'),
  'terminal.isolation_write': common,
  'terminal.isolation_read': common,
  'terminal.env_passthrough': common,
  'terminal.sync_folders': common,
  'terminal.ssh_host_keys': order('strict', 'accept-new'),
  'terminal.docker_network': order(false, true),
  'terminal.docker_volumes': common,
  'terminal.docker_forward_env': common,
  'terminal.docker_extra_args': common,
  'terminal.docker_mount_cwd_to_workspace': order(false, true),
  'agent.disabled_toolsets': all,
  'gateway.api_server.key': order(),
  'gateway.api_server.context_references': order(false, true),
  ...Object.fromEntries(
    ['turn', 'session', 'day', 'month'].flatMap((span) => [
      [`budget.${span}.tokens`, least],
      [`budget.${span}.usd`, least],
    ]),
  ),
}

/** The stricter of two values of one key. */
function stricter(how: Strictness, first: unknown, second: unknown): unknown {
  switch (how.type) {
    case 'order':
      return how.words.indexOf(second) < how.words.indexOf(first) ? second : first
    case 'all':
      return [...new Set([...list(first), ...list(second)])]
    case 'common':
      return list(first).filter((item) => list(second).includes(item))
    case 'least':
      return Math.min(Number(first), Number(second))
    default:
      return how satisfies never
  }
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value at a path of maps; `undefined` when there is none. */
function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isMap(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  )
}

/** A copy of `value` with another value at a path of maps; what is on the way is made. */
function withValueAt(value: unknown, path: readonly string[], item: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return item
  const map = isMap(value) ? value : {}
  return { ...map, [key]: withValueAt(map[key], rest, item) }
}
