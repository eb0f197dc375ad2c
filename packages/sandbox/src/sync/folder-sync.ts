import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, errorLine, HermesError, type Logger } from '@hermes/contracts'
import type { RemoteHost } from '../remote/remote-host.js'
import {
  hashOf,
  isGitPath,
  type LocalFile,
  localFiles,
  readLocal,
  removeLocal,
  statLocal,
  writeLocal,
} from './local-folder.js'
import { fetchFiles, remoteHashes, removeRemote, type SentFile, sendFiles } from './remote-folder.js'

/** A folder that is to be the same here and over there. */
export interface SyncFolder {
  /** On this machine. Absolute; must exist. */
  readonly source: string
  /** Over there. Absolute; made when it is missing. */
  readonly target: string
  /** Nothing comes back. Default `false`. */
  readonly readOnly?: boolean
}

interface FolderSyncOptions {
  readonly host: Pick<RemoteHost, 'connect' | 'converse' | 'failure' | 'name'>
  readonly folders: readonly SyncFolder[]
  /** Where it is kept what both sides had last. */
  readonly stateDir: string
  readonly clock: Clock
  readonly logger: Logger
}

/** What both sides had when they were the same last. */
interface Known extends Pick<LocalFile, 'sizeBytes' | 'modifiedMs'> {
  readonly hash: string
}

const PUSH_EVERY_MS = 5_000
const MAX_FILE_BYTES = 256 * 1024 * 1024
const MAX_FOLDER_BYTES = 2 * 1024 * 1024 * 1024
const REQUEST_BYTES = 16 * 1024 * 1024
const FETCH_AT_ONCE = 20
const PULL_PAUSES_MS = [2_000, 4_000, 8_000]

/**
 * Keeps folders the same on both sides: what changed here goes over before commands, what changed there comes back at the end. Told by
 * hashes. Where both changed, the file here stays, and the other one is put beside it as `NAME.sandbox`.
 */
export class FolderSync {
  readonly #options: FolderSyncOptions
  #pushedMs = Number.NEGATIVE_INFINITY

  constructor(options: FolderSyncOptions) {
    this.#options = options
  }

