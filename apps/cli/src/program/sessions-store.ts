import { type Command, Option } from 'commander'
import type { Action } from '../io.js'

/** More than anybody pins. */
const MANY = 1_000

const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

/** `hermes sessions search`, `export`, `import`, `rescue`, `prune` and `stats`. */
export function addStoreCommands(sessions: Command, choose: (action: Action) => void): void {
  addSearch(sessions, choose)
  sessions
    .command('export [session]')
    .description('write a whole session, or all of them, to standard output or a file')
    .addOption(
      new Option('-f, --format <format>', 'what to write').choices(['jsonl', 'json', 'md', 'html']).default('jsonl'),
    )
    .option('--all', 'every session; as JSON lines')
    .option('-o, --output <file>', 'a new file')
    .action((name, options) =>
      choose(async (world) => (await import('../commands/sessions-export.js')).exportSessions(world, name, options)),
    )
  sessions
    .command('import <path>')
    .description('bring in conversations of Claude Code, Codex, opencode or older versions; a file or a folder')
    .option('--json', 'as JSON lines')
    .action((path, options) =>
      choose(async (world) => (await import('../commands/sessions-import.js')).importFrom(world, path, options)),
    )
  sessions
    .command('rescue [session...]')
    .description('messages that the store could not take: list them, or bring them back into their sessions')
    .option('--all', 'bring all of it back')
    .option('--json', 'as JSON lines')
    .action((names, options) =>
      choose(async (world) => (await import('../commands/sessions-rescue.js')).rescueSessions(world, names, options)),
    )
  sessions
    .command('prune')
    .description('delete sessions that were not used for long; asks first')
    .option('--older-than <time>', 'for example 90d, 12h or 2w', '90d')
    .option('--source <name>', 'only sessions from here: cli, telegram …')
    .option('--dry-run', 'only say how many')
    .option('-y, --yes', 'do not ask')
    .action((options) =>
      choose(async (world) => (await import('../commands/sessions-prune.js')).pruneSessions(world, options)),
    )
  sessions
    .command('stats')
    .description('how much there is, from where, by which models')
    .option('--json', 'as JSON')
    .action((options) =>
      choose(async (world) => (await import('../commands/sessions-prune.js')).sessionStats(world, options)),
    )
}

/** `hermes sessions pin`, `unpin`, `pinned`, `archive` and `unarchive`. */
export function addMarks(sessions: Command, choose: (action: Action) => void): void {
  const marks = [
    ['pin', 'pin', 'have a session first in lists and never pruned', {}],
    ['unpin', 'pin', 'let go of it', { off: true }],
    ['archive', 'archive', 'take a session out of the lists; going on with it brings it back', {}],
    ['unarchive', 'archive', 'have it in the lists again', { off: true }],
  ] as const
  const load = () => import('../home-command.js')
  for (const [name, command, description, args] of marks)
    sessions
      .command(`${name} <session>`)
      .description(description)
      .action((session) => choose(async (world) => (await load()).homeCommand(world, command, { session, ...args })))
  sessions
    .command('pinned')
    .description('the pinned sessions')
    .option('--json', 'as JSON lines')
    .action(({ json }) =>
      choose(async (world) => {
        const [{ homeCommand }, { MARKS }] = await Promise.all([load(), import('@hermes/storage')])
        return homeCommand(world, 'sessions', { limit: MANY, tag: MARKS.pinned }, { json })
      }),
    )
}

/** `hermes migrate-sessions`. */
export function addMigrateSessions(program: Command, choose: (action: Action) => void): void {
  program
    .command('migrate-sessions [folder]')
    .description('bring in the transcripts older versions kept as files; by default those in the home')
    .option('--json', 'as JSON lines')
    .action((folder, options) =>
      choose(async (world) => (await import('../commands/sessions-import.js')).migrateSessions(world, folder, options)),
    )
}

function addSearch(sessions: Command, choose: (action: Action) => void): void {
  sessions
    .command('search <words...>')
    .description('find messages by their words, newest first; "a phrase", OR, NOT, prefix* and *part* work')
    .option('-n, --limit <n>', 'how many', Number, 10)
    .option('--role <role>', 'only messages of user, assistant or tool; repeatable', several)
    .option('--source <name>', 'only sessions from here: cli, telegram …; repeatable', several)
    .option('--session <session>', 'only this one: id, unique start of an id, or title')
    .option('--tag <tag>', 'only sessions with this tag')
    .option('--after <date>', 'only later messages, for example 2026-03-01')
    .option('--before <date>', 'only earlier messages')
    .addOption(new Option('--sort <order>', 'which come first').choices(['newest', 'relevance']).default('newest'))
    .option('--context', 'also the message before and after')
    .option('--json', 'as JSON lines')
    .action((words: readonly string[], options) =>
      choose(async (world) =>
        (await import('../commands/sessions-search.js')).searchSessions(world, words.join(' '), options),
      ),
    )
}
