import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { accessSync, constants, rmSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import type { SudoAccess } from '@hermes/contracts/environment'
import { fileError } from '../file-error.js'
import { quote } from './command-text.js'

const PROBE_LIMIT_MS = 5_000

/** What tells `sudo` the password of one command. */
export interface Askpass {
  readonly env: Readonly<Record<string, string>>
  /** `command`, with `sudo` in it asking here. */
  commandLine(command: string): string
  remove(): void
}

/** The program that prints `password`. */
export const askpassScript = (password: string): string => `#!/bin/sh\nprintf '%s\\n' ${quote(password)}\n`

/**
 * A helper in `folder`, which only this user may look into, that gives the password to the `sudo` of `path`, a list of folders; `null` when
 * there is none. Call `remove` once the command has ended.
 * @throws HermesError `environment.*` when it cannot be written.
 */
export function createAskpass(folder: string, password: string, path: string): Askpass | null {
  const sudo = findSudo(path)
  if (sudo === null) return null
  const helper = join(folder, `askpass-${randomBytes(4).toString('hex')}`)
  try {
    writeFileSync(helper, askpassScript(password), { mode: 0o700, flag: 'wx' })
  } catch (error) {
    throw fileError(error, 'write', helper)
  }
  return {
    env: { SUDO_ASKPASS: helper },
    commandLine: (command) => askingByHelper(sudo, command),
    remove: () => rmSync(helper, { force: true }),
  }
}

/**
 * `command`, whose `sudo` is the program given and asks a helper. `sudo -S` would leave the password to the program whenever sudo does not
 * want it; a helper is asked only when it does. A call that says itself how the password comes is left alone.
 */
export function askingByHelper(sudo: string, command: string): string {
  const program = quote(sudo)
  // On one line with the command, so that the shell counts its lines from 1.
  return `sudo() { case "$1" in -*[SA]*) ${program} "$@";; *) ${program} -A "$@";; esac; }; ${command}`
}

/** The `sudo` that is found in `path`, a list of folders. */
export function sudoAccess(path: string): SudoAccess {
  return {
    needsPassword: async () => {
      const sudo = findSudo(path)
      if (sudo === null) return false
      const requested = promisify(execFile)(sudo, ['-n', 'true'], { env: { PATH: path }, timeout: PROBE_LIMIT_MS })
      return requested.then(
        () => false,
        () => true,
      )
    },
  }
}

function findSudo(path: string): string | null {
  const places = path.split(':').filter(isAbsolute)
  return places.map((folder) => join(folder, 'sudo')).find(isProgram) ?? null
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
