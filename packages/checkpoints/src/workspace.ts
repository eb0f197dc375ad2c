import { statSync } from 'node:fs'
import { type Clock, HermesError } from '@hermes/contracts'
import type { ObjectStore } from './objects/object-store.js'
import { type Snapshot, takeSnapshot } from './records/snapshot.js'
import type { CheckpointLimits } from './scan/limits.js'
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
