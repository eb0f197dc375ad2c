import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes fallback`. */
export function addFallback(program: Command, choose: (action: Action) => void): void {
  const fallback = program.command('fallback').description('models that answer when the chosen one fails')
  fallback
    .command('list', { isDefault: true })
    .description('in the order in which they are asked')
    .option('--json', 'as JSON')
    .action((options) =>
      choose(async (world) => (await import('../commands/fallback.js')).listFallbacks(world, options)),
    )
  fallback
    .command('add <provider> <model>')
    .description('one more at the end')
    .option('--base-url <url>', 'any OpenAI-compatible endpoint')
    .option('--key-env <name>', 'the environment variable that holds the key')
    .action((provider, model, options) =>
      choose(async (world) => (await import('../commands/fallback.js')).addFallback(world, provider, model, options)),
    )
  fallback
    .command('remove <which>')
    .description('by number, model, or provider/model')
    .action((which) => choose(async (world) => (await import('../commands/fallback.js')).removeFallback(world, which)))
  fallback
    .command('clear')
    .description('all of them')
    .action(() => choose(async (world) => (await import('../commands/fallback.js')).clearFallbacks(world)))
}
