import { type Command, Option } from 'commander'
import type { Action } from '../io.js'

/** `hermes usage`. */
export function addUsage(program: Command, choose: (action: Action) => void): void {
  program
    .command('usage')
    .description('calls, tokens and cost by day, model, provider, session or purpose')
    .addOption(
      new Option('--by <what>', 'one row for each')
        .choices(['day', 'model', 'provider', 'session', 'purpose'])
        .default('day'),
    )
    .option('--days <n>', 'how far back', Number, 30)
    .option('--session <session>', 'one session only: id, unique start of an id, or title')
    .option('--json', 'as JSON')
    .action((options) => choose(async (world) => (await import('../commands/usage.js')).usage(world, options)))
}
