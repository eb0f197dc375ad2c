import type { MessageEntry } from '@hermes/contracts/conversation'
import { FORGET_PARTIAL, type PartialRow, toLeftAnswer } from '../../shared/partial-row.js'
import { numbered, type Statements } from '../server/statements.js'

const NEWEST = '(SELECT coalesce(max(id), 0) FROM messages WHERE session_id = $1)'
/** Only while the lease is held, which is checked by writing to its row. */
const PUT = `
  WITH held AS (
    UPDATE hermes_leases SET renewed_ms = $4 WHERE token = $5 AND session_id = $1 RETURNING session_id
  )
  INSERT INTO hermes_partials (session_id, after_seq, at_ms, payload) SELECT $1, ${NEWEST}, $2, $3 FROM held
  ON CONFLICT (session_id) DO UPDATE SET after_seq = excluded.after_seq, at_ms = excluded.at_ms, payload = excluded.payload`
const HAS = 'SELECT 1 FROM hermes_partials WHERE session_id = $1'
const TAKE = `
  DELETE FROM hermes_partials WHERE session_id = $1 RETURNING after_seq, at_ms, payload, ${NEWEST} AS newest_seq`

/** Answers that are being streamed: a row per session, outside the log. */
export class Partials {
  readonly #kept = new Set<string>()

  /** In place of what was kept before. `false` when the lease is lost. */
  async put(
    statements: Statements,
    sessionId: string,
    {
      entry,
      atMs,
      nowMs,
      token,
    }: { readonly entry: MessageEntry; readonly atMs: number; readonly nowMs: number; readonly token: number },
  ): Promise<boolean> {
    this.#kept.add(sessionId)
    return (await statements.run(PUT, sessionId, atMs, JSON.stringify(entry), nowMs, token)) === 1
  }

  /** Whether this process kept something of the session; what others kept went into the log with the lease. */
  isKept(sessionId: string): boolean {
    return this.#kept.has(sessionId)
  }

  async forget(statements: Statements, sessionId: string): Promise<void> {
    await statements.run(numbered(FORGET_PARTIAL), sessionId)
  }

  async has(statements: Statements, sessionId: string): Promise<boolean> {
    return (await statements.first(HAS, sessionId)) !== undefined
  }

  /** Takes away what was kept; `null` when there is nothing that belongs into the log. */
  async take(statements: Statements, sessionId: string): Promise<ReturnType<typeof toLeftAnswer>> {
    const row = await statements.first<PartialRow & { readonly newest_seq: number }>(TAKE, sessionId)
    return row ? toLeftAnswer(row, row.newest_seq) : null
  }
}
