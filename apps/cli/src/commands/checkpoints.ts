import { type Checkpoint, printableName, reportLines } from '@hermes/checkpoints'
import type { Runtime } from '@hermes/runtime'
import { confirm } from '../confirm.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { openCli } from '../open-cli.js'
import { clip, createStyle, printable } from '../render/style.js'

const MB = 1e6

/** The checkpoints of the home, and those of one folder. */
type Opened = Awaited<ReturnType<Runtime['checkpoints']['open']>>

async function withCheckpoints<T>(io: Io, work: (opened: Opened, runtime: Runtime) => Promise<T>): Promise<T> {
  const runtime = await openCli(io, { platform: 'cli', yolo: false })
  try {
    return await work(await runtime.checkpoints.open(), runtime)
  } finally {
    await runtime.close()
  }
}

/** The workspace a folder is in. */
export function requireRoot(opened: Opened, folder: string): string {
  const root = opened.rootOf(folder)
  if (root !== null) return root
  throw new UsageError(`No checkpoints are kept of ${folder}: it is too much. Change into a project folder.`)
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

/** `hermes checkpoints list`: newest first. */
export async function checkpointsList(
  io: Io,
  { limit, json }: { readonly limit: number; readonly json?: boolean },
): Promise<number> {
  if (!Number.isInteger(limit) || limit < 1) throw new UsageError('--limit takes a whole number of at least 1.')
  return withCheckpoints(io, async (opened) => {
    const records = opened.checkpoints.list(requireRoot(opened, io.cwd))
    const newest = records.toReversed().slice(0, limit)
    for (const record of newest) {
      io.stdout.write(json ? `${JSON.stringify(record)}\n` : `${checkpointLine(record, io.stdout)}\n`)
    }
    if (newest.length === 0 && !json) io.stderr.write('There is no checkpoint of this folder yet.\n')
    return EXIT.ok
  })
}

/** One checkpoint on one line. */
export function checkpointLine(record: Checkpoint, output: Io['stdout']): string {
  const { number, label, atMs, reason, files } = record
  const style = createStyle(output)
  const when = new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')
  const head = `${String(number).padStart(4)}  ${when}  ${String(files).padStart(6)} files  `
  const what = clip(label === null ? reason : `${label} – ${reason}`, Math.max(output.columns() - head.length, 20))
  return `${style.bold(head.slice(0, 4))}${style.dim(head.slice(4))}${what}`
}

const MARKS = { added: '+', removed: '-', changed: '~' } as const

/** `hermes checkpoints diff N`: `+` came since, `-` is gone since, `~` is different. */
export async function checkpointsDiff(io: Io, wanted: string): Promise<number> {
  return withCheckpoints(io, async (opened) => {
    const changes = await opened.checkpoints.changes(requireRoot(opened, io.cwd), wanted)
    for (const { path, change } of changes) io.stdout.write(`${MARKS[change]} ${printableName(path)}\n`)
    if (changes.length === 0) io.stderr.write('Nothing is different.\n')
    return EXIT.ok
  })
}

/** `hermes checkpoints restore N [PATH…]`. Exit code 1 when something was left as it is. */
export async function checkpointsRestore(
  io: Io,
  wanted: string,
  paths: readonly string[],
  { all = false }: { readonly all?: boolean },
): Promise<number> {
  return withCheckpoints(io, async (opened, runtime) => {
    const root = requireRoot(opened, io.cwd)
    const absolute = paths.map((path) => (path.startsWith('/') ? path : `${io.cwd}/${path}`))
    const report = await restoreFiles(runtime, root, { wanted, paths: absolute, force: all })
    io.stdout.write(`${reportLines(report, 'To replace those too: --all').join('\n')}\n`)
    return report.conflicts.length > 0 ? EXIT.failed : EXIT.ok
  })
}

/** A restore that the person asked for; the policy is asked all the same. */
export async function restoreFiles(
  runtime: Runtime,
  root: string,
  request: Parameters<Opened['checkpoints']['restore']>[2],
): Promise<Awaited<ReturnType<Opened['checkpoints']['restore']>>> {
  const { checkpoints } = await runtime.checkpoints.open()
  const subject = {
    platform: 'cli',
    sessionId: 'checkpoints',
    agentPath: ['root'],
    origin: 'operator',
    tainted: false,
  } as const
  const action = { type: 'write', path: root, operation: 'write', backend: 'local' } as const
  const decision = await runtime.policy.decide(action, subject)
  if (decision.type === 'allow') return checkpoints.restore(decision.permit, root, request)
  const why = decision.type === 'deny' ? decision.reason : decision.question.summary
  throw new UsageError(`Nothing was restored: ${why}`)
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
