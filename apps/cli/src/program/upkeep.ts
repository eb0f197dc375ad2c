import { type Command, Option } from 'commander'
import type { Action } from '../io.js'

type Choose = (action: Action) => void

/** What tells of Hermes itself and keeps it in order: status, version, logs, dump, update, uninstall. */
export function addUpkeep(program: Command, choose: Choose): void {
  program
    .command('status')
    .description('where things stand: model, terminal, spending, what waits for you; asks no server')
    .option('--json', 'as JSON lines')
    .action((options) =>
      choose(async (world) => (await import('../home-command.js')).homeCommand(world, 'status', {}, options)),
    )
  program
    .command('version')
    .description('the version, with what it runs on and where it is')
    .option('--json', 'as JSON')
    .action((options) => choose(async (world) => (await import('../upkeep/version.js')).version(world, options)))
  program
    .command('insights')
    .description('tools and sessions of the last days: calls, failures, time and cost')
    .option('--days <n>', 'how far back', Number, 30)
    .option('--source <name>', 'only sessions that began there: cli, telegram …')
    .option('--json', 'as JSON lines')
    .addHelpText(
      'after',
      `
Examples:
  hermes insights --days 7               which tools fail, and what takes the time
  hermes usage --by model                what models cost`,
    )
    .action(({ json, ...args }) =>
      choose(async (world) => (await import('../home-command.js')).homeCommand(world, 'insights', args, { json })),
    )
  addWorktree(program, choose)
  addLogs(program, choose)
  addDump(program, choose)
  addUpdate(program, choose)
}

function addWorktree(program: Command, choose: Choose): void {
  const worktree = program
    .command('worktree')
    .description('worktrees of this repository, as hermes -w makes them: list them, clear away what has nothing new')
    .addHelpText(
      'after',
      `
Examples:
  hermes -w                              a conversation in a worktree and on a branch of its own
  hermes worktree list                   what is there, and what would be lost with each
  hermes worktree prune --dry-run        what would go`,
    )
  worktree
    .command('list', { isDefault: true })
    .description('the worktrees beside the first one, and what would be lost with each')
    .option('--json', 'as JSON lines')
    .action((options) => choose(async (world) => (await import('../commands/worktree.js')).listed(world, options)))
  worktree
    .command('prune')
    .description('take away those with which nothing would be lost: no change, no commit, nobody in them')
    .option('--dry-run', 'only say what would go')
    .option('--json', 'as JSON lines')
    .action((options) => choose(async (world) => (await import('../commands/worktree.js')).prune(world, options)))
}

function addLogs(program: Command, choose: Choose): void {
  program
    .command('logs')
    .description('what Hermes has logged, oldest first; secrets are never written into it')
    .argument('[log]', 'one of them only: agent, gateway …; list says which there are')
    .option('-n, --lines <n>', 'how many of the newest', Number, 50)
    .option('-f, --follow', 'go on with what comes, until Ctrl-C')
    .addOption(new Option('--level <least>', 'as grave as this or graver').choices(['info', 'warn', 'error']))
    .option('--since <when>', 'a span such as 30m, 2h or 3d, or a date')
    .option('--session <id>', 'of one session: its id, or the start of it')
    .option('--text <words>', 'lines that hold this')
    .option('--json', 'as JSON lines')
    .addHelpText(
      'after',
      `
Examples:
  hermes logs -f                         watch it
  hermes logs --level error --since 2d   what failed in two days
  hermes logs gateway -n 200             the newest lines of the gateway`,
    )
    .action((log, options) => choose(async (world) => (await import('../upkeep/logs.js')).logs(world, log, options)))
}

function addDump(program: Command, choose: Choose): void {
  const add = (command: Command) =>
    command
      .description(
        'a report for a bug report: versions, settings, what doctor finds, newest log lines; without secrets',
      )
      .option('-o, --output <file>', 'into a new file instead of stdout')
      .option('-n, --lines <n>', 'log lines in it', Number, 50)
      .option('--json', 'as JSON')
      .addHelpText(
        'after',
        `
Examples:
  hermes dump                            look at it
  hermes dump -o report.txt              keep it, to attach it
Keys and tokens are replaced, names of variables stay. Read it before you send it.`,
      )
      .action((options) => choose(async (world) => (await import('../upkeep/dump.js')).dump(world, options)))
  add(program.command('dump'))
  add(program.command('debug', { hidden: true }))
}

function addUpdate(program: Command, choose: Choose): void {
  program
    .command('update')
    .description('say how to get a newer version; --check asks the registry whether there is one')
    .option('--check', 'ask the registry; exit code 1 where there is a newer version')
    .option('--json', 'with --check: as JSON')
    .addHelpText(
      'after',
      `
Examples:
  hermes update --check                  asks the registry that npm is set up for
  hermes update                          the command that updates this installation`,
    )
    .action((options) => choose(async (world) => (await import('../upkeep/update.js')).update(world, options)))
  program
    .command('uninstall')
    .description('remove Hermes; shows what goes and asks first. Sessions, settings and keys stay')
    .option('--data', 'remove the home too: settings, keys, memories and sessions of all profiles')
    .option('--dry-run', 'only show what would go')
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      `
Examples:
  hermes uninstall --dry-run             what would go, what stays
  hermes uninstall                       the program; the home stays
  hermes uninstall --data                the home too`,
    )
    .action((options) => choose(async (world) => (await import('../upkeep/uninstall.js')).uninstall(world, options)))
}
