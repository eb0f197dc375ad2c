import type { CommandTable } from '@hermes/contracts/extension'
import type { RunShell } from '../plain-git.js'
import { keptBecause, listWorktrees, removeWorktree, rootOf, type WorktreeInfo } from './worktrees.js'

/** The worktrees beside the first one, with what would be lost with each. Rejects as {@link listWorktrees}. */
export async function worktreeTable(run: RunShell, cwd: string): Promise<CommandTable> {
  const worktrees = await listWorktrees(run, cwd)
  return { type: 'table', rows: worktrees.map((one) => row(one, keptBecause(one))), empty: NONE }
}

/**
 * Takes away the worktrees with which nothing would be lost, and says of each whether it went; with `isTrial` whether it would go. Rejects as
 * {@link listWorktrees}.
 */
export async function pruneTable(
  run: RunShell,
  cwd: string,
  { isTrial }: { readonly isTrial: boolean },
): Promise<CommandTable> {
  const root = await rootOf(run, cwd)
  const rows: CommandTable['rows'][number][] = []
  for (const one of await listWorktrees(run, cwd)) {
    const why = keptBecause(one) ?? (isTrial ? null : await removeWorktree(run, root, one))
    rows.push(row(one, why === null ? (isTrial ? 'would go' : 'gone') : `kept: ${why}`))
  }
  return { type: 'table', rows, empty: NONE }
}

const NONE = 'There are no worktrees here. hermes -w works in one.'

function row(worktree: WorktreeInfo, state: string | null): CommandTable['rows'][number] {
  const { path, branch, changes, commits, lock } = worktree
  const words = state ?? 'nothing that is not elsewhere'
  return { cells: [shownPath(path), branch ?? '', words], data: { path, branch, changes, commits, lock, state: words } }
}

/** Those that Hermes made lie below the root of the repository. */
function shownPath(path: string): string {
  return path.replace(/^.*\/(?=\.worktrees\/[^/]+$)/, '')
}
