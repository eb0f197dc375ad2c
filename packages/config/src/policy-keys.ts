import { isMap } from './check-field.js'

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
export function stricter(how: Strictness, first: unknown, second: unknown): unknown {
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
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isMap(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  )
}

/** A copy of `value` with another value at a path of maps; what is on the way is made. */
export function withValueAt(value: unknown, path: readonly string[], item: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return item
  const map = isMap(value) ? value : {}
  return { ...map, [key]: withValueAt(map[key], rest, item) }
}
