import type { Command } from 'commander'
import type { Action } from '../io.js'

interface CreateFlags {
  readonly kind: string
  readonly provider?: boolean
  readonly platform?: boolean
}

/** `hermes plugins …`: the words are those of `/plugins`. */
export function addPlugins(program: Command, choose: (action: Action) => void): void {
  const plugins = program.command('plugins').description('extensions of others: install, agree to them, write your own')
  const call = (words: readonly string[], flags: object = {}, options = {}) =>
    choose(async (world) =>
      (await import('../home-command.js')).homeCommand(world, 'plugins', { words, ...flags }, options),
    )
  plugins
    .command('list', { isDefault: true })
    .description('the plugins of the home, of ~/.agents/plugins and of this project')
    .option('--json', 'as JSON lines')
    .action((options) => call(['list'], {}, options))
  plugins
    .command('install <source>')
    .description('get a plugin: a folder, a tarball, an npm package, a git address, OWNER/REPOSITORY')
    .option('--enable', 'agree to it at once')
    .action((source: string, { enable = false }) => call(['install', source], { enable }))
  for (const [verb, argument, description] of VERBS)
    plugins
      .command(`${verb} ${argument}`.trim())
      .description(description)
      // Where a verb takes no word, what comes first is its flags.
      .action((word: unknown) => call(typeof word === 'string' ? [verb, word] : [verb]))
  plugins
    .command('create <folder>')
    .description('begin a plugin, with a test that passes')
    .option('--kind <kind>', 'tool, memory, hook, provider or platform', 'tool')
    .addOption(program.createOption('--provider', 'as --kind provider: a server of models').conflicts('kind'))
    .addOption(
      program.createOption('--platform', 'as --kind platform: a chat platform').conflicts(['kind', 'provider']),
    )
    .action((folder: string, { kind, provider, platform }: CreateFlags) =>
      call(['create', folder], { kind: provider ? 'provider' : platform ? 'platform' : kind }),
    )
}

const VERBS = [
  ['enable', '<name>', 'agree to a plugin as it is now, and use it'],
  ['disable', '<name>', 'use it no longer'],
  ['update', '[name]', 'get it anew from where it came; off when it wants other things than before'],
  ['uninstall', '<name>', 'remove it with its data'],
  ['validate', '[folder]', 'set a plugin up, and say what it brings and wants'],
  ['doctor', '', 'what stands in the way of plugins'],
] as const
