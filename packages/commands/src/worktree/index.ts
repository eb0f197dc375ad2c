export { pruneTable, worktreeTable } from './worktree-table.js'
export { leaveWorktree, type MadeWorktree, makeWorktree, newName, type RunShell } from './worktrees.js'
