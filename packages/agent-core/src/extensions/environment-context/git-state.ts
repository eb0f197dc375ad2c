import type { Environment } from '@hermes/contracts/environment'
import type { HookEvent } from '@hermes/contracts/extension'
import type { Action } from '@hermes/contracts/policy'
import { openUntrustedGit } from '@hermes/safety'

/** What git says of a workspace, on one line. */
export interface GitState {
  readonly text: string
  /** It has names in it that whoever made the repository chose. */
  readonly isNaming: boolean
}

const STATUS = 'git --no-pager status --porcelain=v2 --branch -z --untracked-files=normal --ignore-submodules=dirty'
const TIMEOUT_MS = 2_000
const MOST_BYTES = 100_000
const MOST_NAMED = 5
/** Others are counted only: what has blanks in it could read like a sentence. */
const PLAIN_NAME = /^[\w./@+-]{1,100}$/

/**
 * The branch of a workspace and what was changed in it; `null` where git gives none. Names are told where text from outside is in the conversation already: a name alone is not worth that everything asks again.
 */
export async function readGitState(
  context: HookEvent,
  {
    environment,
    cwd,
    signal,
  }: { readonly environment: Environment; readonly cwd: string; readonly signal: AbortSignal },
): Promise<GitState | null> {
  const limits = { signal, timeoutMs: TIMEOUT_MS, maxOutputBytes: MOST_BYTES }
  // No person is asked for what nobody asked for.
  const unasked = (action: Action) => context.permit(action, { origin: 'operator', mayAsk: false })
  const git = openUntrustedGit({ environment, permit: unasked, limits })
  const { exitCode, output, outputBytes } = await git(cwd, STATUS)
  if (exitCode !== 0) return null
  const isNaming = context.session.isTainted
  if (outputBytes > MOST_BYTES) return { text: 'very many files changed', isNaming: false }
  return { text: describeStatus(parseStatus(output), isNaming), isNaming }
}

/** What `git status --porcelain=v2 --branch -z` says. @see git-status, Porcelain Format Version 2 */
interface Status {
  readonly branch: string
  readonly commit: string
  readonly ahead: number
  readonly behind: number
  readonly changed: readonly string[]
  readonly conflicts: readonly string[]
  readonly untracked: readonly string[]
}

/** Fields before the path of an entry, by its mark. */
const FIELDS: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10, '?': 1 }

function parseStatus(output: string): Status {
  const paths: Record<string, string[]> = { '1': [], '2': [], u: [], '?': [] }
  const heads = new Map<string, string>()
  const records = output.split('\0')
  for (let index = 0; index < records.length; index++) {
    const record = records[index]!
    const [, name, value] = /^# branch\.(\w+) (.*)$/.exec(record) ?? []
    if (name !== undefined) heads.set(name, value!)
    const mark = record.charAt(0)
    paths[mark]?.push(record.split(' ').slice(FIELDS[mark]).join(' '))
    // The name a file had before is a record of its own.
    if (mark === '2') index++
  }
  const [ahead, behind] = (heads.get('ab') ?? '+0 -0').split(' ').map((count) => Math.abs(Number(count)))
  return {
    branch: heads.get('head') ?? '',
    commit: (heads.get('oid') ?? '').slice(0, 8),
    ahead: ahead ?? 0,
    behind: behind ?? 0,
    changed: [...paths['1']!, ...paths['2']!],
    conflicts: paths['u']!,
    untracked: paths['?']!,
  }
}

function describeStatus(status: Status, isNaming: boolean): string {
  const { ahead, behind, changed, conflicts, untracked } = status
  const groups = [
    describePaths('in conflict', conflicts, isNaming),
    describePaths('changed', changed, isNaming),
    describePaths('untracked', untracked, isNaming),
  ].filter((text) => text !== null)
  const distance = [ahead > 0 ? `${ahead} ahead` : '', behind > 0 ? `${behind} behind` : ''].filter(Boolean)
  return [
    ...(isNaming ? [describeBranch(status)] : []),
    ...(distance.length === 0 ? [] : [`${distance.join(', ')} of its upstream`]),
    ...(groups.length === 0 ? ['nothing changed'] : groups),
  ].join('; ')
}

function describeBranch({ branch, commit }: Status): string {
  if (branch === '(detached)') return `detached at ${commit}`
  return PLAIN_NAME.test(branch) ? `branch ${branch}` : 'branch with an unusual name'
}

function describePaths(what: string, paths: readonly string[], isNaming: boolean): string | null {
  if (paths.length === 0) return null
  const named = isNaming ? paths.filter((path) => PLAIN_NAME.test(path)).slice(0, MOST_NAMED) : []
  if (named.length === 0) return `${paths.length} ${what}`
  const more = paths.length > named.length ? ` and ${paths.length - named.length} more` : ''
  return `${what}: ${named.join(', ')}${more}`
}
