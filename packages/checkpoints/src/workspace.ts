import { statSync } from 'node:fs'
import type { Clock } from '@hermes/contracts'
import { HermesError } from '@hermes/contracts'
import type { ObjectStore } from './objects/object-store.js'
import { createSlices } from './objects/slices.js'
import type { CheckpointLimits } from './scan/limits.js'
import type { ScanResult } from './scan/scan.js'
import { scan } from './scan/scan.js'
import { readStatCache, writeStatCache } from './scan/stat-cache.js'
import type { WorkspaceStore } from './workspace-store.js'

/** One workspace and where its checkpoints are. */
export interface Workspace {
  readonly store: WorkspaceStore
  /** Absolute, links followed. */
  readonly root: string
  /** The folder of the checkpoints of all workspaces. */
  readonly directory: string
  /** Folders that are left out. */
  readonly excluded: ReadonlySet<string>
  readonly limits: CheckpointLimits
  readonly clock: Clock
}

const USUAL_MODE = 0o755

/**
 * The state of the workspace now, kept in its store; the caller holds the lock.
 * A folder that is gone has an empty one.
 * @throws HermesError `checkpoint.timeout`, `checkpoint.too_many_files`, `checkpoint.too_large`.
 */
export async function keepState(
  { store, root, excluded, limits }: Workspace,
  objects: ObjectStore,
  signal?: AbortSignal,
): Promise<Snapshot & { readonly rootMode: number }> {
  const stats = statSync(root, { throwIfNoEntry: false })
  const limit = AbortSignal.timeout(limits.timeoutMs)
  try {
    const snapshot = await takeSnapshot({
      root,
      store: objects,
      cachePath: store.cachePath,
      excluded,
      limits,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    return { ...snapshot, rootMode: (stats?.mode ?? USUAL_MODE) & 0o7777 }
  } catch (error) {
    if (signal?.aborted || !limit.aborted || error !== limit.reason) throw error
    throw new HermesError(`${root} is too large to be looked through within ${limits.timeoutMs / 1000} seconds.`, {
      code: 'checkpoint.timeout',
      details: { timeoutMs: limits.timeoutMs },
    })
  }
}

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
type Snapshot = Omit<ScanResult, 'cache' | 'isChanged'>

/** Keeps every file of the workspace; the caller holds its lock. On abort or failure the store is as it was. */
async function takeSnapshot(options: SnapshotOptions): Promise<Snapshot> {
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
