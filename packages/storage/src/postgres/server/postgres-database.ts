import { type Kysely, sql } from 'kysely'
import type { Database, Work } from '../../shared/database.js'
import type { LaterTable, Tables } from '../../shared/tables.js'
import type { Connection } from './connection.js'

/** Built statements on a server. */
export class PostgresDatabase implements Database {
  readonly dialect = 'postgres'
  readonly builder: Kysely<Tables>
  readonly sql = sql
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
    this.builder = connection.builder as unknown as Kysely<Tables>
  }

  read<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#connection.read((statements) => statements.perform(work()))
  }

  write<Result>(key: string, work: () => Work<Result>): Promise<Result> {
    return this.#connection.write(key, (statements) => statements.perform(work()))
  }

  *has(): Work<boolean> {
    yield* this.make()
    return true
  }

  /** All tables are made when the store is opened. */
  *make(): Work<void> {}

  *claim(table: LaterTable): Work<void> {
    yield { sql: `LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`, parameters: [] }
  }
}
