import { execFile } from 'node:child_process'
import { rm, stat } from 'node:fs/promises'
import { relative } from 'node:path'
import { promisify } from 'node:util'
import { rootOfHome } from '@hermes/config'
import { listProfiles, refuseRunningGateway } from '@hermes/config/profiles'
import { errorLine, HermesError } from '@hermes/contracts'
import { confirm } from '../confirm.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf } from '../open-cli.js'
import { findInstallation, PACKAGE } from './installation.js'

/** Flags of `hermes uninstall`. */
interface UninstallFlags {
  readonly data?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/** `hermes uninstall`: the home stays unless `--data`. A program that no package manager installed is left, with a line how it goes. */
export async function uninstall(io: Io, { data = false, dryRun, yes }: UninstallFlags): Promise<number> {
  const { folder, by } = findInstallation()
  const home = rootOfHome(homeOf(io))
  const hasHome = await stat(home).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (data && !relative(home, io.userHome).startsWith('..'))
    throw new UsageError(
      `The home is ${home}, which holds your own home folder too. Remove what is Hermes' in it yourself.`,
    )
  const found = hasHome ? await listProfiles(home) : []
  if (data) for (const profile of found) await refuseRunningGateway(profile.home)
  const profiles = found.map(({ name }) => name)
  const program = by === 'npm' || by === 'pnpm' ? by : null
  const line = (what: string, text: string) => io.stdout.write(`${what.padEnd(7)}${text}\n`)
  line(
    program ? 'goes' : 'stays',
    `the program in ${folder}${program ? '' : ', which no package manager installed: remove the folder'}`,
  )
  if (hasHome)
    line(data ? 'goes' : 'stays', `the home ${home}: settings, keys, memories and sessions of ${profiles.join(', ')}`)
  if (!program && !(data && hasHome)) {
    io.stderr.write(`Nothing is left for this command to remove${hasHome ? '; the home goes with --data' : ''}.\n`)
    return EXIT.ok
  }
  if (dryRun) return EXIT.ok
  if (!yes && !(await confirm(io, data ? 'Remove all of that, for good?' : 'Remove the program?', 'yes, remove it'))) {
    io.stderr.write('Nothing was removed.\n')
    return EXIT.failed
  }
  if (data && hasHome) await rm(home, { recursive: true })
  if (program) await removeProgram(io, program)
  io.stdout.write(`Removed.${data || !hasHome ? '' : ` Your data is in ${home}.`}\n`)
  return EXIT.ok
}

async function removeProgram(io: Io, by: 'npm' | 'pnpm'): Promise<void> {
  const args = by === 'npm' ? ['uninstall', '-g', PACKAGE] : ['remove', '-g', PACKAGE]
  try {
    await promisify(execFile)(by, args, { cwd: io.userHome, env: { ...io.env }, shell: process.platform === 'win32' })
  } catch (error) {
    const [why = ''] = errorLine(error).split('\n')
    throw new HermesError(`The program could not be removed: ${why}. Run it yourself: ${by} ${args.join(' ')}`, {
      code: 'cli.uninstall',
    })
  }
}
