import { statSync } from 'node:fs'
import { HermesError } from '@hermes/contracts'
import { collectGarbage } from '../objects/collect-garbage.js'
import type { ObjectStore } from '../objects/object-store.js'
import { createSlices } from '../objects/slices.js'
import { keepState, type Workspace } from '../workspace.js'
import { pruneAll, rootsOf, totalBytes } from './prune.js'
import type { Checkpoint, CheckpointKind } from './record.js'
import { excessRecords } from './records.js'

/** What a checkpoint is taken for. */
export interface TakeOptions {
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
export async function prepare(workspace: Workspace, signal?: AbortSignal): Promise<void> {
  const { store, root } = workspace
  store.create(root)
  await store.exclusively(async (objects) => void (await keepState(workspace, objects, signal)), { signal })
}

/** Keeps the state now, with a record of why. */
export async function take(workspace: Workspace, options: TakeOptions): Promise<Checkpoint> {
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
export async function settle(workspace: Workspace, runId: string): Promise<void> {
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
