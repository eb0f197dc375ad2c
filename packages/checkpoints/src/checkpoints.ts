import { mkdirSync, statSync } from 'node:fs'
import type { Clock } from '@hermes/contracts'
import { HermesError, systemClock } from '@hermes/contracts'
import type { Permit } from '@hermes/contracts/policy'
import { collectGarbage } from './objects/collect-garbage.js'
import type { ObjectStore } from './objects/object-store.js'
import { createSlices } from './objects/slices.js'
import type { ChangedPath } from './records/look.js'
import { changesSince, readFromCheckpoint } from './records/look.js'
import type { Pruned, PruneOptions } from './records/prune.js'
import { allStores, isPruneDue, pruneAll, rootsOf, totalBytes } from './records/prune.js'
import type { Checkpoint, CheckpointKind } from './records/record.js'
import { excessRecords } from './records/records.js'
import type { RestoreReport, RestoreRequest } from './restore/restore-workspace.js'
import { restoreWorkspace } from './restore/restore-workspace.js'
import type { CheckpointLimits } from './scan/limits.js'
import { defaultLimits } from './scan/limits.js'
import { realPrefix } from './scan/workspace-root.js'
import type { Workspace } from './workspace.js'
import { keepState } from './workspace.js'
import { WorkspaceStore } from './workspace-store.js'

/** Options of {@link createCheckpoints}. */
interface CheckpointsOptions {
  /** Where checkpoints are kept; made with mode 0700 on first use. Absolute. */
  readonly directory: string
  /** Folders left out wherever they are, as are the checkpoints themselves. Absolute. Default none. */
  readonly exclude?: readonly string[]
  /** Default: {@link defaultLimits}. */
  readonly limits?: Partial<CheckpointLimits>
  /** Default: the machine's clock. */
  readonly clock?: Clock
}

/** A workspace that has checkpoints. */
interface WorkspaceInfo {
  /** `null` when that cannot be told any more. */
  readonly root: string | null
  /** Oldest first. */
  readonly checkpoints: readonly Checkpoint[]
  /** On disk. */
  readonly sizeBytes: number
}

/**
 * Snapshots of workspaces on this machine, and ways back to them. `root` is always absolute with links followed. Failures are
 * `HermesError` `checkpoint.*` of one line, or a retryable `files.locked`.
 */
export interface Checkpoints {
  /**
   * Reads the workspace without noting a checkpoint, so that the next one has only to read what changed since. Abort leaves the store as
   * it was. Fails as {@link Checkpoints.take} does.
   */
  prepare(root: string, options?: { readonly signal?: AbortSignal }): Promise<void>
  /**
   * Keeps the state of every file that is not excluded, too large or unreadable. Abort leaves the store as it was; so does the time
   * limit, which rejects with `checkpoint.timeout`.
   */
  take(root: string, options: TakeOptions): Promise<Checkpoint>
  /** Notes the state at the end of a run, so that edits made later are known as somebody else's. Drops what the run did not need. */
  settle(root: string, runId: string): Promise<void>
  /** Oldest first; empty for a folder without any. */
  list(root: string): readonly Checkpoint[]
  /**
   * Takes back what was done since a checkpoint and keeps the edits of others; what cannot be told apart is named and left alone. Takes
   * a checkpoint of kind `restore` first. A kill at any moment leaves every file whole, and the same call finishes the work. Abort
   * stops between two files. `permit` is for writing `root` itself.
   * @throws HermesError `checkpoint.unknown` naming what there is, `checkpoint.outside`, `checkpoint.no_such_path`.
   */
  restore(permit: Permit, root: string, request: RestoreRequest): Promise<RestoreReport>
  /** What is different now from a checkpoint (number or label), sorted by path. */
  changes(root: string, wanted: string, options?: { readonly signal?: AbortSignal }): Promise<readonly ChangedPath[]>
  /** The bytes of one file in a checkpoint; `null` when it has no such file. */
  read(root: string, wanted: string, path: string): Promise<Uint8Array | null>
  /** All workspaces, those with the newest checkpoint first. */
  workspaces(): readonly WorkspaceInfo[]
  /** Removes checkpoints that are too old, too many or of workspaces that are gone, then the oldest until the rest fits. */
  prune(options?: PruneOptions): Promise<Pruned>
  /** Regular upkeep: `null` when the last one is less than `minIntervalHours` ago. */
  pruneIfDue(options: PruneOptions & { readonly minIntervalHours: number }): Promise<Pruned | null>
  /** Removes all checkpoints of all workspaces. */
  clear(): Promise<Pruned>
}

