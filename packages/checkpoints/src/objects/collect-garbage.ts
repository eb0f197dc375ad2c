import type { ObjectStore } from './object-store.js'
import type { PackFile } from './pack-file.js'
import type { Slices } from './slices.js'

/** A pack of which less than this share is still needed is written anew. */
const MIN_LIVE_SHARE = 0.5
/** Beyond so many packs the small ones become one. */
const MAX_PACKS = 32
const SMALL_PACK_BYTES = 4 * 2 ** 20

/** Removes what no tree of `roots` needs. The caller holds the lock of the workspace; a kill leaves everything needed in place. */
export async function collectGarbage(store: ObjectStore, roots: Iterable<string>, slices: Slices): Promise<void> {
  store.sweep()
  const live = await reachable(store, roots, slices)
  const packs = store.packs().map((pack) => weigh(pack, live))
  const isCrowded = packs.length > MAX_PACKS
  const going = packs.filter(
    ({ liveBytes, allBytes }) => liveBytes < allBytes * MIN_LIVE_SHARE || (isCrowded && allBytes < SMALL_PACK_BYTES),
  )
  if (going.length === 0) return
  await rewrite(store, going, slices)
  for (const { pack } of going) store.remove(pack)
  store.reload()
}

/** The objects that trees lead to. A part that is missing in a damaged store leads nowhere. */
async function reachable(store: ObjectStore, roots: Iterable<string>, slices: Slices): Promise<Set<string>> {
  const live = new Set<string>()
  const open = [...roots]
  for (let tree = open.pop(); tree !== undefined; tree = open.pop()) {
    if (live.has(tree)) continue
    live.add(tree)
    for (const entry of store.findTree(tree)?.values() ?? []) {
      if (entry.type === 'folder') open.push(entry.hash)
      else if (entry.type === 'file') live.add(entry.hash)
    }
    if (slices.isOver()) await slices.pause()
  }
  return live
}

interface WeighedPack {
  readonly pack: PackFile
  readonly liveBytes: number
  readonly allBytes: number
  readonly kept: readonly string[]
}

function weigh(pack: PackFile, live: ReadonlySet<string>): WeighedPack {
  let [liveBytes, allBytes] = [0, 0]
  const kept: string[] = []
  for (const [hash, { bytes }] of pack.places()) {
    allBytes += bytes + 1
    if (!live.has(hash)) continue
    liveBytes += bytes + 1
    kept.push(hash)
  }
  return { pack, liveBytes, allBytes, kept }
}

/** What is needed of several packs, in one. */
async function rewrite(store: ObjectStore, packs: readonly WeighedPack[], slices: Slices): Promise<void> {
  const writer = store.writer(Number.MAX_SAFE_INTEGER)
  try {
    for (const { pack, kept } of packs) {
      for (const hash of kept) {
        if (!writer.has(hash)) writer.add(hash, Buffer.from(pack.read(pack.find(hash)!)))
        if (writer.isFull) await writer.drain()
        if (slices.isOver()) await slices.pause()
      }
    }
    await writer.finish(slices)
  } catch (error) {
    await writer.discard()
    throw error
  }
}
