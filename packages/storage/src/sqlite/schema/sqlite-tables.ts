import type { TableMaker, Work } from '../../shared/database.js'
import type { LaterTable } from '../../shared/tables.js'
import { ADDED_COLUMNS, LATER_TABLES } from './later-tables.js'
import { SqliteRunner } from './perform.js'

/** The tables that a file gets by their first row. */
export class SqliteTables extends SqliteRunner implements TableMaker {
  readonly dialect = 'sqlite';

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
    const [column, definition] = ADDED_COLUMNS[table] ?? []
    if (column === undefined || (yield* this.has(table, column))) return
    yield { sql: `ALTER TABLE ${table} ADD COLUMN ${column} ${definition}`, parameters: [] }
  }

  /** A write keeps out all others. */
  claim(table: LaterTable): Work<void> {
    return this.make(table)
  }
}
