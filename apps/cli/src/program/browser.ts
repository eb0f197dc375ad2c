import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes browser …`: the words are those of `/browser`. */
export function addBrowser(program: Command, choose: (action: Action) => void): void {
  const browser = program
    .command('browser')
    .description('the browser of the agent: what there is, whether it works, and closing it')
  const call = (words: readonly string[], options = {}) =>
    choose(async (world) => (await import('../home-command.js')).homeCommand(world, 'browser', { words }, options))
  browser
    .command('status', { isDefault: true })
    .description('which browser it is, and the pages that are open')
    .option('--json', 'as JSON lines')
    .action((options) => call(['status'], options))
  browser
    .command('close')
    .description('close pages, and remove what ended processes left')
    .action(() => call(['close']))
  browser
    .command('doctor')
    .description('start the browser once, and say what stands in its way')
    .action(() => call(['doctor']))
}