  /** Brings back what an earlier program left over there, then takes over what is here. @throws HermesError when that fails. */
  async begin(): Promise<void> {
    for (const { source } of this.#options.folders) await checkFolder(source)
    await this.#each((folder) => this.#pull(folder))
    await this.push()
  }

  /** Takes over what changed here, at most every five seconds. */
  async push(): Promise<void> {
    const { clock } = this.#options
    if (clock.now() - this.#pushedMs < PUSH_EVERY_MS) return
    await this.#each((folder) => this.#push(folder))
    this.#pushedMs = clock.now()
  }

  /** Brings back what changed there. Tried four times; what fails then stays over there and is told. */
  async finish(): Promise<void> {
    const { clock, logger } = this.#options
    for (const pauseMs of [...PULL_PAUSES_MS, null]) {
      try {
        return await this.#each((folder) => this.#pull(folder))
      } catch (error) {
        const isPassing = HermesError.isInstance(error) && error.retryable
        if (pauseMs !== null && isPassing) await clock.sleep(pauseMs)
        else return logger.warn('Changes over there did not come back.', { error: errorLine(error) })
      }
    }
  }

  async #each(work: (folder: SyncFolder) => Promise<void>): Promise<void> {
    for (const folder of this.#options.folders) await work(folder)
  }

  async #push(folder: SyncFolder): Promise<void> {
    const { host } = this.#options
    const { source, target } = folder
    const [known, files] = [this.#known(folder), await localFiles(source)]
    this.#checkSize(folder, files)
    const next = new Map(known)
    let batch: SentFile[] = []
    const send = async () => {
      if (batch.length > 0) await sendFiles(host, target, batch)
      batch = []
    }
    for (const [path, file] of files) {
      const before = known.get(path)
      if (before?.sizeBytes === file.sizeBytes && before.modifiedMs === file.modifiedMs) continue
      if (file.sizeBytes > MAX_FILE_BYTES) {
        this.#options.logger.warn('A file is too large to be taken over.', { source, path, bytes: file.sizeBytes })
        continue
      }
      const bytes = await readLocal(source, path)
      if (bytes === null) continue
      const hash = hashOf(bytes)
      next.set(path, { hash, sizeBytes: file.sizeBytes, modifiedMs: file.modifiedMs })
      if (before?.hash === hash) continue
      if (batch.reduce((sum, one) => sum + one.bytes.length, bytes.length) > REQUEST_BYTES) await send()
      batch.push({ path, bytes, isExecutable: file.isExecutable })
    }
    await send()
    const gone = [...known.keys()].filter((path) => !files.has(path))
    if (gone.length > 0) await removeRemote(host, target, gone)
    for (const path of gone) next.delete(path)
    if (known.size === 0 && files.size === 0) await sendFiles(host, target, [])
    this.#save(folder, next)
  }

  async #pull(folder: SyncFolder): Promise<void> {
    const { source, target, readOnly = false } = folder
    const remote = await remoteHashes(this.#options.host, target)
    const known = this.#known(folder)
    // Nothing is there at all: another sandbox than last time, not files that somebody removed.
    if (remote === null || (remote.size === 0 && known.size > 0)) return this.#save(folder, new Map())
    if (readOnly) return
    const next = new Map(known)
    // What git runs by itself is not taken from over there.
    const fresh = [...remote].filter(([path, hash]) => known.get(path)?.hash !== hash && !isGitPath(path))
    for (let at = 0; at < fresh.length; at += FETCH_AT_ONCE) {
      const part = new Map(fresh.slice(at, at + FETCH_AT_ONCE))
      for (const file of await fetchFiles(this.#options.host, target, [...part.keys()])) {
        if (hashOf(file.bytes) !== part.get(file.path)) continue
        const isTaken = await this.#take(folder, file, known.get(file.path)?.hash ?? null)
        const local = isTaken ? await statLocal(source, file.path) : null
        // Without a size and a time of its own it counts as changed here, and goes over.
        const { sizeBytes = -1, modifiedMs = -1 } = local ?? {}
        next.set(file.path, { hash: hashOf(file.bytes), sizeBytes, modifiedMs })
      }
    }
    for (const [path, { hash }] of known) {
      if (remote.has(path) || isGitPath(path)) continue
      const local = await readLocal(source, path)
      if (local !== null && hashOf(local) === hash) await removeLocal(source, path)
      next.delete(path)
    }
    this.#save(folder, next)
  }

  /** Puts a file from over there in its place here: `true`; or beside it when the one here changed too. */
  async #take({ source }: SyncFolder, file: SentFile, knownHash: string | null): Promise<boolean> {
    const local = await readLocal(source, file.path)
    const localHash = local && hashOf(local)
    if (localHash === hashOf(file.bytes)) return true
    const path = localHash === knownHash ? file.path : `${file.path}.sandbox`
    const isWritten = await writeLocal(source, path, file)
    if (isWritten && path === file.path) return true
    const why = isWritten
      ? 'A file changed on both sides; the other one is beside it.'
      : 'A file leads out of its folder.'
    this.#options.logger.warn(why, { source, path })
    return false
  }

  #checkSize({ source }: SyncFolder, files: ReadonlyMap<string, LocalFile>): void {
    const bytes = [...files.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    if (bytes <= MAX_FOLDER_BYTES) return
    throw new HermesError(`The folder ${source} is too large to be taken over; 2 GiB go.`, {
      code: 'environment.sync_too_large',
      details: { bytes, limitBytes: MAX_FOLDER_BYTES },
    })
  }

  #known(folder: SyncFolder): ReadonlyMap<string, Known> {
    try {
      return new Map(Object.entries(JSON.parse(readFileSync(this.#stateFile(folder), 'utf8')) as Record<string, Known>))
    } catch {
      return new Map()
    }
  }

  #save(folder: SyncFolder, known: ReadonlyMap<string, Known>): void {
    mkdirSync(this.#options.stateDir, { recursive: true, mode: 0o700 })
    const path = this.#stateFile(folder)
    writeFileSync(`${path}.tmp`, JSON.stringify(Object.fromEntries(known)), { mode: 0o600 })
    renameSync(`${path}.tmp`, path)
  }

  #stateFile({ source, target }: SyncFolder): string {
    const name = createHash('sha256')
      .update(JSON.stringify([this.#options.host.name, source, target]))
      .digest('hex')
    return join(this.#options.stateDir, `sync-${name.slice(0, 16)}.json`)
  }
}

async function checkFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (found?.isDirectory()) return
  throw new HermesError(`The folder ${path}, which is to be kept in step, is not there.`, {
    code: 'environment.not_found',
    details: { path },
  })
}
