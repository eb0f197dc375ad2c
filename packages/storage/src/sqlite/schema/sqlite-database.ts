import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import type { Database } from '../../shared/database.js'
import type { Tables } from '../../shared/tables.js'
import type { Connection } from '../file/connection.js'
import { SqliteTables } from './sqlite-tables.js'

/**
 * Built statements on a file. Loaded by the first of them: loading the builder takes longer than starting a session without it.
 */
export class SqliteDatabase extends SqliteTables implements Database {
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
}
