import { errorLine, type Logger } from '@hermes/contracts'
import type { Connection } from './connection.js'
import { getMeta } from './meta.js'
import { INDEXED_KEY } from './schema-sql.js'

const DELAY_MS = 200
const BATCH_ROWS = 500
// Taking in this much holds the event loop and other writers for some 20 ms.
const BATCH_BYTES = 500_000

const COLUMNS = "SELECT name FROM pragma_table_info('messages_fts')"
const WAITING = `
  SELECT id, coalesce(octet_length(content), 0) + coalesce(octet_length(tool_calls), 0) AS bytes
  FROM messages WHERE id > ? ORDER BY id LIMIT ${BATCH_ROWS}`
// What is in the index already is known by its size record: another program's triggers may have put it there.
const INDEX = `
  INSERT INTO messages_fts (rowid, content, tool_name, tool_calls)
  SELECT id, content, tool_name, tool_calls FROM messages
  WHERE id > ? AND id <= ? AND NOT EXISTS (SELECT 1 FROM messages_fts_docsize WHERE messages_fts_docsize.id = messages.id)`
const SET_INDEXED = 'INSERT OR REPLACE INTO state_meta (key, value) VALUES (?, ?)'

/**
 * Takes words of new messages into the index: a moment after an append, many at a time, and in any case before a search. An append
 * would take twice as long if it did that itself. What a kill left out is taken in later, since the index says how far it goes.
 */
export class WordIndex {
  readonly #connection: Connection
  readonly #logger: Logger
  #timer: NodeJS.Timeout | null = null
  #isOurs: boolean | null = null

  constructor(connection: Connection, options: { readonly logger: Logger }) {
    this.#connection = connection
    this.#logger = options.logger
  }

  /** Has the index brought up to date soon. Keeps no process alive. */
  schedule(): void {
    if (this.#timer !== null) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      void this.catchUp()
    }, DELAY_MS)
    this.#timer.unref()
  }

  /** Brings the index up to date. Where that cannot be, on a read-only medium for one, it stays as it is. */
  async catchUp(): Promise<void> {
    try {
      while (await this.#connection.read(() => this.#isBehind())) await this.#connection.write(() => this.takeSome())
    } catch (error) {
      this.#logger.warn('the word index is not up to date', { error: errorLine(error) })
    }
  }

  /** Inside a transaction: takes in the next messages, as many as do not hold up others. */
  takeSome(): void {
    if (!this.#isBehind()) return
    const from = this.#indexedUpTo()
    let upTo = from
    let bytes = 0
    for (const row of this.#connection.statement(WAITING).iterate(from) as Iterable<{ id: number; bytes: number }>) {
      if (upTo > from && bytes + row.bytes > BATCH_BYTES) break
      upTo = row.id
      bytes += row.bytes
    }
    this.#connection.statement(INDEX).run(from, upTo)
    this.#connection.statement(SET_INDEXED).run(INDEXED_KEY, String(upTo))
  }

  /** Leaves the rest for later. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  /** The index of another program, with columns of its own, is kept by that program's triggers. */
  #isBehind(): boolean {
    this.#isOurs ??= this.#connection.statement(COLUMNS).pluck().all().includes('tool_calls')
    if (!this.#isOurs) return false
    return (
      this.#connection.statement('SELECT 1 FROM messages WHERE id > ? LIMIT 1').get(this.#indexedUpTo()) !== undefined
    )
  }

  #indexedUpTo(): number {
    return Number(getMeta(this.#connection, INDEXED_KEY) ?? 0)
  }
}
