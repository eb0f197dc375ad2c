import type { MessageEntry } from '@hermes/contracts/conversation'
import { FORGET_PARTIAL, type PartialRow, toLeftAnswer } from '../../shared/partial-row.js'
import type { Connection } from '../file/connection.js'

// Made by the first answer that takes a second.
const CREATE = `CREATE TABLE IF NOT EXISTS hermes_partials (
    session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
    after_seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    payload TEXT NOT NULL
  )`
const EXISTS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'hermes_partials'"
const NEWEST = 'SELECT coalesce(max(id), 0) FROM messages WHERE session_id = ?'
const PUT = 'INSERT OR REPLACE INTO hermes_partials (session_id, after_seq, at_ms, payload) VALUES (?, ?, ?, ?)'
const GET = 'SELECT after_seq, at_ms, payload FROM hermes_partials WHERE session_id = ?'

/** Answers that are being streamed: a row per session, outside the log. All of it runs inside transactions. */
export class Partials {
  readonly #connection: Connection
  readonly #kept = new Set<string>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** In place of what was kept before. */
  put(sessionId: string, entry: MessageEntry, atMs: number): void {
    if (!this.#kept.has(sessionId)) this.#connection.statement(CREATE).run()
    this.#kept.add(sessionId)
    this.#connection.statement(PUT).run(sessionId, this.#newest(sessionId), atMs, JSON.stringify(entry))
  }

  /** Costs nothing in a session of which nothing was kept: what others kept went into the log with the lease. */
  forget(sessionId: string): void {
    if (this.#kept.has(sessionId)) this.#connection.statement(FORGET_PARTIAL).run(sessionId)
  }

  has(sessionId: string): boolean {
    return (
      this.#connection.statement(EXISTS).get() !== undefined &&
      this.#connection.statement(GET).get(sessionId) !== undefined
    )
  }

  /** Takes away what was kept; `null` when there is nothing that belongs into the log. */
  take(sessionId: string): ReturnType<typeof toLeftAnswer> {
    if (!this.has(sessionId)) return null
    const row = this.#connection.statement(GET).get(sessionId) as PartialRow
    this.#connection.statement(FORGET_PARTIAL).run(sessionId)
    return toLeftAnswer(row, this.#newest(sessionId))
  }

  #newest(sessionId: string): number {
    return this.#connection.statement(NEWEST).pluck().get(sessionId) as number
  }
}
