import type { Command } from 'commander'
import type { Action } from '../io.js'

/** Runs `/skills` with these words; `flags` are its parameters, `options` those of showing what it gives. */
type Call = (words: readonly string[], flags?: object, options?: object) => void

/** Where the commands are added, and what they do. */
interface Skills {
  readonly skills: Command
  readonly call: Call
  /** For what asks or opens an editor. */
  readonly choose: (action: Action) => void
}

/** `hermes skills …`: the words are those of `/skills`. */
export function addSkills(program: Command, choose: (action: Action) => void): void {
  const skills = program.command('skills').description('proven ways to do a kind of task: list, read, write, install')
  const call: Call = (words, flags = {}, options = {}) =>
    choose(async (world) =>
      (await import('../home-command.js')).homeCommand(world, 'skills', { words, ...flags }, options),
    )
  const parts = { skills, call, choose }
  addReading(parts)
  addWriting(parts)
  addInstalling(parts)
  addInstalled(parts)
  addSharing(parts)
  addWaiting(parts)
}

/** What there is. */
function addReading({ skills, call }: Skills): void {
  skills
    .command('list [words...]', { isDefault: true })
    .description('the skills that count here, your own first; with words, those that have them')
    .option('--json', 'as JSON lines')
    .action((words: readonly string[], options) => call(['list', ...words], {}, options))
  skills
    .command('inspect <name> [file]')
    .description('what a skill says, where it is from and what it needs; or one of its files')
    .action((name: string, file?: string) => call(['inspect', name, ...(file === undefined ? [] : [file])]))
  skills
    .command('stats')
    .description('what came of skills: used, completed, corrected afterwards')
    .option('--json', 'as JSON lines')
    .action((options) => call(['stats'], {}, options))
}

/** Skills of one's own. */
function addWriting({ skills, call, choose }: Skills): void {
  skills
    .command('create <name> [description...]')
    .description('make a skill of your own: what it is for, and when to use it')
    .option('--file <file>', 'a file with what it says')
    .option('--force', 'although there is something like it')
    .action((name: string, words: readonly string[], flags) =>
      call(['create', name], { description: words.join(' '), ...flags }),
    )
  skills
    .command('edit <name>')
    .description('change a skill of your own, in your editor')
    .option('--file <file>', 'its new text, without an editor')
    .action((name: string, { file }: { readonly file?: string }) =>
      file === undefined
        ? choose(async (world) => (await import('../commands/skills-edit.js')).skillsEdit(world, name))
        : call(['edit', name], { file }),
    )
  skills
    .command('delete <name>')
    .description('take a skill of your own away; a copy is kept')
    .action((name: string) => call(['delete', name]))
  skills
    .command('config [change] [name]')
    .description('what config.yaml says of skills; enable NAME and disable NAME switch one')
    .action((...words: readonly unknown[]) =>
      call(['config', ...words.filter((word): word is string => typeof word === 'string')]),
    )
}

/** Skills of others, until they are there. */
function addInstalling({ skills, call, choose }: Skills): void {
  skills
    .command('search <words...>')
    .description('look for skills on GitHub or a hub, or in the list of a site (its address)')
    .option('--source <name>', 'where to look: github (the default), clawhub, skills.sh or lobehub')
    .option('--page <n>', 'of what is found', Number)
    .option('--json', 'as JSON lines')
    .action((words: readonly string[], { json, ...flags }: { readonly json?: boolean }) =>
      call(['search', ...words], flags, json === undefined ? {} : { json }),
    )
  skills
    .command('install <source>')
    .description(
      'get a skill and look at it before it counts: a folder, OWNER/REPOSITORY[/FOLDER], a git address, a SKILL.md, an archive of one skill (.tar.gz, .zip), a site, clawhub:SLUG, skills.sh:OWNER/REPOSITORY/SKILL, lobehub:IDENTIFIER, mcp:SERVER/NAME or pack:NAME',
    )
    .option('-y, --yes', 'do not ask; what the scanner has found is not covered by it')
    .option('--force', 'with --yes: although the scanner has found something')
    .action((source: string, options) =>
      choose(async (world) => (await import('../commands/skills-install.js')).skillsInstall(world, source, options)),
    )
  skills
    .command('accept <id>')
    .description('install what was shown under this id')
    .option('--force', 'although the scanner has found something')
    .action((id: string, flags) => call(['accept', id], flags))
}

/** Skills of others that are there. */
function addInstalled({ skills, call }: Skills): void {
  skills
    .command('audit')
    .description('whether installed skills are as you agreed to them')
    .action(() => call(['audit']))
  skills
    .command('update [names...]')
    .description('get installed skills and packs anew; what changed is shown and waits for your yes')
    .action((names: readonly string[]) => call(['update', ...names]))
  skills
    .command('uninstall <name>')
    .description('take an installed skill away, or all of pack:NAME')
    .action((name: string) => call(['uninstall', name]))
}

/** What goes to other people and homes, and comes from them in one. */
function addSharing({ skills, call, choose }: Skills): void {
  skills
    .command('packs [verb] [words...]')
    .description(
      'signed lists of skills with one version, as config.yaml names them (skills.packs); create NAME VERSION KEYFILE [SKILL…]: print one of installed skills',
    )
    .option('--json', 'as JSON lines')
    .action((verb: string | undefined, words: readonly string[], options) =>
      call(['packs', ...(verb === undefined ? [] : [verb]), ...words], {}, options),
    )
  skills
    .command('snapshot <verb> [file]')
    .description(
      'export: print a list of what is installed; import FILE: get what such a list names, each waits for your yes',
    )
    .action((verb: string, file?: string) => call(['snapshot', verb, ...(file === undefined ? [] : [file])]))
  skills
    .command('publish <name> <to>')
    .description(
      'give a skill of your own to others: a folder, or OWNER/REPOSITORY of GitHub by a pull request; asks first',
    )
    .option('-y, --yes', 'do not ask')
    .action((name: string, to: string, options) =>
      choose(async (world) =>
        (await import('../commands/skills-publish.js')).skillsPublish(world, [name, to], options),
      ),
    )
}

/** What agents want to change. */
function addWaiting({ skills, call }: Skills): void {
  skills
    .command('pending')
    .description('changes of agents that wait for your yes')
    .option('--json', 'as JSON lines')
    .action((options) => call(['pending'], {}, options))
  for (const [verb, description] of ANSWERS)
    skills
      .command(`${verb} <id...>`)
      .description(description)
      .action((ids: readonly string[]) => call([verb, ...ids]))
}

const ANSWERS = [
  ['approve', 'make a change that waits; all means each of them'],
  ['reject', 'forget a change that waits'],
  ['diff', 'show a change that waits'],
] as const
