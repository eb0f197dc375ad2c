import { access, constants, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import type { HookDeclaration } from './declarations.js'
import { splitWords } from './split-words.js'

/** Where programs are looked for. */
interface ProgramPlaces {
  /** Absolute. */
  readonly userHome: string
  readonly folder: string
  /** The variable `PATH`. */
  readonly path: string
}

/** The program of a hook, where it cannot be started: not there, or not to be run; else `null`. What a shell knows by itself is not looked for. */
export async function missingProgram(
  { form, command, variables }: HookDeclaration,
  { userHome, folder, path }: ProgramPlaces,
): Promise<string | null> {
  const values: Readonly<Record<string, string>> = {
    ...(form === 'hermes' ? {} : { CLAUDE_PROJECT_DIR: folder, HERMES_PROJECT_DIR: folder, HOME: userHome }),
    ...variables,
  }
  const known = command.replaceAll(/\$\{?(\w+)\}?/g, (written, name: string) => values[name] ?? written)
  const program = splitWords(known)[0]?.replace(/^~(?=\/|$)/, () => userHome) ?? ''
  if (program.includes('/')) {
    const isUnknown = program.includes('$') || /[;|&()<>]/.test(program)
    return isUnknown || (await canRun(isAbsolute(program) ? program : join(folder, program))) ? null : program
  }
  if (form !== 'hermes') return null
  for (const place of path.split(delimiter)) if (place !== '' && (await canRun(join(place, program)))) return null
  return program
}

async function canRun(file: string): Promise<boolean> {
  const info = await stat(file).catch(() => null)
  if (!info?.isFile()) return false
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}
