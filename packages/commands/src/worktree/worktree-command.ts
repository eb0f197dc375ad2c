import type { Command, CommandContext } from '@hermes/contracts/extension'
import { plainShell, quoted, type RunShell } from '../plain-git.js'
import { parameters, say, sessionOf, text } from '../session/parameters.js'

/** `/worktree`: folders of the same repository to work in, made, listed and taken away where the agent works. */
export function worktreeCommand(): Command {
  return {
    name: 'worktree',
    usage: '[new [NAME] | list | prune [--dry-run]]',
    summary: 'git worktrees: a session in a new one; list, clear away',
    changes: ['new-in'],
    parameters: parameters({
      verb: { type: 'string', enum: ['list', 'new', 'prune'], default: 'list', description: 'new, list or prune' },
      name: text('a name for it'),
      dryRun: { type: 'boolean', default: false },
    }),
    run: async ({ verb, name, dryRun }, context) => {
      const { cwd } = sessionOf(context)
      const run = shellOf(context)
      const { makeWorktree, newName, pruneTable, worktreeTable } = await import('./index.js')
      if (verb === 'list') return worktreeTable(run, cwd)
      if (verb === 'prune') return pruneTable(run, cwd, { isTrial: dryRun === true })
      const made = await makeWorktree(run, cwd, { name: (name as string | undefined) ?? newName(), pid: process.pid })
      return [
        { type: 'change', change: { type: 'new-in', cwd: made.cwd } },
        say(`A new session in ${made.path} on branch ${made.branch}. Once it is merged: /worktree prune`),
      ]
    },
  }
}

function shellOf(context: CommandContext): RunShell {
  const session = sessionOf(context)
  // In a shell of its own: that of the agent stays where it is.
  return plainShell((command, cwd) => session.runOwn(`(cd ${quoted(cwd)} && ${command})`, { signal: context.signal }))
}
