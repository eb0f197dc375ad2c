import { joinName } from '../objects/file-name.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { PackWriter } from '../objects/pack-writer.js'
import type { Slices } from '../objects/slices.js'
import { encodeTree, hashOf, type Tree, type TreeEntry } from '../objects/tree.js'

/** What shall be at a path; `null` for nothing. */
type Wanted = ReadonlyMap<string, TreeEntry | null>

const FOLDER_MODE = 0o755

/** The tree that `tree` becomes with `wanted` in it; new folders go to the writer. A folder goes only when nothing is left in it. */
export async function overlay(
  { store, writer, slices }: Pick<Overlay, 'store' | 'writer' | 'slices'>,
  tree: string,
  wanted: Wanted,
): Promise<string> {
  const on = { store, writer, slices, wanted, below: childrenOf(wanted) }
  return (await rebuild(on, '', store.readTree(tree))).hash
}

interface Overlay {
  readonly store: ObjectStore
  readonly writer: PackWriter
  readonly slices: Slices
  readonly wanted: Wanted
  /** For each folder the names in it that are wanted, or that lead to something wanted. */
  readonly below: ReadonlyMap<string, ReadonlySet<string>>
}

function childrenOf(wanted: Wanted): ReadonlyMap<string, ReadonlySet<string>> {
  const below = new Map<string, Set<string>>()
  for (const path of wanted.keys()) {
    let folder = ''
    for (const name of path.split('/')) {
      const names = below.get(folder) ?? new Set()
      below.set(folder, names.add(name))
      folder = joinName(folder, name)
    }
  }
  return below
}

interface Rebuilt {
  readonly hash: string
  readonly isEmpty: boolean
}

async function rebuild(on: Overlay, folder: string, base: Tree): Promise<Rebuilt> {
  if (on.slices.isOver()) await on.slices.pause()
  const entries = new Map(base)
  for (const name of on.below.get(folder) ?? []) {
    const entry = await rebuildEntry(on, joinName(folder, name), base.get(name))
    if (entry) entries.set(name, entry)
    else entries.delete(name)
  }
  const bytes = encodeTree(entries)
  const hash = hashOf(bytes)
  if (!on.writer.has(hash) && !on.store.has(hash)) on.writer.add(hash, bytes)
  return { hash, isEmpty: entries.size === 0 }
}

async function rebuildEntry(on: Overlay, path: string, base: TreeEntry | undefined): Promise<TreeEntry | null> {
  const wanted = on.wanted.get(path)
  const staysFolder = wanted?.type === 'folder' || (!wanted && (on.below.has(path) || base?.type === 'folder'))
  if (!staysFolder) return wanted ?? null
  const inside = await rebuild(on, path, base?.type === 'folder' ? on.store.readTree(base.hash) : new Map())
  if (wanted === null && inside.isEmpty) return null
  if (wanted === undefined && base === undefined && inside.isEmpty) return null
  const mode = wanted?.type === 'folder' ? wanted.mode : base?.type === 'folder' ? base.mode : FOLDER_MODE
  return { type: 'folder', mode, hash: inside.hash }
}
