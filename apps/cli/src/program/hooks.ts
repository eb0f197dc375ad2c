import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes hooks …`. */
export function addHooks(program: Command, choose: (action: Action) => void): void {
  const hooks = program.command('hooks').description('programs that run at events: list them, agree to them, try them')
  const call = (words: readonly string[], options = {}) =>
    choose(async (world) => (await import('../home-command.js')).homeCommand(world, 'hooks', { words }, options))
  hooks
    .command('list', { isDefault: true })
    .description('the hooks that count in this folder, and what waits for your consent')
    .option('--json', 'as JSON lines')
    .action((options) => call(['list'], options))
  hooks
    .command('accept [numbers...]')
    .description('agree to hooks as they are now, by their numbers in the list; without any to all of this folder')
    .action((numbers: readonly string[]) => call(['accept', ...numbers]))
  hooks
    .command('revoke [command...]')
    .description('take your consent back, for one command or for all')
    .action((words: readonly string[]) => call(['revoke', ...words]))
  hooks
    .command('test <number>')
    .description('run one with a made-up event, and show what its answer means')
    .action((number: string) => call(['test', number]))
  hooks
    .command('doctor')
    .description('what stands in the way of hooks')
    .action(() => call(['doctor']))
}
