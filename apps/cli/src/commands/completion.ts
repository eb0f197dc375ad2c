import type { Command } from 'commander'
import { commandSpecs } from '../completion/command-spec.js'
import { SCRIPTS, type Shell } from '../completion/scripts.js'
import { EXIT } from '../errors.js'
import type { Io } from '../io.js'

/** `hermes completion SHELL`: prints a script made from the table of commands. */
export async function completion(io: Io, shell: Shell, program: Command): Promise<number> {
  io.stdout.write(SCRIPTS[shell](commandSpecs(program)))
  return EXIT.ok
}
