import { HermesError } from '@hermes/contracts'

/** The system takes 128 KiB in one argument; some of it is ours. */
const MAX_COMMAND_BYTES = 120_000

/** @throws HermesError `environment.invalid_command`, `environment.command_too_long` for a command that no shell can be started with. */
export function checkCommand(command: string): void {
  if (command.includes('\0'))
    throw new HermesError('The command holds a null character, which no shell can run.', {
      code: 'environment.invalid_command',
    })
  if (Buffer.byteLength(command) > MAX_COMMAND_BYTES) throw commandTooLong()
}

export function commandTooLong(cause?: unknown): HermesError {
  return new HermesError('The command is too long for the system; write it to a file first and run that.', {
    code: 'environment.command_too_long',
    details: { limitBytes: MAX_COMMAND_BYTES },
    cause,
  })
}

/** `text` as one word of a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
