import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes model …`. */
export function addModel(program: Command, choose: (action: Action) => void): void {
  const model = program.command('model').description('show, list and set models')
  model
    .command('info [model]', { isDefault: true })
    .description('window, limits, prices and abilities, and the source of each')
    .option('--provider <name>', 'where; default: the chosen one')
    .option('--json', 'as JSON')
    .action((name, options) =>
      choose(async (world) => (await import('../commands/model-info.js')).modelInfo(world, name, options)),
    )
  model
    .command('list [provider]')
    .description('the models of a provider, or all providers')
    .option('--json', 'as JSON')
    .action((provider, options) =>
      choose(async (world) => (await import('../commands/model.js')).modelList(world, provider, options)),
    )
  model
    .command('set <model>')
    .description('use this model from now on')
    .option('--provider <name>', 'where; default: the chosen one')
    .option('--base-url <url>', 'any OpenAI-compatible endpoint')
    .option('--force', 'although the server does not list it')
    .option(
      '--window <tokens>',
      'Ollama: a copy of the model that is loaded with this window; it shares the weights',
      Number,
    )
    .action((name, options) =>
      choose(async (world) => (await import('../commands/model.js')).modelSet(world, name, options)),
    )
  model
    .command('refresh')
    .description('fetch the list of models and prices of models.dev')
    .action(() => choose(async (world) => (await import('../commands/model.js')).modelRefresh(world)))
}
