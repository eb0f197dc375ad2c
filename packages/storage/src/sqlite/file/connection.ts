import { type Clock, errorLine, HermesError, type Logger } from '@hermes/contracts'
import type BetterSqlite3 from 'better-sqlite3'
import type { SingleProcessLock } from './single-process-lock.js'
import { isBusy, toStoreError } from './store-error.js'

/** Waits come at random, so that those who wait do not all come back at once. On a machine that is overloaded a turn takes seconds. */
const QUICK_RETRIES = 15
const MAX_RETRIES = 30
const QUICK_WAIT_MS = [20, 150] as const
const SLOW_WAIT_MS = [150, 350] as const

/** What is used of the engine. */
export type OpenFile = Pick<BetterSqlite3.Database, 'prepare' | 'exec' | 'pragma' | 'transaction' | 'close' | 'open'>

/** What a connection needs. */
interface ConnectionOptions {
  readonly path: string
  readonly database: OpenFile
  /** Of a file without locks. Default: others may have it open too. */
  readonly owner?: SingleProcessLock
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * One open database. Work is synchronous and runs in one transaction, so nothing can come between its statements; only waiting
 * for other processes is asynchronous. Writes run in the order they were asked for.
 */
export class Connection {
  readonly #database: OpenFile
  readonly #options: ConnectionOptions
  readonly #transaction: BetterSqlite3.Transaction<(work: () => unknown) => unknown>
  readonly #statements = new Map<string, BetterSqlite3.Statement>()
  #lastWrite: Promise<unknown> = Promise.resolve()
  #closed = false
  #damage: HermesError | null = null

  constructor(options: ConnectionOptions) {
    const { database } = options
    this.#database = database
    this.#options = options
    this.#transaction = database.transaction((work: () => unknown) => work())
  }

  /** The file. */
  get path(): string {
    return this.#options.path
  }

  /** Whether nothing else may open the file, threads of this process included. */
  get isAlone(): boolean {
    return this.#options.owner !== undefined
  }

  /** A statement, prepared once. */
  statement(sql: string): BetterSqlite3.Statement {
    let statement = this.#statements.get(sql)
    if (!statement) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
    return statement
  }

  /** Reads from one consistent state of the database. */
  read<Result>(work: () => Result): Promise<Result> {
    return this.outside(() => this.#transaction.deferred(work) as Result)
  }

  /** From now on nothing is written any more: writing to a damaged file makes it worse. */
  forbidWrites(damage: HermesError): void {
    this.#damage = damage
  }

  /** Changes all or nothing; resolves once committed. */
  write<Result>(work: () => Result): Promise<Result> {
    const done = this.#lastWrite.then(() => {
      if (this.#damage) throw this.#damage
      this.#options.owner?.requireMine()
      return this.outside(() => this.#transaction.immediate(work) as Result)
    })
    this.#lastWrite = done.catch(() => undefined)
    return done
  }

  /** Runs what must not be inside a transaction. */
  async outside<Result>(work: () => Result): Promise<Result> {
    const { path, clock, logger } = this.#options
    for (let attempt = 0; ; attempt++) {
      try {
        if (!this.#database.open) throw new HermesError(`The store ${path} is closed.`, { code: 'store.closed' })
        return work()
      } catch (error) {
        if (!isBusy(error) || attempt >= MAX_RETRIES) throw toStoreError(error, path)
      }
      const [minMs, maxMs] = attempt < QUICK_RETRIES ? QUICK_WAIT_MS : SLOW_WAIT_MS
      const waitMs = minMs + Math.random() * (maxMs - minMs)
      logger.debug('store is locked by another process, waiting', { path, attempt, waitMs })
      await clock.sleep(waitMs)
    }
  }

  /** Lets earlier writes finish, does `lastWork` if it can be done, and closes. */
  async close(lastWork: () => void): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.write(lastWork).catch((error: unknown) => {
      if (error === this.#damage) return
      this.#options.logger.warn('store closed without its last write', { error: errorLine(error) })
    })
    this.#database.close()
    this.#options.owner?.release()
  }
}
