import { createHash } from 'node:crypto'
import { chmod, link, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock, JsonObject, JsonValue, Logger } from '@hermes/contracts'
import { errorLine, HermesError, isJsonObject } from '@hermes/contracts'
import type { LockSeeker } from '@hermes/files'
import { seekLock, withLock, writePrivate } from '@hermes/files'

/** A program that does not write atomically may be in the middle of it. */
const SECOND_LOOK_MS = 50

/** Options of {@link AuthStore}. */
interface AuthStoreOptions {
  /** `auth.json` of a home. Absolute. Locks are in `PATH.locks`. */
  readonly path: string
  readonly clock: Clock
  readonly logger: Logger
  /** Told once of each thing that is wrong with the file, in one line without secrets. Must not throw. */
  readonly onProblem?: ((line: string) => void) | undefined
}

/** One `auth.json` that several processes read and write. */
export class AuthStore {
  readonly #options: AuthStoreOptions
  readonly #notified = new Set<string>()
  #cached: { readonly signature: string; readonly document: AuthDocument } | null = null

  constructor(options: AuthStoreOptions) {
    this.#options = options
  }

  /** The file as it is now; an empty document when there is none or it cannot be used. Never rejects. */
  read(): Promise<AuthDocument> {
    return this.readable().catch(() => ({}))
  }

  /** The same where something is decided by what is not in it. @throws HermesError `credentials.unreadable` where it cannot be read. */
  async readable(): Promise<AuthDocument> {
    const { path } = this.#options
    const signature = await signatureOf(path)
    if (signature !== null && this.#cached?.signature === signature) return this.#cached.document
    const file = await readAuthFile(path)
    if (file.type === 'malformed')
      return this.#exclusive(async () =>
        this.#usable(await readAuthFile(path)).then((document) => document ?? {}),
      ).catch((error: unknown) => {
        const line = `${path} is kept as it is and not used: ${file.reason}. ${errorLine(error)}`
        this.#tell(line)
        throw new HermesError(line, { code: 'credentials.unreadable' })
      })
    const document = (await this.#usable(file)) ?? {}
    if (file.type === 'file' && signature !== null) this.#cached = { signature, document }
    return document
  }

  /**
   * Reads, changes and writes in one step that no other process can come between. `change` gives the new document, or the same one to
   * write nothing; it must be pure and quick.
   * @throws HermesError `files.not_writable`, `files.locked`, `credentials.unreadable`; and what `change` throws.
   */
  async update<T>(
    change: (document: AuthDocument) => { readonly document: AuthDocument; readonly result: T },
  ): Promise<T> {
    const { path } = this.#options
    return this.#exclusive(async () => {
      const before = (await this.#usable(await readAuthFile(path))) ?? { version: 1 }
      const { document, result } = change(before)
      if (document !== before) await writePrivate(path, `${JSON.stringify(document, null, 2)}\n`)
      return result
    })
  }

  /** A seeker of the lock that stands for `name`; different names do not hinder each other. */
  seekLock(name: string): Promise<LockSeeker> {
    return seekLock(this.#lockFile(name))
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const busy = `Other processes keep ${this.#options.path} locked; try again.`
    return withLock(this.#lockFile('file'), { busy }, work)
  }

  #lockFile(name: string): string {
    const hash = createHash('sha256').update(name).digest('hex').slice(0, 16)
    return join(`${this.#options.path}.locks`, hash)
  }

  /** The document of a file; `null` when there is none. A malformed file has been kept aside then. Needs the lock if it is malformed. */
  async #usable(file: AuthFile): Promise<AuthDocument | null> {
    const { path, clock } = this.#options
    switch (file.type) {
      case 'missing':
        return null
      case 'file':
        if (file.isOpenToOthers) this.#tell(`Others can read ${path}. Run: chmod 600 ${path}`)
        return file.document
      case 'unreadable':
        this.#tell(`Cannot read ${path}: ${file.reason}.`)
        throw new HermesError(`Cannot read ${path}: ${file.reason}.`, { code: 'credentials.unreadable' })
      case 'malformed': {
        await delay(SECOND_LOOK_MS)
        const again = await readAuthFile(path)
        if (again.type !== 'malformed') return this.#usable(again)
        const aside = await setAside(path, clock.now())
        this.#tell(
          `${path} could not be used: ${again.reason}. It is kept as ${aside}; keys and logins in it have to be added again, and accounts of projects chosen again.`,
        )
        return null
      }
      default:
        return file satisfies never
    }
  }

  #tell(line: string): void {
    if (this.#notified.has(line)) return
    this.#notified.add(line)
    this.#options.logger.warn(line)
    this.#options.onProblem?.(line)
  }
}

/** The whole of `auth.json`. Everything that is not known here is kept as it is. */
export type AuthDocument = JsonObject

/** What there is at the path. */
type AuthFile =
  | { readonly type: 'missing' }
  | { readonly type: 'file'; readonly document: AuthDocument; readonly isOpenToOthers: boolean }
  | { readonly type: 'malformed'; readonly reason: string }
  | { readonly type: 'unreadable'; readonly reason: string }

/** Reads and checks the file. Never rejects. */
async function readAuthFile(path: string): Promise<AuthFile> {
  try {
    const found = await stat(path)
    // A pipe or a device may never end.
    if (!found.isFile()) return { type: 'unreadable', reason: 'it is not a file' }
    return parse(await readFile(path, 'utf8'), (found.mode & 0o077) !== 0)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { type: 'missing' }
      : { type: 'unreadable', reason: errorLine(error) }
  }
}

function parse(text: string, isOpenToOthers: boolean): AuthFile {
  let value: JsonValue
  try {
    // An empty file is the work of `touch`: nothing is lost in it.
    value = JSON.parse(text.replace(/^\uFEFF/, '').trim() || '{}') as JsonValue
  } catch {
    // What the parser says quotes the text, which holds secrets.
    return { type: 'malformed', reason: 'it is not valid JSON' }
  }
  if (!isJsonObject(value)) return { type: 'malformed', reason: 'it is not a JSON object' }
  const pool = value['credential_pool']
  if (pool !== undefined && pool !== null && !isJsonObject(pool))
    return { type: 'malformed', reason: 'its credential_pool is not an object' }
  for (const [provider, entries] of Object.entries(pool ?? {}))
    if (!Array.isArray(entries))
      return { type: 'malformed', reason: `its credential_pool.${JSON.stringify(provider)} is not a list` }
  return { type: 'file', document: value, isOpenToOthers }
}

/** Changes whenever the file may have changed; `null` when there is none. */
async function signatureOf(path: string): Promise<string | null> {
  return stat(path, { bigint: true }).then(
    ({ ino, size, mtimeNs, ctimeNs }) => [ino, size, mtimeNs, ctimeNs].join(),
    () => null,
  )
}

/** Gives the file another name, one that is free, and says which. It is never written over. */
async function setAside(path: string, nowMs: number): Promise<string> {
  const stamp = new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '').replace('T', '-')
  for (let attempt = 0; ; attempt++) {
    const aside = `${path}.broken-${stamp}${attempt === 0 ? '' : `-${attempt}`}`
    try {
      await link(path, aside)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw error
    }
    await chmod(aside, 0o600)
    await rm(path)
    return aside
  }
}
