// Carries out a plan on the disk: what goes first, deepest first; then folders, then files and links, then modes of folders. Each file
// appears whole, by a rename, and never through a link: whatever is above it has to be a real folder.
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { decodeName, encodeName, fsPath, joinName, parentName } from '../objects/file-name.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { Slices } from '../objects/slices.js'
import { hashOf, type TreeEntry } from '../objects/tree.js'
import type { PlannedChange } from './plan-restore.js'

/** Files that a killed restore may leave behind begin with this. */
export const UNFINISHED = '.hermes-restore-'
const OWNER_MAY_ALL = 0o700
const OPENED = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** What was done. */
interface Applied {
  readonly restored: readonly string[]
  readonly removed: readonly string[]
  /** Paths that could not be brought to the wanted state, and why. They are as they were. */
  readonly kept: readonly { readonly path: string; readonly why: string }[]
}

/** Brings each path of `changes` to its wanted state, as long as it is still what the plan says. */
export async function applyChanges(
  root: string,
  changes: ReadonlyMap<string, PlannedChange>,
  { store, slices }: { readonly store: ObjectStore; readonly slices: Slices },
): Promise<Applied> {
  const worker = new Worker(root, store)
  const paths = [...changes.keys()].sort()
  for (const path of paths.toReversed()) {
    worker.clear(path, changes.get(path)!)
    if (slices.isOver()) await slices.pause()
  }
  for (const path of paths) {
    worker.put(path, changes.get(path)!)
    if (slices.isOver()) await slices.pause()
  }
  worker.finish()
  return { restored: worker.restored, removed: worker.removed, kept: worker.kept }
}

class Worker {
  readonly restored: string[] = []
  readonly removed: string[] = []
  readonly kept: { readonly path: string; readonly why: string }[] = []
  readonly #root: string
  readonly #store: ObjectStore
  readonly #refused = new Set<string>()
  /** Modes of folders to be set at the end: they may forbid to write in them. */
  readonly #modes = new Map<string, number>()
  readonly #swept = new Set<string>()

  constructor(root: string, store: ObjectStore) {
    this.#root = root
    this.#store = store
  }

  /** Removes what must not stay: something that shall be gone, or be of another kind. */
  clear(path: string, { from, to }: PlannedChange): void {
    if (from === undefined || (to !== undefined && (to.type === 'folder') === (from.type === 'folder'))) return
    this.#attempt(path, () => {
      this.#enter(parentName(path))
      const stats = this.#stats(path)
      if (stats?.isDirectory()) this.#removeFolder(path)
      else if (stats) {
        this.#requireUnchanged(path, from, stats)
        unlinkSync(this.#at(path))
      }
      if (to === undefined) this.removed.push(path)
    })
  }

  /** Makes or replaces what is wanted at a path. */
  put(path: string, { from, to }: PlannedChange): void {
    if (to === undefined || to.type === 'skipped' || this.#refused.has(path)) return
    this.#attempt(path, () => {
      this.#enter(parentName(path))
      if (to.type === 'folder') this.#putFolder(path, to.mode)
      else this.#putFile(path, from, to)
      this.restored.push(path)
    })
  }

  /** Folders get their modes, deepest first. */
  finish(): void {
    for (const [path, mode] of [...this.#modes].sort(([left], [right]) => (left < right ? 1 : -1))) {
      if (this.#stats(path)?.isDirectory()) this.#attempt(path, () => chmodSync(this.#at(path), mode))
    }
  }

  #putFolder(path: string, mode: number): void {
    const stats = this.#stats(path)
    const open = mode | OWNER_MAY_ALL
    if (!stats) mkdirSync(this.#at(path), open)
    else if (!stats.isDirectory()) throw new Kept('something else is there')
    chmodSync(this.#at(path), open)
    if (open === mode) this.#modes.delete(path)
    else this.#modes.set(path, mode)
  }

  #putFile(path: string, from: TreeEntry | undefined, to: Extract<TreeEntry, { type: 'file' | 'link' }>): void {
    const stats = this.#stats(path)
    if (stats?.isDirectory()) throw new Kept('it is a folder with files that are in no checkpoint')
    if (stats) this.#requireUnchanged(path, from, stats)
    const folder = parentName(path)
    this.#sweep(folder)
    const unfinished = fsPath(this.#root, joinName(folder, `${UNFINISHED}${process.pid}`))
    if (to.type === 'link') symlinkSync(encodeName(to.target), unfinished)
    else this.#write(unfinished, to)
    renameSync(unfinished, this.#at(path))
  }

  #write(file: string | Buffer, { hash, mode }: Extract<TreeEntry, { type: 'file' }>): void {
    const bytes = this.#store.read(hash)
    const opened = openSync(file, OPENED, 0o600)
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(opened, bytes, written)
      // Writing takes special bits away, so the mode comes last.
      fchmodSync(opened, mode)
    } finally {
      closeSync(opened)
    }
  }

  #removeFolder(path: string): void {
    this.#sweep(path)
    try {
      rmdirSync(this.#at(path))
      this.#modes.delete(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOTEMPTY') throw new Kept('it holds files that stay')
      throw error
    }
  }

  /** What is there must be what the plan was made for: somebody may have changed it since. */
  #requireUnchanged(path: string, from: TreeEntry | undefined, stats: Stats): void {
    if (from?.type === 'link' && stats.isSymbolicLink()) {
      if (decodeName(readlinkSync(this.#at(path), 'buffer')) === from.target) return
    } else if (from?.type === 'file' && stats.isFile() && stats.size === from.size) {
      if ((stats.mode & 0o400) === 0) chmodSync(this.#at(path), stats.mode | 0o400)
      if (hashOf(readFileSync(this.#at(path))) === from.hash) return
    } else if (from?.type === 'skipped') return
    throw new Kept('it was changed while the restore was under way')
  }

  /** Makes sure that every folder above is a real one, is there, and may be written in. */
  #enter(folder: string): void {
    if (folder !== '') this.#enter(parentName(folder))
    const stats = this.#stats(folder)
    if (!stats && folder !== '') {
      mkdirSync(this.#at(folder))
      return
    }
    if (!stats?.isDirectory()) throw new Kept(`${folder} is no folder any more`)
    if ((stats.mode & OWNER_MAY_ALL) === OWNER_MAY_ALL) return
    if (!this.#modes.has(folder)) this.#modes.set(folder, stats.mode & 0o7777)
    chmodSync(this.#at(folder), (stats.mode & 0o7777) | OWNER_MAY_ALL)
  }

  #sweep(folder: string): void {
    if (this.#swept.has(folder)) return
    this.#swept.add(folder)
    for (const name of readdirSync(fsPath(this.#root, folder), 'buffer').map(decodeName)) {
      if (name.startsWith(UNFINISHED)) unlinkSync(fsPath(this.#root, joinName(folder, name)))
    }
  }

  #at(path: string): string | Buffer {
    return fsPath(this.#root, path)
  }

  #stats(path: string): Stats | undefined {
    try {
      return lstatSync(this.#at(path), { throwIfNoEntry: false })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined
      throw error
    }
  }

  #attempt(path: string, work: () => void): void {
    try {
      work()
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      // A full disk fails every further file too; what was done so far is in the checkpoint taken before.
      if (!(error instanceof Kept) && (code === undefined || code === 'ENOSPC' || code === 'EDQUOT')) throw error
      this.#refused.add(path)
      this.kept.push({ path, why: error instanceof Kept ? error.message : `the system answered ${code}` })
    }
  }
}

/** Why one path is left as it is. */
class Kept extends Error {}
