import type { Runtime } from '@hermes/runtime'
import { confirm } from '../confirm.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { openCli } from '../open-cli.js'
import { printable } from '../render/style.js'

const MB = 1e6

/** The checkpoints of the home, and those of one folder. */
type Opened = Awaited<ReturnType<Runtime['checkpoints']['open']>>

async function withCheckpoints<T>(io: Io, work: (opened: Opened, runtime: Runtime) => Promise<T>): Promise<T> {
  const runtime = await openCli(io, { yolo: false })
  try {
    return await work(await runtime.checkpoints.open(), runtime)
  } finally {
    await runtime.close()
  }
}

/** `hermes checkpoints`: each folder with its number of checkpoints and their size. */
export async function checkpointsStatus(io: Io, { json }: { readonly json?: boolean }): Promise<number> {
  return withCheckpoints(io, async ({ checkpoints }) => {
    const workspaces = checkpoints.workspaces()
    for (const { root, checkpoints: all, sizeBytes } of workspaces) {
      if (json) io.stdout.write(`${JSON.stringify({ root, checkpoints: all.length, sizeBytes })}\n`)
      else {
        const size = `${(sizeBytes / MB).toFixed(1)} MB`
        io.stdout.write(`${String(all.length).padStart(4)}  ${size.padStart(9)}  ${printable(root ?? 'unknown')}\n`)
      }
    }
    if (workspaces.length === 0 && !json)
      io.stderr.write('No checkpoints yet. They are taken before files are changed.\n')
    return EXIT.ok
  })
}

/** `hermes checkpoints prune`. */
export async function checkpointsPrune(
  io: Io,
  options: { readonly retentionDays?: number; readonly maxSizeMb?: number; readonly keepOrphans?: boolean },
): Promise<number> {
  for (const value of [options.retentionDays, options.maxSizeMb])
    if (value !== undefined && !(value >= 0)) throw new UsageError('Days and megabytes are numbers of at least 0.')
  return withCheckpoints(io, async ({ checkpoints }, runtime) => {
    const { retention_days: days, max_total_size_mb: megabytes } = runtime.config.checkpoints
    const pruned = await checkpoints.prune({
      retentionDays: options.retentionDays ?? days,
      maxTotalBytes: (options.maxSizeMb ?? megabytes) * 2 ** 20,
      orphans: !options.keepOrphans,
    })
    io.stdout.write(`${describe(pruned)}\n`)
    return EXIT.ok
  })
}

/** `hermes checkpoints clear`: asks, unless told not to. */
export async function checkpointsClear(
  io: Io,
  { force, yes }: { readonly force?: boolean; readonly yes?: boolean },
): Promise<number> {
  return withCheckpoints(io, async ({ checkpoints }) => {
    const question = 'Remove all checkpoints of all folders? They cannot be brought back.'
    if (!force && !yes && !(await confirm(io, question, 'yes, remove them'))) {
      io.stderr.write('Nothing was removed.\n')
      return EXIT.failed
    }
    io.stdout.write(`${describe(await checkpoints.clear())}\n`)
    return EXIT.ok
  })
}

function describe({ removed, freedBytes }: { readonly removed: number; readonly freedBytes: number }): string {
  return `Removed ${removed} checkpoint${removed === 1 ? '' : 's'}, ${(freedBytes / MB).toFixed(1)} MB.`
}
