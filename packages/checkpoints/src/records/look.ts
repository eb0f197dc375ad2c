import { createSlices } from '../objects/slices.js'
import { insideRoot } from '../restore/restore-workspace.js'
import { differences, entryAt } from '../scan/compare.js'
import { keepState, type Workspace } from '../workspace.js'
import { findCheckpoint } from './records.js'

/** A path that differs between a checkpoint and now. */
export interface ChangedPath {
  readonly path: string
  /** As seen from the checkpoint: `added` came since, `removed` is gone since. */
  readonly change: 'added' | 'removed' | 'changed'
}

/** What is different now, sorted by path. */
export async function changesSince(
  workspace: Workspace,
  wanted: string,
  signal?: AbortSignal,
): Promise<readonly ChangedPath[]> {
  const { store } = workspace
  if (!store.exists()) findCheckpoint([], wanted)
  return store.exclusively(
    async (objects) => {
      const { tree } = findCheckpoint(store.records.list(), wanted)
      const now = await keepState(workspace, objects, signal)
      const found = await differences(objects, { before: tree, after: now.tree }, createSlices(signal))
      return [...found]
        .map(([path, { before, after }]): ChangedPath => {
          return { path, change: before ? (after ? 'changed' : 'removed') : 'added' }
        })
        .sort((left, right) => (left.path < right.path ? -1 : 1))
    },
    { signal },
  )
}

/** The bytes of one file in a checkpoint; `null` when it has no such file. */
export async function readFromCheckpoint(
  { store, root }: Workspace,
  wanted: string,
  path: string,
): Promise<Uint8Array | null> {
  if (!store.exists()) findCheckpoint([], wanted)
  return store.exclusively(async (objects) => {
    const entry = entryAt(objects, findCheckpoint(store.records.list(), wanted).tree, insideRoot(root, path))
    return entry?.type === 'file' ? Buffer.from(objects.read(entry.hash)) : null
  })
}
