import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes sessions fork` and `tree`. */
export function addBranching(sessions: Command, choose: (action: Action) => void): void {
  sessions
    .command('fork <session>')
    .description('copy a session, whole or up to one of its messages, to go another way')
    .option('--at <n>', 'the last message to take along; `hermes sessions show` has the numbers', Number)
    .option('--title <text>', 'what to call the copy')
    .action((name, options) =>
      choose(async (world) => (await import('../commands/sessions-branching.js')).sessionsFork(world, name, options)),
    )
  sessions
    .command('tree [session]')
    .description('which session was forked from which; without a name, all that were')
    .option('--json', 'as JSON lines')
    .action((name, options) =>
      choose(async (world) => (await import('../commands/sessions-branching.js')).sessionTree(world, name, options)),
    )
}
