import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes curator …`, `hermes bundles …`, `hermes learn …` and `hermes journey …`: the words are those of the slash commands. */
export function addGrowth(program: Command, choose: (action: Action) => void): void {
  const call = (name: string, words: readonly string[], flags: object = {}, options = {}) =>
    choose(async (world) => (await import('../home-command.js')).homeCommand(world, name, { words, ...flags }, options))
  addCurator(program, (words, ...more) => call('curator', words, ...more))
  addBundles(program, (words, ...more) => call('bundles', words, ...more))
  addJourney(program, (words, ...more) => call('journey', words, ...more))
}

type Call = (words: readonly string[], flags?: object, options?: object) => void

function addCurator(program: Command, call: Call): void {
  const curator = program.command('curator').description('keep your skills in order: stale, archived, pinned')
  curator
    .command('status', { isDefault: true })
    .description('how each skill of the home stands, and what will become of it')
    .option('--json', 'as JSON lines')
    .action((options) => call(['status'], {}, options))
  curator
    .command('run')
    .description('do a round now: archive what proved useless, propose what to merge')
    .option('--dry-run', 'only say what would be done')
    .action(({ dryRun }: { readonly dryRun?: boolean }) => call(['run'], { 'dry-run': dryRun === true }))
  for (const [verb, description] of ON_ONE)
    curator
      .command(`${verb} <name>`)
      .description(description)
      .action((name: string) => call([verb, name]))
  for (const [verb, description] of ON_ALL)
    curator
      .command(verb)
      .description(description)
      .action(() => call([verb]))
}

const ON_ONE = [
  ['pin', 'leave a skill alone'],
  ['unpin', 'look after it again'],
  ['archive', 'put a skill of the home aside'],
  ['restore', 'bring an archived skill back, as your own'],
] as const
const ON_ALL = [
  ['pause', 'do nothing by itself for now'],
  ['resume', 'work again'],
  ['list-archived', 'what was put aside'],
] as const

function addBundles(program: Command, call: Call): void {
  const bundles = program.command('bundles').description('several skills under one slash command')
  bundles
    .command('list', { isDefault: true })
    .description('the bundles there are')
    .option('--json', 'as JSON lines')
    .action((options) => call(['list'], {}, options))
  bundles
    .command('show <name>')
    .description('what a bundle brings along')
    .action((name: string) => call(['show', name]))
  bundles
    .command('create <name> <skills...>')
    .description('make a bundle; /NAME in a session brings its skills along')
    .option('-d, --description <text>', 'what it is for')
    .option('--instruction <text>', 'said with its skills each time')
    .option('--force', 'although there is one of that name')
    .action((name: string, skills: readonly string[], flags) => call(['create', name, ...skills], flags))
  bundles
    .command('delete <name>')
    .description('take a bundle away; its skills stay')
    .action((name: string) => call(['delete', name]))
  bundles
    .command('reload')
    .description('read the files of bundles anew')
    .action(() => call(['reload']))
}

function addJourney(program: Command, call: Call): void {
  for (const name of ['learn', 'journey']) {
    const journey = program.command(name).description('what was learnt when, and from what')
    journey
      .command('list [words...]', { isDefault: true })
      .description('skills, failures and notes in the order in which they were learnt')
      .option('--json', 'as JSON lines')
      .action((words: readonly string[], options) => call(['list', ...words], {}, options))
    journey
      .command('show <id>')
      .description('one of them, with what changed')
      .action((id: string) => call(['show', id]))
    journey
      .command('undo <id>')
      .description('take one back')
      .action((id: string) => call(['undo', id]))
  }
}
