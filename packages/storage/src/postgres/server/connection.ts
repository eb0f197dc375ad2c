import { type Clock, HermesError, type Logger } from '@hermes/contracts'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { isBusy, isCut, toStoreError } from './postgres-error.js'
import type { ServerAddress } from './server-address.js'
import { Statements } from './statements.js'

const MAX_RETRIES = 15
const MIN_WAIT_MS = 20
const MAX_WAIT_MS = 150
const MAX_CONNECTIONS = 6
const CONNECT_TIMEOUT_MS = 10_000
/** A network that swallows everything shows itself by this alone. */
const QUERY_TIMEOUT_MS = 60_000

/** What a connection needs besides the address. */
interface ConnectionOptions {
  readonly address: ServerAddress
  readonly clock: Clock
  readonly logger: Logger
}

/** A few connections to one database, made when they are needed and gone when they are idle; they keep no process alive. */
export class Connection {
  readonly #options: ConnectionOptions
  readonly #builder: Kysely<unknown>
  readonly #statements: Statements
  readonly #lastWrites = new Map<string, Promise<unknown>>()
  #closed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    const pool = new pg.Pool(poolOptions(options.address))
    // A connection that ends makes the statement under way fail, if there is one; the next to need one makes another. Without somebody who
    // hears of it, in use or not, it would end the process.
    const ended = (error: Error) => options.logger.debug('a connection to the store ended', { error: error.message })
    pool.on('error', ended)
    pool.on('connect', (client) => client.on('error', ended))
    this.#builder = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
    this.#statements = new Statements(this.#builder)
  }

  get address(): ServerAddress {
    return this.#options.address
  }

  get builder(): Kysely<unknown> {
    return this.#builder
  }

  /** Reads; each statement sees what was committed before it. Goes on after a lost connection. */
  read<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result> {
    return this.#attempt(() => work(this.#statements), { isRepeatable: true })
  }

  /**
   * Changes all or nothing in one transaction; resolves once committed. Writes with the same `key` run in the order they were asked
   * for, others side by side.
   */
  write<Result>(key: string, work: (statements: Statements) => Promise<Result>): Promise<Result> {
    const transaction = () => this.#builder.transaction().execute((builder) => work(new Statements(builder)))
    return this.#inOrder(key, () => this.#attempt(transaction))
  }

  /** Like {@link write} for one statement, which is a transaction by itself and costs one way to the server and back. */
  writeOne<Result>(key: string, work: (statements: Statements) => Promise<Result>): Promise<Result> {
    return this.#inOrder(key, () => this.#attempt(() => work(this.#statements)))
  }

  /** Lets earlier writes finish, does `lastWork` if it can be done, and ends the connections. */
  async close(lastWork: (statements: Statements) => Promise<unknown>): Promise<void> {
    if (this.#closed) return
    await Promise.all(this.#lastWrites.values())
    await lastWork(this.#statements).catch((error: unknown) => {
      const line = toStoreError(error, this.address).message
      this.#options.logger.warn('store closed without its last write', { error: line })
    })
    this.#closed = true
    await this.#builder.destroy()
  }

  #inOrder<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#lastWrites.get(key)
    const done = before ? before.then(work) : work()
    const settled = done.then(
      () => undefined,
      () => undefined,
    )
    this.#lastWrites.set(key, settled)
    void settled.then(() => this.#lastWrites.get(key) === settled && this.#lastWrites.delete(key))
    return done
  }

  async #attempt<Result>(work: () => Promise<Result>, { isRepeatable = false } = {}): Promise<Result> {
    const { address, clock, logger } = this.#options
    for (let attempt = 0; ; attempt++) {
      if (this.#closed) throw new HermesError(`The store ${address.shown} is closed.`, { code: 'store.closed' })
      try {
        return await work()
      } catch (error) {
        const mayRepeat = isBusy(error) || (isRepeatable && isCut(error))
        if (!mayRepeat || attempt >= MAX_RETRIES) throw toStoreError(error, address)
      }
      const waitMs = MIN_WAIT_MS + Math.random() * (MAX_WAIT_MS - MIN_WAIT_MS)
      logger.debug('store is busy, waiting', { store: address.shown, attempt, waitMs })
      await clock.sleep(waitMs)
    }
  }
}

function poolOptions(address: ServerAddress): pg.PoolConfig {
  const { host, port, user, password, database, ssl, options } = address
  return {
    host,
    port,
    user,
    database,
    ssl,
    options,
    // Asked for by the client when the server wants one, before files and variables of its own are looked at.
    password: () => {
      if (password !== null) return password
      throw new HermesError(`${address.shown} wants a password; put it into the url.`, { code: 'store.refused' })
    },
    application_name: 'hermes',
    client_encoding: 'UTF8',
    max: MAX_CONNECTIONS,
    allowExitOnIdle: true,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    types: { getTypeParser },
  }
}

const BIGINT = 20
const NUMERIC = 1700
const BIGINTS = 1016

/** Counts and sums fit into a number. */
function getTypeParser(id: number, format?: 'text' | 'binary') {
  if (id === BIGINT || id === NUMERIC) return Number
  if (id === BIGINTS) return (text: string) => text.slice(1, -1).split(',').filter(Boolean).map(Number)
  return pg.types.getTypeParser(id, format as 'text')
}