/** Opens the checkpoints of a Hermes home. Nothing is read or made before it is needed. */
export function createCheckpoints(options: CheckpointsOptions): Checkpoints {
  const { clock = systemClock } = options
  const directory = realPrefix(options.directory)
  const excluded = new Set([directory, ...(options.exclude ?? []).map(realPrefix)])
  const limits = { ...defaultLimits, ...options.limits }
  const at = (root: string): Workspace => {
    return { store: WorkspaceStore.of(directory, root), root, excluded, limits, clock, directory }
  }
  const prune = (requested: PruneOptions = {}) => pruneAll(directory, { ...requested, nowMs: clock.now(), limits })
  return {
    prepare: async (root, { signal } = {}) => prepare(at(root), signal),
    take: async (root, requested) => take(at(root), requested),
    settle: (root, runId) => settle(at(root), runId),
    list: (root) => (at(root).store.exists() ? at(root).store.records.list() : []),
    restore: async (permit, root, request) => {
      permit.consume({ type: 'write', path: root, operation: 'write', backend: 'local' })
      return restoreWorkspace(at(root), request)
    },
    changes: (root, wanted, { signal } = {}) => changesSince(at(root), wanted, signal),
    read: (root, wanted, path) => readFromCheckpoint(at(root), wanted, path),
    workspaces: () =>
      allStores(directory)
        .map((store) => ({ root: store.root(), checkpoints: store.records.list(), sizeBytes: store.sizeBytes() }))
        .sort((left, right) => (right.checkpoints.at(-1)?.atMs ?? 0) - (left.checkpoints.at(-1)?.atMs ?? 0)),
    prune,
    pruneIfDue: async ({ minIntervalHours, ...requested }) => {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      return isPruneDue(directory, clock.now(), minIntervalHours) ? prune(requested) : null
    },
    clear: () => clear(directory),
  }
}

async function clear(directory: string): Promise<Pruned> {
  const stores = allStores(directory)
  const removed = stores.reduce((sum, store) => sum + store.records.list().length, 0)
  const freedBytes = totalBytes(directory)
  for (const store of stores) await store.exclusively(async () => store.remove())
  return { removed, freedBytes }
}

/** What a checkpoint is taken for. */
interface TakeOptions {
  readonly kind: Exclude<CheckpointKind, 'restore'>
  /** One line: what is about to happen. */
  readonly reason: string
  readonly label?: string | undefined
  readonly sessionId?: string | undefined
  /** The run it is taken in; what changes until {@link settle} is that run's doing. Without one nothing that follows is ours. */
  readonly runId?: string | undefined
  readonly undoFromSeq?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** More packs than this are tidied up at the end of a run. */
const MANY_PACKS = 48

/** Reads the workspace as a checkpoint would, without one. */
async function prepare(workspace: Workspace, signal?: AbortSignal): Promise<void> {
  const { store, root } = workspace
  store.create(root)
  await store.exclusively(async (objects) => void (await keepState(workspace, objects, signal)), { signal })
}

/** Keeps the state now, with a record of why. */
async function take(workspace: Workspace, options: TakeOptions): Promise<Checkpoint> {
  const { store, root, clock, limits } = workspace
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory())
    throw new HermesError(`${root} is no folder, so there is nothing to keep.`, { code: 'checkpoint.no_workspace' })
  store.create(root)
  return store.exclusively(
    async (objects) => {
      const atMs = clock.now()
      const number = store.records.nextNumber()
      const { kind, reason, label = null, sessionId = null, runId = null, undoFromSeq = null } = options
      const state = await keepState(workspace, objects, options.signal)
      const after = runId === null ? { tree: state.tree, atMs, nextNumber: number + 1 } : null
      const record: Checkpoint = { number, atMs, kind, label, reason, sessionId, runId, undoFromSeq, ...state, after }
      store.records.write(record)
      for (const excess of excessRecords(store.records.list(), limits.maxSnapshots)) store.records.remove(excess)
      return record
    },
    { signal: options.signal },
  )
}

/** Notes the state that a run leaves; checkpoints after which it changed nothing are dropped. */
async function settle(workspace: Workspace, runId: string): Promise<void> {
  const { store, clock } = workspace
  if (!store.exists()) return
  await store.exclusively(async (objects) => {
    const open = store.records.list().filter((record) => record.runId === runId && record.after === null)
    if (open.length === 0) return
    const { tree, rootMode } = await keepState(workspace, objects)
    const after = { tree, atMs: clock.now(), nextNumber: store.records.nextNumber() }
    for (const record of open) {
      const isIdle = record.tree === tree && record.rootMode === rootMode
      if (isIdle && record.kind === 'automatic') store.records.remove(record)
      else store.records.write({ ...record, after })
    }
    await tidy(workspace, objects)
  })
  const { directory, limits } = workspace
  if (totalBytes(directory) > limits.maxTotalBytes) await pruneAll(directory, { nowMs: clock.now(), limits })
}

async function tidy({ store }: Workspace, objects: ObjectStore): Promise<void> {
  if (objects.packs().length > MANY_PACKS) await collectGarbage(objects, rootsOf(store), createSlices())
}
