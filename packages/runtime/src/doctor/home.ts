import { access, constants, readdir, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type ConfigProblem, checkConfig, homeLayout, loadPermissions, loadSecrets } from '@hermes/config'
import { errorLine } from '@hermes/contracts'
import type { Finding } from '@hermes/contracts/extension'
import { parseRules } from '@hermes/safety'
import { takenKeys } from '../chats/home-platforms.js'
import type { Runtime } from '../runtime.js'
import type { DoctorHome } from './finding.js'
import { fail, isMissing, ok, warn } from './finding.js'

const LITTLE_BYTES = 500_000_000
const GB = 1e9

/** The home folder, its files and the disk they are on. Keys of config.yaml that a part takes have a meaning. */
export async function homeFindings(
  { home, env }: DoctorHome,
  { extensions }: Pick<Runtime, 'extensions'>,
): Promise<readonly Finding[]> {
  const taken = takenKeys(extensions)
  const folder = await homeFolder(home)
  const disk = await diskSpace(home)
  return [folder, ...(await configuration(home, env, taken)), ...(await unusedLogins(home)), ...disk, await log(home)]
}

async function homeFolder(home: string): Promise<Finding> {
  const found = await stat(home).catch((error: NodeJS.ErrnoException) => error.code ?? 'unknown')
  if (found === 'ENOENT') return fail(`Home ${home} leads to no folder. Make the folder, or set HERMES_HOME.`)
  if (typeof found === 'string') return fail(`Home ${home} cannot be looked at (${found}). Check its permissions.`)
  if (!found.isDirectory()) return fail(`Home ${home} is not a folder. Move it away, or set HERMES_HOME.`)
  const mayWrite = await access(home, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!mayWrite) return fail(`Home ${home} cannot be written to: sessions are lost. Run: chmod u+rwx ${home}`)
  if ((found.mode & 0o022) !== 0) return warn(`Others can write to ${home}. Run: chmod 700 ${home}`)
  return ok(`Home ${home}`)
}

/** A process that nobody watched may have set the file aside. */
async function unusedLogins(home: string): Promise<readonly Finding[]> {
  const { auth } = homeLayout(home)
  const names = await readdir(dirname(auth)).catch(() => [])
  const kept = names.filter((name) => name.startsWith(`${basename(auth)}.broken-`)).sort()
  return kept.map((name) =>
    warn(
      `${join(dirname(auth), name)} could not be used: add the keys and logins in it with hermes auth add, then delete it.`,
    ),
  )
}

async function configuration(
  home: string,
  env: DoctorHome['env'],
  taken: ReadonlySet<string>,
): Promise<readonly Finding[]> {
  const layout = homeLayout(home)
  const [config, secrets, permissions] = await Promise.all([
    checkConfig({ home, env }),
    loadSecrets({ home, env }),
    loadPermissions({ home }),
  ])
  const ruled = parseRules(permissions.rules, permissions).problems
  const sound = async (file: string, problems: readonly ConfigProblem[], level: typeof fail) => {
    if (problems.length > 0) return problems.map(({ message, isHarmless }) => (isHarmless ? warn : level)(message))
    return (await isMissing(file)) ? [] : [ok(file)]
  }
  return [
    ...(await sound(
      layout.config,
      config.filter(({ unknownKey }) => unknownKey === undefined || !taken.has(unknownKey)),
      fail,
    )),
    ...((await isMissing(layout.config))
      ? [ok('No config.yaml: defaults are used. To choose a model: hermes setup')]
      : []),
    ...(await sound(layout.env, secrets.problems, warn)),
    ...(ruled.length > 0
      ? permissions.problems.map(({ message }) => fail(message))
      : await sound(layout.permissions, permissions.problems, fail)),
    ...ruled.map(warn),
  ]
}

async function diskSpace(home: string): Promise<readonly Finding[]> {
  for (let folder = home; ; folder = dirname(folder)) {
    try {
      const { bavail, bsize } = await statfs(folder)
      const free = bavail * bsize
      const text = `${(free / GB).toFixed(1)} GB free on the disk of ${home}`
      return [
        free < LITTLE_BYTES ? warn(`Only ${text}. Make room: sessions cannot be stored on a full disk.`) : ok(text),
      ]
    } catch (error) {
      if (folder === dirname(folder)) return [warn(`Free disk space is unknown: ${errorLine(error)}`)]
    }
  }
}

async function log(home: string): Promise<Finding> {
  const file = join(homeLayout(home).logs, 'agent.log')
  if (await isMissing(file)) return ok(`Log ${file} (made when there is something to say)`)
  const writable = await access(file, constants.W_OK).then(
    () => true,
    () => false,
  )
  return writable ? ok(`Log ${file}`) : warn(`Log ${file} cannot be written to. Run: chmod u+w ${file}`)
}
