import { HermesError, type JsonObject } from '@hermes/contracts'
import type { Command, CommandContext, CommandOutput } from '@hermes/contracts/extension'
import { checkArguments, readArguments } from './arguments.js'
import { whyNotOffered } from './typed-line.js'

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
  mustBeOffered(command, context)
  const read = await readArguments(command, args)
  return read.type === 'missing' ? [read.form] : outputsOf(command, read.args, context)
}

/**
 * Carries out a command with arguments that a program has read, a subcommand for example.
 * @throws as {@link runCommand}.
 */
export async function callCommand(
  command: Command,
  args: JsonObject,
  context: CommandContext,
): Promise<readonly CommandOutput[]> {
  mustBeOffered(command, context)
  return outputsOf(command, await checkArguments(command, args), context)
}

function mustBeOffered(command: Command, { caller, session }: CommandContext): void {
  const reason = whyNotOffered(command, caller, session)
  if (reason !== null) throw new HermesError(`/${command.name} ${reason}`, { code: 'command.not_offered' })
}

async function outputsOf(
  command: Command,
  args: JsonObject,
  context: CommandContext,
): Promise<readonly CommandOutput[]> {
  const result = await command.run(args, context)
  return Array.isArray(result) ? (result as readonly CommandOutput[]) : [result as CommandOutput]
}
