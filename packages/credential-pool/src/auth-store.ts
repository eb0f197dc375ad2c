import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Clock, errorLine, HermesError, type Logger } from '@hermes/contracts'
import { type LockSeeker, seekLock, withLock, writePrivate } from '@hermes/files'
import { type AuthDocument, type AuthFile, readAuthFile, setAside, signatureOf } from './auth-file.js'

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
  async read(): Promise<AuthDocument> {
    const { path } = this.#options
    const signature = await signatureOf(path)
    if (signature !== null && this.#cached?.signature === signature) return this.#cached.document
    const file = await readAuthFile(path)
    if (file.type === 'malformed')
      return this.#exclusive(async () =>
        this.#usable(await readAuthFile(path)).then((document) => document ?? {}),
      ).catch((error: unknown) => {
        this.#tell(`${path} is kept as it is and not used: ${file.reason}. ${errorLine(error)}`)
        return {}
      })
    const document = (await this.#usable(file).catch(() => null)) ?? {}
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
          `${path} could not be used: ${again.reason}. It is kept as ${aside}; keys and logins in it have to be added again.`,
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
