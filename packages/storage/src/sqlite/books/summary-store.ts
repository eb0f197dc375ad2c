import type { Clock } from '@hermes/contracts'
import { pairUp } from '../../shared/index-text.js'
import { parseSearchQuery } from '../../shared/search-query.js'
import { unknownSession } from '../../shared/session-errors.js'
import { cleanSummary, type SummaryRow, summaryLimit, toSummary } from '../../shared/summary-rules.js'
import type { NewSessionSummary, SessionSummaries, SessionSummary } from '../../summaries.js'
import type { Connection } from '../file/connection.js'

// Made by the first that is saved, so that opening a store costs no more for it.
const CREATE = [
  `CREATE TABLE IF NOT EXISTS hermes_summaries (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE REFERENCES sessions(id) ON DELETE CASCADE,
    summary TEXT NOT NULL,
    keywords TEXT NOT NULL,
    up_to_seq INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
  )`,
  "CREATE VIRTUAL TABLE hermes_summaries_fts USING fts5(summary, keywords, content='', contentless_delete=1)",
  `CREATE TRIGGER hermes_summaries_delete AFTER DELETE ON hermes_summaries BEGIN
    DELETE FROM hermes_summaries_fts WHERE rowid = old.id;
  END`,
]
const EXISTS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
const SESSION = 'SELECT 1 FROM sessions WHERE id = ?'
const SAVE = `
  INSERT INTO hermes_summaries (session_id, summary, keywords, up_to_seq, created_ms)
  VALUES (:sessionId, :text, :keywords, :upToSeq, :nowMs)
  ON CONFLICT (session_id) DO UPDATE SET summary = :text, keywords = :keywords, up_to_seq = :upToSeq, created_ms = :nowMs
  RETURNING *`
const INDEX = 'INSERT OR REPLACE INTO hermes_summaries_fts (rowid, summary, keywords) VALUES (?, ?, ?)'
const ALL = 'SELECT * FROM hermes_summaries'
const GET = `${ALL} WHERE session_id = ?`
const FIND = `
  SELECT s.* FROM hermes_summaries_fts f CROSS JOIN hermes_summaries s ON s.id = f.rowid
  WHERE hermes_summaries_fts MATCH ? AND s.session_id NOT IN (SELECT value FROM json_each(?)) ORDER BY f.rank, s.id DESC LIMIT ?`

interface Row extends SummaryRow {
  readonly id: number
}

/** The table of summaries, with a word index of its own: it is small, so it is brought up to date by each that is saved. */
export class SummaryStore implements SessionSummaries {
  readonly #connection: Connection
  readonly #clock: Clock

  constructor(connection: Connection, { clock }: { readonly clock: Clock }) {
    this.#connection = connection
    this.#clock = clock
  }

  async save(summary: NewSessionSummary): Promise<void> {
    const { sessionId, text, keywords, upToSeq } = cleanSummary(summary)
    const parameters = { sessionId, text, keywords: JSON.stringify(keywords), upToSeq, nowMs: this.#clock.now() }
    await this.#connection.write(() => {
      if (this.#connection.statement(SESSION).get(sessionId) === undefined) throw unknownSession(sessionId)
      this.#make()
      this.#index(this.#connection.statement(SAVE).get(parameters) as Row)
    })
  }

  get(sessionId: string): Promise<SessionSummary | null> {
    return this.#connection.read(() => {
      if (!this.#has('hermes_summaries')) return null
      const row = this.#connection.statement(GET).get(sessionId) as Row | undefined
      return row ? toSummary(row) : null
    })
  }

  async search(
    query: string,
    { limit, excludeSessions = [] }: { limit?: number; excludeSessions?: readonly string[] } = {},
  ): Promise<readonly SessionSummary[]> {
    const parsed = parseSearchQuery(query)
    const wanted = summaryLimit(limit)
    if (parsed === null || wanted === 0 || !(await this.#connection.read(() => this.#has('hermes_summaries'))))
      return []
    // What was recovered from a damaged file has its rows, and its index is made here.
    if (!(await this.#connection.read(() => this.#has('hermes_summaries_fts'))))
      await this.#connection.write(() => this.#make())
    const rows = await this.#connection.read(() =>
      this.#connection.statement(FIND).all(parsed.expression, JSON.stringify(excludeSessions), wanted),
    )
    return (rows as Row[]).map(toSummary)
  }

  #has(table: string): boolean {
    return this.#connection.statement(EXISTS).get(table) !== undefined
  }

  #make(): void {
    if (this.#has('hermes_summaries_fts')) return
    for (const sql of CREATE) this.#connection.statement(sql).run()
    for (const row of this.#connection.statement(ALL).all() as Row[]) this.#index(row)
  }

  #index({ id, summary, keywords }: Row): void {
    this.#connection.statement(INDEX).run(id, pairUp(summary), pairUp((JSON.parse(keywords) as string[]).join(' ')))
  }
}
