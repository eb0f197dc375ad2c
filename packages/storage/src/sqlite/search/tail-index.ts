import { type IndexedMessage, toIndexText } from '../../shared/index-text.js'
import type { Connection } from '../file/connection.js'
import { readMeta } from '../schema/read-meta.js'
import { INDEXED_KEY } from '../schema/schema-sql.js'

const MAX_ROWS = 1_000
const MAX_CHARS = 1_000_000

const CREATE = "CREATE VIRTUAL TABLE temp.hermes_tail USING fts5(content, content='', contentless_delete=1)"
const EMPTY = "INSERT INTO hermes_tail(hermes_tail) VALUES ('delete-all')"
const INSERT = 'INSERT OR REPLACE INTO hermes_tail (rowid, content) VALUES (?, ?)'
const NEWER = `
  SELECT m.id, m.session_id, coalesce(s.source, '') AS source, m.role, m.content, m.tool_name, m.tool_calls
  FROM messages m LEFT JOIN sessions s ON s.id = m.session_id WHERE m.id > ? ORDER BY m.id LIMIT ${MAX_ROWS + 1}`

/**
 * The words of messages that are not in the index yet, in memory. A search that took them into the index first would have to wait for
 * whoever is writing, and for the disk.
 */
export class TailIndex {
  readonly #connection: Connection
  #isMade = false
  #upTo = 0

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Inside a transaction: takes in what has come since, and forgets what the index has. `false` when there is too much of it. */
  refresh(): boolean {
    const indexed = Number(readMeta(this.#connection, INDEXED_KEY) ?? 0)
    if (!this.#isMade) this.#connection.statement(CREATE).run()
    else if (indexed >= this.#upTo) this.#connection.statement(EMPTY).run()
    this.#isMade = true
    this.#upTo = Math.max(this.#upTo, indexed)
    const rows = this.#connection.statement(NEWER).all(this.#upTo) as (IndexedMessage & { readonly id: number })[]
    const chars = rows.reduce((sum, row) => sum + (row.content?.length ?? 0) + (row.tool_calls?.length ?? 0), 0)
    if (rows.length > MAX_ROWS || chars > MAX_CHARS) return false
    for (const row of rows) this.#connection.statement(INSERT).run(row.id, toIndexText(row))
    this.#upTo = rows.at(-1)?.id ?? this.#upTo
    return true
  }
}
