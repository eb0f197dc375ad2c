import { stat } from 'node:fs/promises'
import { homeLayout } from '@hermes/config'
import { errorLine } from '@hermes/contracts'
import type { Runtime } from '@hermes/runtime'
import type { Io } from '../io.js'
import { homeOf } from '../open-cli.js'
import { type Finding, fail, ok } from './finding.js'

/** Whether the session database is sound; reads all of it. */
export async function storeFinding(io: Io, runtime: Runtime): Promise<Finding> {
  const file = homeLayout(homeOf(io)).stateDb
  if ((await stat(file).catch(() => null)) === null) return ok('No sessions yet')
  try {
    const problems = await (await runtime.storage()).integrityCheck()
    if (problems.length === 0) return ok('Session database is sound')
    return fail(
      `Sessions: ${problems[0]}. Copy ${file} away before you go on; a backup may be in ${homeLayout(homeOf(io)).backups}`,
    )
  } catch (error) {
    return fail(`Sessions: ${errorLine(error)}`)
  }
}
