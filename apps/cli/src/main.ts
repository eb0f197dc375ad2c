import { nearestName } from '@hermes/contracts'
import { type Command, CommanderError } from 'commander'
import { ENTRY_POINTS } from './entry-points.js'
import { describeFailure, EXIT, UsageError } from './errors.js'
import type { Action, Io } from './io.js'
import { addChat, createProgram } from './program/chat.js'

/** Runs one command line and resolves with its exit code; never rejects. */
export async function main(input: readonly string[], io: Io): Promise<number> {
  let argv = input
  try {
    argv = await arranged(input, io)
    // Its log is one of those that are all read by the same command.
    if (argv[0] === 'gateway' && argv[1] === 'logs') argv = ['logs', 'gateway', ...argv.slice(2)]
    const entryPoint = ENTRY_POINTS[argv[0] ?? '']
    if (entryPoint) return await (await entryPoint.load()).main(argv.slice(1), io)
    let action: Action = async () => EXIT.ok
    const program = await programFor(argv, io, (chosen) => {
      action = chosen
    })
    await program.parseAsync([...argv], { from: 'user' })
    return await action(io)
  } catch (error) {
    if (error instanceof CommanderError) return await commanderExit(error, await fullProgram(io), argv, io)
    const { exitCode, line, isOurs } = describeFailure(error)
    const { printable } = await import('./render/style.js')
    io.stderr.write(`hermes: ${printable(line)}\n`)
    if (!isOurs) await logUnexpected(io, error)
    return exitCode
  }
}

/** A line that begins with a command is taken as it is. */
async function arranged(argv: readonly string[], io: Io): Promise<readonly string[]> {
  const [first] = argv
  if (first === undefined || isWord(first)) return argv
  const { commandFirst } = await import('./command-line.js')
  return commandFirst(argv, { chat: chatProgram(io), table: () => fullProgram(io) })
}

function isWord(text: string): boolean {
  return !text.startsWith('-') && !/\s/.test(text)
}

const TABLE_WORDS: ReadonlySet<string> = new Set(['-h', '--help', '-V', '--version'])

/** A conversation starts without the table of all commands, which would take longer than reading the line. */
async function programFor(argv: readonly string[], io: Io, choose: (action: Action) => void): Promise<Command> {
  const [first] = argv
  const isChat = first === undefined || first === 'chat' || first.startsWith('-')
  if (isChat && !argv.some((word) => TABLE_WORDS.has(word))) return chatProgram(io, choose)
  const program = await fullProgram(io, choose)
  const names = () => [...program.commands.map((command) => command.name()), 'help']
  const isListed = first === 'help' || TABLE_WORDS.has(first ?? '')
  if (!isListed && (first === undefined || !isWord(first) || names().includes(first))) return program
  const { addExtensionCommands } = await import('./program/extensions.js')
  await addExtensionCommands(program, choose, io).catch((error: unknown) => {
    // What Hermes itself can do is listed all the same.
    if (!isListed) throw error
    io.stderr.write(`hermes: commands of extensions are not listed: ${describeFailure(error).line}\n`)
  })
  if (isListed || names().includes(first!)) return program
  const { unknownCommand } = await import('./command-line.js')
  throw new UsageError(unknownCommand(first!, names()))
}

function chatProgram(io: Io, choose: (action: Action) => void = () => undefined): Command {
  const program = createProgram(io)
  addChat(program, choose)
  for (const command of program.commands) command.exitOverride().copyInheritedSettings(program)
  return program
}

async function fullProgram(io: Io, choose: (action: Action) => void = () => undefined): Promise<Command> {
  const { buildProgram } = await import('./program.js')
  return buildProgram(choose, io)
}

async function logUnexpected(io: Io, error: unknown): Promise<void> {
  const { homeOf, loggerOf } = await import('./open-cli.js')
  const logger = loggerOf(homeOf(io))
  logger.error('A command failed unexpectedly.', {
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  await logger.flush?.()
}

async function commanderExit(
  error: CommanderError,
  program: Command,
  argv: readonly string[],
  io: Io,
): Promise<number> {
  if (error.exitCode === 0) return EXIT.ok
  io.stderr.write(`hermes: ${await mistakeLine(error, program, argv)}\n`)
  return EXIT.usage
}

/** Options that change what may happen are never the guess at a typing error. */
const NEVER_MEANT: readonly string[] = ['--yolo', '--yes']

async function mistakeLine(error: CommanderError, program: Command, argv: readonly string[]): Promise<string> {
  if (argv[0] === 'help') {
    const { unknownCommand } = await import('./command-line.js')
    return unknownCommand(
      argv[1] ?? 'help',
      program.commands.map((candidate) => candidate.name()),
    )
  }
  const command = program.commands.find((candidate) => candidate.name() === argv[0]) ?? program.commands[0]!
  const parts = command.commands.map((candidate) => candidate.name()).join(', ')
  const help = `See hermes ${command.name()} --help.`
  if (error.code === 'commander.help') return `${command.name()} needs one of: ${parts}. ${help}`
  if (error.code === 'commander.excessArguments' || error.code === 'commander.unknownCommand') {
    if (parts !== '') {
      const { unknownPart } = await import('./command-line.js')
      return unknownPart(command.name(), argv[1]!, parts)
    }
    const words = argv.slice(1).filter((word) => !word.startsWith('-'))
    return `${command.name()} does not take "${words.at(-1)}". ${help}`
  }
  const line = error.message
    .replace(/^error: /, '')
    .replace(/(?<!\s)\s*\n\s*/g, ' ')
    .replace(/\.$/, '')
  if (error.code !== 'commander.unknownOption') return `${line}. ${help}`
  const flags = [command, ...command.commands, program].flatMap(({ options }) => options.map(({ long }) => long ?? ''))
  const meant = nearestName(
    /'([^']*)'/.exec(line)?.[1] ?? '',
    flags.filter((flag) => flag !== '' && !NEVER_MEANT.includes(flag)),
  )
  return `${line}.${meant === null ? '' : ` Did you mean ${meant}?`} ${help}`
}
