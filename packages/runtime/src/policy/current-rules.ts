import { statSync } from 'node:fs'
import { allowNothing, homeLayout, loadConfig, loadPermissions } from '@hermes/config'
import { type PermissionRule, parseRules } from '@hermes/safety'

/** Options of {@link currentRules}. */
interface CurrentRulesOptions {
  readonly home: string
  /** The rules the home was opened with. */
  readonly rules: readonly PermissionRule[]
  /** Nothing in the file allows, because a setting that could be stricter cannot be read. */
  readonly asksAlways: boolean
}

/** The rules of `permissions.yaml` as they are, read again when the file is another one than at the last look. */
export function currentRules({
  home,
  rules,
  asksAlways,
}: CurrentRulesOptions): () => Promise<readonly PermissionRule[]> {
  const file = homeLayout(home).permissions
  let known = rules
  let seen: string | null = null
  return async () => {
    const version = versionOf(file)
    if (version === seen) return known
    const permissions = await loadPermissions({ home })
    const record = asksAlways ? allowNothing(permissions.rules) : permissions.rules
    const read = parseRules(record, permissions).rules
    // What says the same keeps its identity, so that nothing is taken apart anew.
    if (JSON.stringify(read) !== JSON.stringify(known)) known = read
    seen = version
    return known
  }
}

/**
 * What `approvals.deny` forbids: all that it did when the home was opened, and what was added to `config.yaml` since, read when the file is another one
 * than at the last look. What is taken out of it counts until Hermes starts again.
 */
export function currentDenials({
  home,
  env,
  known,
}: {
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly known: readonly string[]
}): () => Promise<readonly string[]> {
  const file = homeLayout(home).config
  let denied = known
  let seen = versionOf(file)
  return async () => {
    const version = versionOf(file)
    if (version === seen) return denied
    const { config } = await loadConfig({ home, env })
    seen = version
    const added = config.approvals.deny.filter((glob) => !denied.includes(glob))
    if (added.length > 0) denied = [...denied, ...added]
    return denied
  }
}

/** Looked at before every action: to wait for a thread would cost a hundred times as much. A file that cannot be read says why when loaded. */
function versionOf(file: string): string {
  try {
    const info = statSync(file, { bigint: true, throwIfNoEntry: false })
    return info === undefined ? 'none' : [info.dev, info.ino, info.size, info.mtimeNs, info.ctimeNs].join(':')
  } catch {
    return 'none'
  }
}
