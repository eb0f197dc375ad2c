import { HermesError } from '@hermes/contracts'
import type { Command, CommandContext, CommandOutput } from '@hermes/contracts/extension'
import { readArguments } from './arguments.js'
import { offeredTo } from './typed-line.js'

/**
 * Carries out a command with what was typed after its name. Without what it needs the result is a form that asks for it. Whether the caller
 * may call it is checked again, so that a command found in another list does no more.
 * @throws HermesError `command.not_offered`, `command.bad_arguments`, and what the command throws.
 */
export async function runCommand(
  command: Command,
  args: string,
  context: CommandContext,
): Promise<readonly CommandOutput[]> {
  const { caller, session } = context
  if (offeredTo(caller, session, [command]).length === 0)
    throw new HermesError(`/${command.name} cannot be called from here.`, { code: 'command.not_offered' })
  const read = await readArguments(command, args)
  if (read.type === 'missing') return [read.form]
  const result = await command.run(read.args, context)
  return Array.isArray(result) ? (result as readonly CommandOutput[]) : [result as CommandOutput]
}
