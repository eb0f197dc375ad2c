import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { HermesError } from '@hermes/contracts'
import { PackFile } from './pack-file.js'
import { PackWriter } from './pack-writer.js'
import { decodeTree, type Tree } from './tree.js'

/** The objects of one workspace, named by what they hash to, in packs that never change once they are written. */
export class ObjectStore {
  readonly #folder: string
  #packs: PackFile[] | null = null
  readonly #trees = new Map<string, Tree>()

  constructor(folder: string) {
    this.#folder = folder
  }

  packs(): readonly PackFile[] {
    this.#packs ??= readdirSync(this.#folder)
      .filter((file) => file.endsWith('.idx'))
      .map((file) => new PackFile(`${this.#folder}/${file.slice(0, -4)}`, file.slice(0, -4)))
    return this.#packs
  }

  has(hash: string): boolean {
    return this.packs().some((pack) => pack.find(hash) !== null)
  }

  /** @throws HermesError `checkpoint.damaged` when there is no such object. */
  read(hash: string): Buffer {
    for (const pack of this.packs()) {
      const place = pack.find(hash)
      if (place) return pack.read(place)
    }
    throw new HermesError('This checkpoint is damaged: a part of it is missing from the store. Use another one.', {
      code: 'checkpoint.damaged',
      details: { hash },
    })
  }

  /** `null` when it is missing, as in a damaged store. */
  findTree(hash: string): Tree | null {
    return this.#trees.has(hash) || this.has(hash) ? this.readTree(hash) : null
  }

  readTree(hash: string): Tree {
    const known = this.#trees.get(hash)
    if (known) return known
    const tree = decodeTree(this.read(hash))
    this.#trees.set(hash, tree)
    return tree
  }

  /** A new pack of at most `maxBytes`; what it holds can be read once it is finished and {@link reload} was called. */
  writer(maxBytes: number): PackWriter {
    return new PackWriter(`${this.#folder}/${randomBytes(8).toString('hex')}`, maxBytes)
  }

  /** Call {@link reload} once the last one is gone. */
  remove(pack: PackFile): void {
    pack.close()
    // A pack without an index does not count.
    rmSync(`${this.#folder}/${pack.name}.idx`, { force: true })
    rmSync(`${this.#folder}/${pack.name}.pack`, { force: true })
  }

  /** Looks at the folder anew. */
  reload(): void {
    this.close()
    this.#packs = null
  }

  close(): void {
    for (const pack of this.#packs ?? []) pack.close()
    this.#trees.clear()
  }

  /** Bytes on disk. */
  sizeBytes(): number {
    return folderBytes(this.#folder)
  }

  /** Removes what a writer that was killed left behind. To be called while nobody writes. */
  sweep(): void {
    const files = readdirSync(this.#folder)
    for (const file of files) {
      const isOrphan = file.endsWith('.pack') && !files.includes(`${file.slice(0, -5)}.idx`)
      if (isOrphan || file.endsWith('.new')) rmSync(`${this.#folder}/${file}`, { force: true })
    }
  }
}

/** Bytes of the files right inside a folder; 0 when it is not there. */
export function folderBytes(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, file) => {
      return sum + (statSync(`${folder}/${file}`, { throwIfNoEntry: false })?.size ?? 0)
    }, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}
