import { Command, CommanderError, Option } from 'commander'
import { describeFailure, EXIT } from './errors.js'
import type { Io } from './io.js'

declare const __HERMES_VERSION__: string

/** What a finished command reports. */
type Action = (io: Io) => Promise<number>

/** Another front door: it takes the rest of the line and says itself what it takes. */
interface Door {
  readonly description: string
  readonly load: () => Promise<{ main(argv: readonly string[], io: Io): Promise<number> }>
}

const DOORS: Readonly<Record<string, Door>> = {
  gateway: { description: 'serve the agent as an OpenAI-compatible API', load: () => import('@hermes/gateway') },
  acp: { description: 'serve an editor over the Agent Client Protocol', load: () => import('@hermes/acp') },
}

/** Runs one command line and resolves with its exit code; never rejects. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  let action: Action = async () => EXIT.ok
  const program = buildProgram((chosen) => {
    action = chosen
  }, io)
  try {
    const door = DOORS[argv[0] ?? '']
    if (door) return await (await door.load()).main(argv.slice(1), io)
    await program.parseAsync([...argv], { from: 'user' })
    return await action(io)
  } catch (error) {
    if (error instanceof CommanderError) return commanderExit(error, program, argv, io)
    const { exitCode, line } = describeFailure(error)
    io.stderr.write(`hermes: ${line}\n`)
    return exitCode
  }
}

function commanderExit(error: CommanderError, program: Command, argv: readonly string[], io: Io): number {
  if (error.exitCode === 0) return EXIT.ok
  const command = program.commands.find((candidate) => candidate.name() === argv[0]) ?? program.commands[0]!
  if (error.code === 'commander.help') {
    const parts = command.commands.map((candidate) => candidate.name()).join(', ')
    io.stderr.write(`hermes: ${command.name()} needs one of: ${parts}. See hermes ${command.name()} --help.\n`)
    return EXIT.usage
  }
  const line = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ')
  const flags = [...command.options, ...program.options].map((option) => option.long ?? option.short).join(', ')
  const names = program.commands.map((candidate) => candidate.name()).join(', ')
  const valid = {
    'commander.unknownOption': ` Valid flags of hermes ${command.name()}: ${flags}.`,
    'commander.unknownCommand': ` Valid commands: ${names}.`,
    'commander.excessArguments': ` Valid commands: ${names}. To ask something: hermes chat -q "…"`,
  }[error.code]
  io.stderr.write(`hermes: ${line}.${valid ?? ' See hermes --help.'}\n`)
  return EXIT.usage
}

function buildProgram(choose: (action: Action) => void, io: Io): Command {
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
  addSessions(program, choose)
  addConfig(program, choose)
  program
    .command('doctor')
    .description('check the setup')
    .action(() => choose(async (world) => (await import('./commands/doctor.js')).doctor(world)))
  program
    .command('demo')
    .description('watch the agent mend a small broken project; needs no key and no network')
    .addOption(new Option('--record <file>', 'record a live endpoint instead').hideHelp())
    .addOption(new Option('--base-url <url>', 'the endpoint to record').hideHelp())
    .action((options) => choose(async (world) => (await import('./commands/demo.js')).demo(world, options)))
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

function addSessions(program: Command, choose: (action: Action) => void): void {
  const sessions = program.command('sessions').description('list and show past sessions')
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
