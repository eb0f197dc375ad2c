import { callCommand, findCommand } from '@hermes/commands'
import type { JsonObject } from '@hermes/contracts'
import type { CommandContext, CommandOutput } from '@hermes/contracts/extension'
import { EXIT, UsageError } from './errors.js'
import { canAsk, type Io } from './io.js'
import { withRuntime } from './open-cli.js'
import { renderFindings, renderTable } from './render/command-table.js'
import { printable } from './render/style.js'

/**
 * A command that needs no session, as a subcommand of `hermes`: it is the same that sessions have. `--json` prints rows as JSON lines.
 * Exit code 1 when something was left undone.
 */
export function homeCommand(
  io: Io,
  name: string,
  args: JsonObject,
  { json = false }: { readonly json?: boolean } = {},
): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const commands = runtime.extensions.list('command').map(({ item }) => item)
    const command = findCommand(commands, name)
    if (!command) throw new UsageError(`There is no command ${name} here: the part it belongs to is switched off.`)
    const caller = { platform: 'cli', user: io.user, isOwner: true, changes: ['shortened'] } as const
    const controller = new AbortController()
    const notice = (text: string) => void io.stderr.write(`${text}\n`)
    const asking = canAsk(io) ? { ask: askerOf(io) } : {}
    const context = { caller, session: null, cwd: io.cwd, commands, notice, ...asking, signal: controller.signal }
    const outputs = await callCommand(command, args, context)
    for (const output of outputs) showOutput(io, output, json)
    return exitCodeOf(outputs)
  })
}

/** Lines that a command asks the person at the terminal for. */
export function askerOf(io: Io): NonNullable<CommandContext['ask']> {
  return async (question, signal) => {
    const { createAsker } = await import('./interactive/person.js')
    const { askLine } = await import('./interactive/questions.js')
    return askLine(createAsker(io), question, signal)
  }
}

/** 1 when something was left undone. */
export const exitCodeOf = (outputs: readonly CommandOutput[]): number =>
  outputs.some(isProblem) ? EXIT.failed : EXIT.ok

function isProblem(output: CommandOutput): boolean {
  if (output.type === 'findings') return output.findings.some(({ level }) => level === 'fail')
  return output.type === 'text' && output.isProblem === true
}

/** Prints one thing that a command gave back; with `json` rows alone, as JSON lines. */
export function showOutput(io: Io, output: CommandOutput, json: boolean): void {
  switch (output.type) {
    case 'text':
      if (!json) io.stdout.write(`${printable(output.text)}\n`)
      break
    case 'table':
      if (json) for (const { cells, data } of output.rows) io.stdout.write(`${JSON.stringify(data ?? cells)}\n`)
      else if (output.rows.length === 0) io.stderr.write(`${output.empty}\n`)
      else io.stdout.write(renderTable(output, io.stdout))
      break
    case 'findings':
      io.stdout.write(renderFindings(output.findings, io.stdout))
      break
    case 'choice':
    case 'form':
    case 'change':
      break
    default:
      output satisfies never
  }
}
