import { type Command, CommanderError } from 'commander'
import type { Action } from './action.js'
import { DOORS } from './doors.js'
import { describeFailure, EXIT } from './errors.js'
import type { Io } from './io.js'
import { addChat, createProgram } from './program/chat.js'

/** Runs one command line and resolves with its exit code; never rejects. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  try {
    const door = DOORS[argv[0] ?? '']
    if (door) return await (await door.load()).main(argv.slice(1), io)
    let action: Action = async () => EXIT.ok
    const program = await programFor(argv, io, (chosen) => {
      action = chosen
    })
    await program.parseAsync([...argv], { from: 'user' })
    return await action(io)
  } catch (error) {
    if (error instanceof CommanderError) return commanderExit(error, await fullProgram(io), argv, io)
    const { exitCode, line, isOurs } = describeFailure(error)
    const { printable } = await import('./render/style.js')
    io.stderr.write(`hermes: ${printable(line)}\n`)
    if (!isOurs) await logUnexpected(io, error)
    return exitCode
  }
}

const TABLE_WORDS: ReadonlySet<string> = new Set(['-h', '--help', '-V', '--version'])

/** A conversation starts without the table of all commands, which would take longer than reading the line. */
async function programFor(argv: readonly string[], io: Io, choose: (action: Action) => void): Promise<Command> {
  const [first] = argv
  const isChat = first === undefined || first === 'chat' || first.startsWith('-')
  if (!isChat || argv.some((word) => TABLE_WORDS.has(word))) return fullProgram(io, choose)
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

function commanderExit(error: CommanderError, program: Command, argv: readonly string[], io: Io): number {
  if (error.exitCode === 0) return EXIT.ok
  const command = program.commands.find((candidate) => candidate.name() === argv[0]) ?? program.commands[0]!
  if (error.code === 'commander.help') {
    const parts = command.commands.map((candidate) => candidate.name()).join(', ')
    io.stderr.write(`hermes: ${command.name()} needs one of: ${parts}. See hermes ${command.name()} --help.\n`)
    return EXIT.usage
  }
  if (error.code === 'commander.excessArguments' || error.code === 'commander.unknownCommand') {
    const isGroup = command.commands.length > 0
    const unknown = isGroup
      ? `${command.name()} ${argv[1]}`
      : argv.find((word) => !word.startsWith('-') && word !== command.name())
    const valid = (isGroup ? command : program).commands.map((candidate) => candidate.name()).join(', ')
    const hint = isGroup ? '' : ' To ask something: hermes chat -q "…"'
    io.stderr.write(`hermes: Unknown command "${unknown}". Valid commands: ${valid}.${hint}\n`)
    return EXIT.usage
  }
  const line = error.message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '')
  const flags = [...command.options, ...program.options].map((option) => option.long ?? option.short).join(', ')
  const valid = error.code === 'commander.unknownOption' ? ` Valid flags of hermes ${command.name()}: ${flags}.` : ''
  io.stderr.write(`hermes: ${line}.${valid || ` See hermes ${command.name()} --help.`}\n`)
  return EXIT.usage
}
