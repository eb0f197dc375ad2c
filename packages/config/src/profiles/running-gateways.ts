import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HermesError, isJsonObject, systemClock } from '@hermes/contracts'

/** Each tells every half minute; one that was silent for so long has ended, and its number may be that of any other program. */
const TELLS_WITHIN_MS = 120_000

/**
 * Refuses to take a home away from under a gateway, which would write what it still has into a new one.
 * @throws HermesError `config.gateway_runs`
 */
export async function refuseRunningGateway(home: string, nowMs: number = systemClock.now()): Promise<void> {
  const folder = join(home, 'gateway')
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/^\d+\.json$/.test(name)) continue
    const state = await readFile(join(folder, name), 'utf8').then(parsed, () => null)
    if (!isJsonObject(state)) continue
    const { pid, updatedAtMs } = state
    if (typeof pid !== 'number' || typeof updatedAtMs !== 'number') continue
    if (nowMs - updatedAtMs > TELLS_WITHIN_MS || !isRunning(pid)) continue
    throw new HermesError(`A gateway works in ${home} (process ${pid}). Stop it first: hermes gateway stop`, {
      code: 'config.gateway_runs',
      details: { pid },
    })
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
