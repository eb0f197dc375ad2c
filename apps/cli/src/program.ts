import { Argument, Command, Option } from 'commander'
import type { Action } from './action.js'
import type { Io } from './io.js'
import { addAuth } from './program/auth.js'
import { addBackup } from './program/backup.js'
import { addCheckpoints } from './program/checkpoints.js'
import { addFallback } from './program/fallback.js'
import { addMemory } from './program/memory.js'
import { addModel } from './program/model.js'
import { addPolicy } from './program/policy.js'
import { addBranching } from './program/sessions-branching.js'
import { addMigrateSessions, addStoreCommands } from './program/sessions-store.js'
import { addUsage } from './program/usage.js'

declare const __HERMES_VERSION__: string

/** Another front door: it takes the rest of the line and says itself what it takes. */
interface Door {
  readonly description: string
  readonly load: () => Promise<{ main(argv: readonly string[], io: Io): Promise<number> }>
}

/** The other front doors, by the name of their command. */
export const DOORS: Readonly<Record<string, Door>> = {
  gateway: { description: 'serve the agent as an OpenAI-compatible API', load: () => import('@hermes/gateway') },
  acp: { description: 'serve an editor over the Agent Client Protocol', load: () => import('@hermes/acp') },
}

/** The table of commands. A command that was named on the line is handed to `choose`; nothing runs before. */
export function buildProgram(choose: (action: Action) => void, io: Io): Command {
  const program = new Command('hermes')
    .description('An AI agent in your terminal. Without a command it starts a conversation.')
    .version(__HERMES_VERSION__, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: () => undefined,
      outputError: () => undefined,
    })
    .showHelpAfterError(false)
  addChat(program, choose)
  addSetup(program, choose)
  addModel(program, choose)
  addAuth(program, choose)
  addFallback(program, choose)
  addUsage(program, choose)
  addSessions(program, choose)
  addMigrateSessions(program, choose)
  addCheckpoints(program, choose)
  addBackup(program, choose)
  addConfig(program, choose)
  addMemory(program, choose)
  addPolicy(program, choose)
  program
    .command('tools')
    .description('list tools and toolsets, and which of them work here')
    .option('--json', 'as JSON')
    .action((options) => choose(async (world) => (await import('./commands/tools.js')).tools(world, options)))
  program
    .command('doctor')
    .description('check the setup and say what to do')
    .option('--offline', 'do not ask the model server')
    .action((options) => choose(async (world) => (await import('./commands/doctor.js')).doctor(world, options)))
  program
    .command('demo')
    .description('watch the agent mend a small broken project; needs no key and no network')
    .addOption(new Option('--record <file>', 'record a live endpoint instead').hideHelp())
    .addOption(new Option('--base-url <url>', 'the endpoint to record').hideHelp())
    .action((options) => choose(async (world) => (await import('./commands/demo.js')).demo(world, options)))
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'which one').choices(['bash', 'zsh', 'fish']))
    .action((shell) =>
      choose(async (world) => (await import('./commands/completion.js')).completion(world, shell, program)),
    )
  for (const [name, { description }] of Object.entries(DOORS)) program.command(name).description(description)
  for (const command of program.commands) command.exitOverride().copyInheritedSettings(program)
  return program
}

function addChat(program: Command, choose: (action: Action) => void): void {
  program
    .command('chat', { isDefault: true })
    .description('talk to the agent (the default command)')
    .option('-q, --query <text>', 'ask once, print the answer on stdout and exit; piped input is added as context')
    .option('-r, --resume <session>', 'go on with a session: id, unique start of an id, or title')
    .option('-c, --continue', 'go on with the newest session')
    .option('-m, --model <id>', 'model to use')
    .option('--provider <name>', 'provider to use')
    .option('--base-url <url>', 'any OpenAI-compatible endpoint')
    .option('-t, --toolsets <names>', 'comma-separated toolsets the agent gets')
    .option('--max-turns <n>', 'model calls before it has to sum up', Number)
    .option('--yolo', 'do not ask before dangerous commands (a hard floor stays)')
    .option('--json', 'print every event as one JSON line on stdout')
    .option('--record <file>', 'write the model traffic to a file')
    .option('--replay <file>', 'answer from such a file instead of a model')
    .action((options) => choose(async (world) => (await import('./commands/chat.js')).chat(world, options)))
}

function addSetup(program: Command, choose: (action: Action) => void): void {
  program
    .command('setup')
    .description('choose a model: finds keys and local servers, asks for the rest, tests the choice')
    .option('--provider <name>', 'provider to use; asks nothing')
    .option('--model <id>', 'model to use')
    .option('--base-url <url>', 'any OpenAI-compatible endpoint')
    .option('--key-env <name>', 'the environment variable that holds the key')
    .action((options) => choose(async (world) => (await import('./commands/setup.js')).setup(world, options)))
}

function addSessions(program: Command, choose: (action: Action) => void): void {
  const sessions = program
    .command('sessions')
    .description('list, search, show, rename, fork, export, import, prune and delete past sessions')
  sessions
    .command('list', { isDefault: true })
    .description('the newest sessions')
    .option('-n, --limit <n>', 'how many', Number, 20)
    .option('--json', 'as JSON lines')
    .action((options) => choose(async (world) => (await import('./commands/sessions.js')).listSessions(world, options)))
  sessions
    .command('show <session>')
    .description('a whole session: id, unique start of an id, or title')
    .option('--json', 'log entries as JSON lines')
    .action((name, options) =>
      choose(async (world) => (await import('./commands/sessions.js')).showSession(world, name, options)),
    )
  sessions
    .command('rename <session> <title...>')
    .description('give a session a title')
    .action((name, title: readonly string[]) =>
      choose(async (world) =>
        (await import('./commands/sessions-edit.js')).renameSession(world, name, title.join(' ')),
      ),
    )
  addStoreCommands(sessions, choose)
  addBranching(sessions, choose)
  sessions
    .command('delete <session>')
    .description('delete a session for good; asks first')
    .option('-y, --yes', 'do not ask')
    .action((name, options) =>
      choose(async (world) => (await import('./commands/sessions-edit.js')).deleteSession(world, name, options)),
    )
}

function addConfig(program: Command, choose: (action: Action) => void): void {
  const config = program.command('config').description('read and change config.yaml')
  config
    .command('get [key]')
    .description('one value, for example model.default, or everything')
    .action((key) => choose(async (world) => (await import('./commands/config.js')).configGet(world, key)))
  config
    .command('set <key> <value>')
    .description('change one value; comments and order stay')
    .action((key, value) =>
      choose(async (world) => (await import('./commands/config.js')).configSet(world, key, value)),
    )
  config
    .command('path')
    .description('where config.yaml is')
    .action(() => choose(async (world) => (await import('./commands/config.js')).configPath(world)))
  config
    .command('check')
    .description('check config.yaml and say what is wrong, with line and column')
    .action(() => choose(async (world) => (await import('./commands/config.js')).configCheck(world)))
}
