// Starts that came to nothing: a file for each start, taken away once it went well. Three that are left over mean that something of the
// home ends the process, and the next start does without all that others brought.
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivate } from '@hermes/files'
import { isRunning } from './gateway-state.js'

const COUNTS_FOR_MS = 10 * 60_000
const TOO_MANY = 3

/** One start. */
interface Boot {
  /** So many before it came to nothing that this one is to leave out what others brought. */
  readonly isSafe: boolean
  /** It went well, or ended for a reason that was said. Never rejects. */
  passed(): Promise<void>
}

/** Notes a start. Those of more than ten minutes ago are forgotten, those of processes that still run are under way. */
export async function noteBoot(
  home: string,
  { pid, nowMs }: { readonly pid: number; readonly nowMs: number },
): Promise<Boot> {
  const folder = join(home, 'gateway', 'boots')
  let failed = 0
  for (const name of await readdir(folder).catch(() => [])) {
    const [, atMs, by] = /^(\d+)-(\d+)$/.exec(name) ?? []
    if (atMs === undefined || (Number(by) !== pid && isRunning(Number(by)))) continue
    if (nowMs - Number(atMs) <= COUNTS_FOR_MS) failed++
    else await rm(join(folder, name), { force: true })
  }
  const own = join(folder, `${nowMs}-${pid}`)
  await writePrivate(own, '')
  return {
    isSafe: failed >= TOO_MANY,
    passed: async () => {
      const names = await readdir(folder).catch(() => [])
      // What failed before is over too, once one went well.
      for (const name of names)
        if (join(folder, name) === own || !isRunning(Number(name.split('-')[1])))
          await rm(join(folder, name), { force: true }).catch(() => undefined)
    },
  }
}
