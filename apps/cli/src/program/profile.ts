import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes profile …`. */
export function addProfile(program: Command, choose: (action: Action) => void): void {
  const profile = program
    .command('profile')
    .description('homes of their own for settings, keys, memories and sessions; hermes -p NAME works in one')
    .addHelpText(
      'after',
      `
Examples:
  hermes profile create work --clone     a second home with the settings of this one
  hermes -p work                         a conversation there
  hermes profile use work                from now on, without -p
  hermes profile export work             work.zip, without keys and sessions`,
    )
  const load = () => import('../commands/profile.js')
  profile
    .command('list', { isDefault: true })
    .description('the profiles there are')
    .option('--json', 'as JSON lines')
    .action((options) => choose(async (world) => (await load()).listAll(world, options)))
  profile
    .command('use <name>')
    .description('work in this one whenever none is named; default goes back')
    .action((name) => choose(async (world) => (await load()).use(world, name)))
  profile
    .command('create <name>')
    .description('make one, empty or with settings, skills and memories of another; sessions and logins never go along')
    .option('--clone', 'like the profile of now')
    .option('--clone-from <name>', 'like that profile')
    .option('--description <text>', 'what it is for')
    .action((name, options) => choose(async (world) => (await load()).create(world, name, options)))
  profile
    .command('describe <name> [text...]')
    .description('say what it is for; without words, show it')
    .action((name, words: readonly string[]) => choose(async (world) => (await load()).describe(world, name, words)))
  profile
    .command('delete <name>')
    .description('delete it with everything in it; asks first')
    .option('-y, --yes', 'do not ask')
    .action((name, options) => choose(async (world) => (await load()).remove(world, name, options)))
  profile
    .command('rename <name> <new-name>')
    .description('give it another name')
    .action((name, newName) => choose(async (world) => (await load()).rename(world, name, newName)))
  profile
    .command('export [name]')
    .description('pack settings, skills and memories into a zip archive, without keys, logins and sessions')
    .option('-o, --output <file>', 'where to; default NAME.zip in this folder')
    .action((name, options) => choose(async (world) => (await load()).pack(world, name, options)))
  profile
    .command('import <file>')
    .description('make a profile of such an archive')
    .option('--name <name>', 'its name; default that of the file')
    .action((file, options) => choose(async (world) => (await load()).unpack(world, file, options)))
}
