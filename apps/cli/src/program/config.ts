import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes config …` and `hermes skin`. */
export function addConfig(program: Command, choose: (action: Action) => void): void {
  const config = program
    .command('config')
    .description('read and change config.yaml')
    .addHelpText(
      'after',
      `
Examples:
  hermes config show                     what differs from the defaults
  hermes config set agent.max_turns 50   one value; comments stay
  hermes config unset agent.max_turns    the default again
  hermes config edit                     in your editor, checked before it is kept`,
    )
  const load = () => import('../commands/config.js')
  const more = () => import('../commands/config-file.js')
  config
    .command('show [key]')
    .description('the values that config.yaml sets, keys hidden; of one section with its name')
    .option('--all', 'with those that nobody set, which are defaults')
    .option('--json', 'as JSON lines')
    .action((key, options) => choose(async (world) => (await more()).configShow(world, key, options)))
  config
    .command('get [key]')
    .description('one value, for example model.default, or everything as JSON')
    .action((key) => choose(async (world) => (await load()).configGet(world, key)))
  config
    .command('set <key> <value>')
    .description('change one value; comments and order stay')
    .action((key, value) => choose(async (world) => (await load()).configSet(world, key, value)))
  config
    .command('unset <key>')
    .description('take one value out, so that its default counts')
    .action((key) => choose(async (world) => (await more()).configUnset(world, key)))
  config
    .command('edit')
    .description('open it in $VISUAL or $EDITOR; it is kept only when it is sound')
    .action(() => choose(async (world) => (await import('../commands/config-edit.js')).configEdit(world)))
  config
    .command('path')
    .description('where config.yaml is')
    .action(() => choose(async (world) => (await load()).configPath(world)))
  config
    .command('env-path')
    .description('where the file .env with keys is')
    .action(() => choose(async (world) => (await more()).configEnvPath(world)))
  config
    .command('check')
    .description('check config.yaml and say what is wrong, with line and column')
    .action(() => choose(async (world) => (await load()).configCheck(world)))
  program
    .command('skin [name]')
    .description('the colours of conversations: those there are, or the one to have from now on')
    .option('--json', 'as JSON lines')
    .addHelpText(
      'after',
      `
Examples:
  hermes skin            those there are
  hermes skin daylight   for a white terminal
A skin of your own is a file skins/NAME.yaml of the home: colors: {accent: '#4682b4', notice: magenta}`,
    )
    .action((name, options) =>
      choose(async (world) => (await import('../commands/skin.js')).skin(world, name, options)),
    )
  config
    .command('migrate')
    .description('write keys by the names they have today; older names are read too')
    .option('--dry-run', 'only show what would change')
    .action((options) => choose(async (world) => (await more()).configMigrate(world, options)))
}
