import type { ObjectStore } from '../objects/object-store.js'
import { createSlices } from '../objects/slices.js'
import type { CheckpointLimits } from '../scan/limits.js'
import { type ScanResult, scan } from '../scan/scan.js'
import { readStatCache, writeStatCache } from '../scan/stat-cache.js'

/** What is needed to keep the state of a workspace. */
interface SnapshotOptions {
  readonly root: string
  readonly store: ObjectStore
  /** The file of the stat cache. */
  readonly cachePath: string
  readonly excluded: ReadonlySet<string>
  readonly limits: CheckpointLimits
  readonly signal: AbortSignal
}

/** What was kept. */
export type Snapshot = Omit<ScanResult, 'cache' | 'isChanged'>

/** Keeps every file of the workspace; the caller holds its lock. On abort or failure the store is as it was. */
export async function takeSnapshot(options: SnapshotOptions): Promise<Snapshot> {
  const { store, cachePath, limits, signal } = options
  signal.throwIfAborted()
  const slices = createSlices(signal)
  const writer = store.writer(limits.maxTotalBytes)
  try {
    const cache = await readStatCache(cachePath, slices)
    const { cache: found, isChanged, ...snapshot } = await scan({ ...options, ...limits, cache, writer, slices })
    if (await writer.finish(slices)) store.reload()
    if (isChanged) await writeStatCache(cachePath, snapshot.tree, found, slices)
    return snapshot
  } catch (error) {
    await writer.discard()
    throw error
  }
}
