import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import type { Database, Work } from '../../shared/database.js'
import type { LaterTable, Tables } from '../../shared/tables.js'
import type { Connection } from '../file/connection.js'
import { ADD_ESTIMATES, LATER_TABLES } from './later-tables.js'
import { SqliteRunner } from './perform.js'

/**
 * Built statements on a file. Loaded by the first of them: loading the builder takes longer than starting a session without it.
 */
export class SqliteDatabase extends SqliteRunner implements Database {
  readonly dialect = 'sqlite'
  readonly builder: Kysely<Tables>
  readonly sql = sql

  constructor(connection: Connection) {
    super(connection)
    this.builder = new Kysely<Tables>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (database) => new SqliteIntrospector(database),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    })
  }

  *has(table: LaterTable, column?: string): Work<boolean> {
    const named =
      column === undefined
        ? { where: '', parameters: [table] }
        : { where: ' WHERE name = ?', parameters: [table, column] }
    const { rows } = yield {
      sql: `SELECT 1 FROM pragma_table_info(?)${named.where} LIMIT 1`,
      parameters: named.parameters,
    }
    return rows.length > 0
  }

  *make(table: LaterTable): Work<void> {
    for (const create of LATER_TABLES[table]) yield { sql: create, parameters: [] }
    if (table === 'hermes_usage' && !(yield* this.has(table, 'estimated'))) yield { sql: ADD_ESTIMATES, parameters: [] }
  }

  /** A write keeps out all others. */
  claim(table: LaterTable): Work<void> {
    return this.make(table)
  }
}
