import { joinName } from '../objects/file-name.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { Slices } from '../objects/slices.js'
import type { Tree, TreeEntry } from '../objects/tree.js'

/** What was at a path before and after; `undefined` for nothing. */
interface Difference {
  readonly before: TreeEntry | undefined
  readonly after: TreeEntry | undefined
}

const EMPTY: Tree = new Map()

/** Whether two entries are the same to a person; of folders only kind and mode count, as what is in them has paths of its own. */
export function isSameEntry(left: TreeEntry | undefined, right: TreeEntry | undefined): boolean {
  if (left === undefined || right === undefined) return left === right
  if (left.type === 'file') return right.type === 'file' && left.hash === right.hash && left.mode === right.mode
  if (left.type === 'link') return right.type === 'link' && left.target === right.target
  if (left.type === 'folder') return right.type === 'folder' && left.mode === right.mode
  return right.type === 'skipped'
}

/** The paths that differ between two trees. Equal folders are not looked into. */
export async function differences(
  store: ObjectStore,
  { before, after }: { readonly before: string; readonly after: string },
  slices: Slices,
): Promise<ReadonlyMap<string, Difference>> {
  const found = new Map<string, Difference>()
  await collect({ store, found, slices }, '', store.readTree(before), store.readTree(after))
  return found
}

/** What is at a path of a tree; `undefined` for nothing. */
export function entryAt(store: ObjectStore, tree: string, path: string): TreeEntry | undefined {
  let entry: TreeEntry | undefined = { type: 'folder', mode: 0, hash: tree }
  for (const name of path.split('/')) {
    if (entry?.type !== 'folder') return undefined
    entry = store.readTree(entry.hash).get(name)
  }
  return entry
}

interface Collector {
  readonly store: ObjectStore
  readonly found: Map<string, Difference>
  readonly slices: Slices
}

async function collect(to: Collector, folder: string, before: Tree, after: Tree): Promise<void> {
  if (to.slices.isOver()) await to.slices.pause()
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [left, right] = [before.get(name), after.get(name)]
    const path = joinName(folder, name)
    if (!isSameEntry(left, right)) to.found.set(path, { before: left, after: right })
    const [leftHash, rightHash] = [folderHash(left), folderHash(right)]
    if (leftHash !== rightHash) await collect(to, path, treeOf(to.store, leftHash), treeOf(to.store, rightHash))
  }
}

function folderHash(entry: TreeEntry | undefined): string | null {
  return entry?.type === 'folder' ? entry.hash : null
}

function treeOf(store: ObjectStore, hash: string | null): Tree {
  return hash === null ? EMPTY : store.readTree(hash)
}
