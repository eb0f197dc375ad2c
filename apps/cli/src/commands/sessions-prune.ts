import { confirm } from '../confirm.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { withStorage } from '../open-cli.js'

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Flags of `hermes sessions prune`. */
interface PruneFlags {
  readonly olderThan: string
  readonly source?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/** `hermes sessions prune`: sessions whose last activity is that long ago, with all that descend from them. */
export async function pruneSessions(io: Io, { olderThan, source, dryRun, yes }: PruneFlags): Promise<number> {
  const filter = { olderThanMs: toMs(olderThan), ...(source === undefined ? {} : { source }) }
  return withStorage(io, async (storage) => {
    const due = await storage.maintenance.prune({ ...filter, dryRun: true })
    if (dryRun || due === 0) {
      io.stdout.write(`${due} sessions were last used more than ${olderThan} ago\n`)
      return EXIT.ok
    }
    if (
      !yes &&
      !(await confirm(io, `Delete ${due} sessions that were last used more than ${olderThan} ago?`, 'yes, delete them'))
    ) {
      io.stderr.write('Nothing was deleted.\n')
      return EXIT.failed
    }
    io.stdout.write(`Deleted ${await storage.maintenance.prune(filter)} sessions\n`)
    return EXIT.ok
  })
}

function toMs(time: string): number {
  const [, count, unit = 'd'] = /^(\d{1,5})([hdw])?$/.exec(time.trim()) ?? []
  if (count === undefined) throw new UsageError('--older-than takes a time such as 12h, 90d or 2w.')
  return Number(count) * UNIT_MS[unit]!
}

/** `hermes sessions stats`. */
export async function sessionStats(io: Io, { json }: { readonly json?: boolean }): Promise<number> {
  return withStorage(io, async (storage) => {
    const stats = await storage.maintenance.stats()
    if (json) {
      io.stdout.write(`${JSON.stringify(stats)}\n`)
      return EXIT.ok
    }
    const { sessions, messages, bytes, freeBytes, oldestMs, newestMs, bySource, byModel } = stats
    const lines = [
      `${sessions} sessions, ${messages} messages, ${megabytes(bytes)} (${megabytes(freeBytes)} free)`,
      ...(oldestMs === null || newestMs === null ? [] : [`From ${day(oldestMs)} to ${day(newestMs)}`]),
      ...bySource.map((one) => `  ${one.source}: ${one.sessions} sessions, ${one.messages} messages`),
      ...byModel.map(
        (one) => `  ${one.model}: ${one.sessions} sessions, ${one.inputTokens} tokens in, ${one.outputTokens} out`,
      ),
    ]
    io.stdout.write(`${lines.join('\n')}\n`)
    return EXIT.ok
  })
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
