import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { collectGarbage } from '../objects/collect-garbage.js'
import { createSlices } from '../objects/slices.js'
import type { CheckpointLimits } from '../scan/limits.js'
import { cachedRoot } from '../scan/stat-cache.js'
import { WorkspaceStore } from '../workspace-store.js'
import type { Checkpoint } from './record.js'
import { excessRecords } from './records.js'

/** A store in use is left alone. */
const WAIT_MS = 500
const DAY_MS = 86_400_000

/** What may go. */
export interface PruneOptions {
  /** Days a checkpoint is kept. Default: for ever. */
  readonly retentionDays?: number
  /** Bytes of all workspaces together. Default: that of the limits. */
  readonly maxTotalBytes?: number
  /** Also those of workspaces that are gone. Default `false`. */
  readonly orphans?: boolean
}

/** What went. */
export interface Pruned {
  readonly removed: number
  readonly freedBytes: number
}

/** The stores of all workspaces. */
export function allStores(directory: string): readonly WorkspaceStore[] {
  return namesIn(directory)
    .map((name) => new WorkspaceStore(`${directory}/${name}`))
    .filter((store) => store.exists())
}

/** Removes checkpoints: of workspaces that are gone, those that are too old, then the oldest until the rest fits. */
export async function pruneAll(
  directory: string,
  options: PruneOptions & { readonly nowMs: number; readonly limits: CheckpointLimits },
): Promise<Pruned> {
  const sizeBefore = totalBytes(directory)
  let removed = 0
  for (const store of allStores(directory)) {
    if (options.orphans && isGone(store)) {
      removed += store.records.list().length
      store.remove()
    } else removed += await pruneOne(store, options)
  }
  removed += await evict(directory, options.maxTotalBytes ?? options.limits.maxTotalBytes)
  return { removed, freedBytes: Math.max(0, sizeBefore - totalBytes(directory)) }
}

async function pruneOne(
  store: WorkspaceStore,
  { retentionDays, nowMs, limits }: Parameters<typeof pruneAll>[1],
): Promise<number> {
  const oldestMs = retentionDays === undefined ? Number.NEGATIVE_INFINITY : nowMs - retentionDays * DAY_MS
  const excess = (records: readonly Checkpoint[]) => {
    const tooMany = excessRecords(records, limits.maxSnapshots)
    return records.filter((record) => record.atMs < oldestMs || tooMany.includes(record))
  }
  const records = store.records.list()
  // A workspace that was read and never changed has a cache alone.
  const isUnused =
    records.length === 0 && (statSync(store.cachePath, { throwIfNoEntry: false })?.mtimeMs ?? nowMs) < oldestMs
  if (excess(records).length === 0 && !isUnused) return 0
  return drop(store, excess)
}

/** The oldest of all workspaces go until the rest fits; the newest of each stays for as long as others can go. */
async function evict(directory: string, maxTotalBytes: number): Promise<number> {
  let removed = 0
  for (const store of allStores(directory)) {
    if (totalBytes(directory) <= maxTotalBytes) return 0
    if (store.records.list().length === 0) await drop(store, () => [])
  }
  for (const keep of [1, 0]) {
    while (totalBytes(directory) > maxTotalBytes) {
      const candidates = allStores(directory)
        .map((store) => ({ store, records: store.records.list() }))
        .filter(({ records }) => records.length > keep)
        .sort((left, right) => left.records[0]!.atMs - right.records[0]!.atMs)
      const [oldest] = candidates
      if (!oldest) break
      // A quarter at a time, as looking for what is needed takes as long for one as for many.
      const count = Math.max(1, Math.floor((oldest.records.length - keep) / 4))
      const gone = await drop(oldest.store, (records) => records.slice(0, count))
      if (gone === 0) return removed
      removed += gone
    }
  }
  return removed
}

async function drop(
  store: WorkspaceStore,
  which: (records: readonly Checkpoint[]) => readonly Checkpoint[],
): Promise<number> {
  return store.exclusively(
    async (objects) => {
      const going = which(store.records.list())
      for (const record of going) store.records.remove(record)
      // What the last look found keeps its tree alive; without a checkpoint nothing is left to keep it for.
      if (store.records.list().length === 0) rmSync(store.cachePath, { force: true })
      await collectGarbage(objects, rootsOf(store), createSlices())
      return going.length
    },
    { waitMs: WAIT_MS },
  )
}

/** Every tree that something still stands on. */
export function rootsOf(store: WorkspaceStore): readonly string[] {
  const cached = cachedRoot(store.cachePath)
  const trees = store.records.list().flatMap(({ tree, after }) => (after ? [tree, after.tree] : [tree]))
  return cached === null ? trees : [...trees, cached]
}

function isGone(store: WorkspaceStore): boolean {
  const root = store.root()
  return root === null || !statSync(root, { throwIfNoEntry: false })?.isDirectory()
}

/** Bytes on disk of all checkpoints. */
export function totalBytes(directory: string): number {
  return allStores(directory).reduce((sum, store) => sum + store.sizeBytes(), 0)
}

/** Whether the last regular pruning is at least so long ago; if so, this counts as one. */
export function isPruneDue(directory: string, nowMs: number, minIntervalHours: number): boolean {
  const marker = `${directory}/.last_prune`
  const lastMs = statSync(marker, { throwIfNoEntry: false })?.mtimeMs
  if (lastMs !== undefined && nowMs - lastMs < minIntervalHours * 3_600_000) return false
  writeFileSync(marker, '', { mode: 0o600 })
  return true
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
