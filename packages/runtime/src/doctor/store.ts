import { stat } from 'node:fs/promises'
import { homeLayout } from '@hermes/config'
import { errorLine } from '@hermes/contracts'
import type { Finding } from '@hermes/contracts/extension'
import { describeStoreUrl, findRescueFiles } from '@hermes/storage'
import type { Runtime } from '../runtime.js'
import type { DoctorHome } from './finding.js'
import { fail, isMissing, ok, warn } from './finding.js'

const WEEK_MS = 604_800_000

/** What was said while the store took no more, and was not brought back yet. */
export async function rescueFindings({ rescueDirs }: Pick<Runtime, 'rescueDirs'>): Promise<readonly Finding[]> {
  const { files } = await findRescueFiles(rescueDirs)
  if (files.length === 0) return []
  const ids = [...new Set(files.map(({ sessionId }) => sessionId))].join(', ')
  const paths = files.map(({ path }) => path).join(', ')
  return [warn(`Words of ${ids} were rescued to ${paths}. See them and bring them back: hermes sessions rescue`)]
}

/** Whether the session database is sound; reads all of it. */
export async function storeFinding({ home }: Pick<DoctorHome, 'home'>, runtime: Runtime): Promise<Finding> {
  const { url } = runtime.config.storage
  if (url !== undefined) return serverFinding(runtime, describeStoreUrl(url).shown)
  const file = homeLayout(home).stateDb
  if (await isMissing(file)) return ok('No sessions yet')
  try {
    const problems = await (await runtime.storage()).maintenance.check()
    if (problems.length === 0) return await backupFinding(runtime, file)
    return fail(
      `Sessions: ${problems[0]}. Copy ${file} away before you go on; a backup may be in ${homeLayout(home).backups}`,
    )
  } catch (error) {
    return fail(`Sessions: ${errorLine(error)}`)
  }
}

async function serverFinding(runtime: Runtime, shown: string): Promise<Finding> {
  try {
    const [problem] = await (await runtime.storage()).maintenance.check()
    if (problem === undefined)
      return ok(
        `Sessions in ${shown} are sound. There is no daily backup of them; make your own with pg_dump --format=custom`,
      )
    return fail(`Sessions in ${shown}: ${problem}`)
  } catch (error) {
    return fail(`Sessions: ${errorLine(error)}`)
  }
}

/** Backups make themselves once a day; that they have stopped is said after a week. */
async function backupFinding(runtime: Runtime, file: string): Promise<Finding> {
  const [newest] = await runtime.backups().list()
  const { birthtimeMs } = await stat(file)
  const sinceMs = Date.now() - (newest?.atMs ?? birthtimeMs)
  if (sinceMs < WEEK_MS) return ok('Session database is sound')
  const days = Math.floor((sinceMs / WEEK_MS) * 7)
  return warn(`Session database is sound, but was not backed up for ${days} days. Run: hermes backup create`)
}
