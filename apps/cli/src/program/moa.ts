import { type Command, Option } from 'commander'
import type { Action } from '../io.js'

/** `hermes moa …`. */
export function addMoa(program: Command, choose: (action: Action) => void): void {
  const moa = program
    .command('moa')
    .description('mixtures of models: several are asked, one weighs what they say and answers')
  moa
    .command('list', { isDefault: true })
    .description('the presets of config.yaml')
    .option('--json', 'as JSON')
    .action((options) => choose(async (world) => (await import('../commands/moa.js')).moaList(world, options)))
  moa
    .command('show [preset]')
    .description('the models of a preset, and whether each is ready')
    .option('--json', 'as JSON')
    .action((name, options) =>
      choose(async (world) => (await import('../commands/moa.js')).moaShow(world, name, options)),
    )
  withModels(moa.command('add <preset>').description('a new preset')).action((name, options) =>
    choose(async (world) => (await import('../commands/moa-edit.js')).moaAdd(world, name, options)),
  )
  withModels(moa.command('configure <preset>').description('change a preset; what is not named stays')).action(
    (name, options) =>
      choose(async (world) => (await import('../commands/moa-edit.js')).moaConfigure(world, name, options)),
  )
  moa
    .command('remove <preset>')
    .description('forget a preset')
    .action((name) => choose(async (world) => (await import('../commands/moa-edit.js')).moaRemove(world, name)))
  moa
    .command('try <question...>')
    .description('put one question to a mixture, and see what each model said')
    .option('--preset <name>', 'default: moa.default_preset')
    .option('--full', 'all of what each model said')
    .option('--json', 'as JSON')
    .action((words: readonly string[], options) =>
      choose(async (world) => (await import('../commands/moa.js')).moaTry(world, words.join(' '), options)),
    )
}

function withModels(command: Command): Command {
  return command
    .addOption(new Option('-r, --reference <model>', 'PROVIDER/MODEL that is asked; once for each').argParser(collect))
    .option('-a, --aggregator <model>', 'PROVIDER/MODEL that answers; default: the chosen model')
    .option('--default', 'taken where no preset is named')
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
