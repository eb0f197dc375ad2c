import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { withLock } from '@hermes/files'
import { folderBytes, ObjectStore } from './objects/object-store.js'
import { hashOf } from './objects/tree.js'
import { Records } from './records/records.js'

const KEY_CHARS = 16
const WAIT_MS = 10_000
const BUSY = 'Another process is busy with the checkpoints of this folder; try again in a moment.'

/** Where the checkpoints of one workspace are: packs, records, what the last look found, and a lock around all of it. */
export class WorkspaceStore {
  readonly folder: string
  readonly records: Records
  readonly cachePath: string

  /** `folder` is that of this workspace. Nothing is made before {@link create}. */
  constructor(folder: string) {
    this.folder = folder
    this.records = new Records(`${folder}/snapshots`)
    this.cachePath = `${folder}/stat-cache`
  }

  /** The store of the workspace at `root` inside the folder of all checkpoints. */
  static of(directory: string, root: string): WorkspaceStore {
    return new WorkspaceStore(`${directory}/${hashOf(Buffer.from(root)).slice(0, KEY_CHARS)}`)
  }

  exists(): boolean {
    return existsSync(`${this.folder}/workspace.json`)
  }

  create(root: string): void {
    if (this.exists()) return
    for (const folder of [this.folder, `${this.folder}/packs`, `${this.folder}/snapshots`])
      mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(`${this.folder}/workspace.json`, JSON.stringify({ root }), { mode: 0o600 })
  }

  /** The workspace it belongs to; `null` when that cannot be read. */
  root(): string | null {
    try {
      const { root } = JSON.parse(readFileSync(`${this.folder}/workspace.json`, 'utf8')) as { root?: unknown }
      return typeof root === 'string' ? root : null
    } catch {
      return null
    }
  }

  /** Runs `work` while nobody else works in this store. */
  exclusively<T>(
    work: (objects: ObjectStore) => Promise<T>,
    { signal, waitMs = WAIT_MS }: { readonly signal?: AbortSignal | undefined; readonly waitMs?: number } = {},
  ): Promise<T> {
    // Beside the folder, which may be removed while others wait for the lock.
    return withLock(`${this.folder}.lock`, { busy: BUSY, waitMs, signal }, async () => {
      const objects = new ObjectStore(`${this.folder}/packs`)
      try {
        return await work(objects)
      } finally {
        objects.close()
      }
    })
  }

  sizeBytes(): number {
    return ['', '/packs', '/snapshots'].reduce((sum, part) => sum + folderBytes(this.folder + part), 0)
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
