export { plainShell, type RunShell } from '../plain-git.js'
export { pruneTable, worktreeTable } from './worktree-table.js'
export { leaveWorktree, type MadeWorktree, makeWorktree, newName } from './worktrees.js'
