import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { OpenFile } from './connection.js'

const NAMES: Readonly<Record<number, string>> = {
  3: 'PERM',
  5: 'BUSY',
  6: 'LOCKED',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  19: 'CONSTRAINT',
  26: 'NOTADB',
}

/**
 * A file opened without a single lock, by the engine that comes with Node: `better-sqlite3` cannot be told to. Two connections that write
 * would destroy the file, so somebody else has to see to it that there is one. Answers like `better-sqlite3`, errors included.
 * `immutable`: nobody writes it, so that not even what a kill left beside it is looked at.
 * @see https://www.sqlite.org/vfs.html#standard_unix_vfses `unix-none`
 */
export function openLockless(path: string, { immutable = false }: { readonly immutable?: boolean } = {}): OpenFile {
  const url = pathToFileURL(path)
  url.search = immutable ? 'vfs=unix-none&mode=ro&immutable=1' : 'vfs=unix-none'
  const database = translated(() => new DatabaseSync(url))
  const file = new LocklessDatabase(database)
  // Otherwise a write-ahead log that is there already could not be read: it needs memory that processes share.
  if (!immutable) file.pragma('locking_mode = EXCLUSIVE')
  return file as unknown as OpenFile
}

class LocklessDatabase {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  get open(): boolean {
    return this.#database.isOpen
  }

  prepare(sql: string): LocklessStatement {
    return translated(() => {
      const statement = this.#database.prepare(sql)
      statement.setAllowUnknownNamedParameters(true)
      return new LocklessStatement(statement)
    })
  }

  exec(sql: string): this {
    translated(() => this.#database.exec(sql))
    return this
  }

  pragma(text: string, { simple = false }: { readonly simple?: boolean } = {}): unknown {
    const statement = this.prepare(`PRAGMA ${text}`)
    return simple ? statement.pluck().get() : statement.all()
  }

  transaction(work: (...args: unknown[]) => unknown) {
    const within =
      (begin: string) =>
      (...args: unknown[]) =>
        this.#within(begin, () => work(...args))
    return Object.assign(within('BEGIN'), { deferred: within('BEGIN'), immediate: within('BEGIN IMMEDIATE') })
  }

  #within(begin: string, work: () => unknown): unknown {
    this.exec(begin)
    try {
      const result = work()
      this.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#database.isTransaction) this.exec('ROLLBACK')
      throw error
    }
  }

  close(): this {
    if (this.#database.isOpen) translated(() => this.#database.close())
    return this
  }
}

class LocklessStatement {
  readonly #statement: StatementSync
  #isPlucked = false

  constructor(statement: StatementSync) {
    this.#statement = statement
  }

  /** Whether it gives rows. */
  get reader(): boolean {
    return this.#statement.columns().length > 0
  }

  pluck(): this {
    this.#statement.setReturnArrays((this.#isPlucked = true))
    return this
  }

  get(...parameters: never[]): unknown {
    return translated(() => this.#value(this.#statement.get(...parameters)))
  }

  all(...parameters: never[]): unknown[] {
    return translated(() => this.#statement.all(...parameters).map((row) => this.#value(row)))
  }

  /** All of them at once: what is left half read would keep the transaction open. */
  iterate(...parameters: never[]): IterableIterator<unknown> {
    return this.all(...parameters).values()
  }

  run(...parameters: never[]): unknown {
    return translated(() => this.#statement.run(...parameters))
  }

  #value(row: unknown): unknown {
    return this.#isPlucked ? (row as readonly unknown[] | undefined)?.[0] : row
  }
}

/** With the codes that `better-sqlite3` gives. */
function translated<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    const { errcode } = error as { readonly errcode?: number }
    if (errcode === undefined) throw error
    throw Object.assign(new Error((error as Error).message, { cause: error }), {
      code: `SQLITE_${NAMES[errcode & 0xff] ?? errcode}`,
    })
  }
}
