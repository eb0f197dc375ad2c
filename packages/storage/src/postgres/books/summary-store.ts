import type { Clock } from '@hermes/contracts'
import { parseSearchQuery } from '../../shared/search-query.js'
import { cleanSummary, type SummaryRow, summaryLimit, toSummary } from '../../shared/summary-rules.js'
import type { NewSessionSummary, SessionSummaries, SessionSummary } from '../../summaries.js'
import { textWords, toTsQuery } from '../search/words.js'
import type { Connection } from '../server/connection.js'
import { ofKnownSession } from '../server/postgres-error.js'

const SAVE = `
  INSERT INTO hermes_summaries (session_id, summary, keywords, up_to_seq, created_ms, words) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (session_id) DO UPDATE SET summary = excluded.summary, keywords = excluded.keywords,
    up_to_seq = excluded.up_to_seq, created_ms = excluded.created_ms, words = excluded.words`
const COLUMNS = 'session_id, summary, keywords, up_to_seq, created_ms'
const GET = `SELECT ${COLUMNS} FROM hermes_summaries WHERE session_id = $1`
const FIND = `
  SELECT ${COLUMNS} FROM hermes_summaries, CAST($1 AS tsquery) AS query
  WHERE words @@ query AND session_id <> ALL ($2::text[])
  ORDER BY ts_rank(words, query, 1) DESC, created_ms DESC, session_id LIMIT $3`

/** Summaries of sessions on PostgreSQL, found by the words in them. */
export class SummaryStore implements SessionSummaries {
  readonly #connection: Connection
  readonly #clock: Clock

  constructor(connection: Connection, { clock }: { readonly clock: Clock }) {
    this.#connection = connection
    this.#clock = clock
  }

  async save(summary: NewSessionSummary): Promise<void> {
    const { sessionId, text, keywords, upToSeq } = cleanSummary(summary)
    const words = textWords(`${text}\n${keywords.join('\n')}`)
    const parameters = [sessionId, text, JSON.stringify(keywords), upToSeq, this.#clock.now(), words]
    await this.#connection.writeOne(`session ${sessionId}`, (statements) =>
      ofKnownSession(sessionId, statements.run(SAVE, ...parameters)),
    )
  }

  get(sessionId: string): Promise<SessionSummary | null> {
    return this.#connection.read(async (statements) => {
      const row = await statements.first<SummaryRow>(GET, sessionId)
      return row ? toSummary(row) : null
    })
  }

  async search(
    query: string,
    { limit, excludeSessions = [] }: { limit?: number; excludeSessions?: readonly string[] } = {},
  ): Promise<readonly SessionSummary[]> {
    const parsed = parseSearchQuery(query)
    const wanted = summaryLimit(limit)
    if (parsed === null || wanted === 0) return []
    const expression = toTsQuery(parsed.expression)
    return this.#connection.read(async (statements) =>
      (await statements.all<SummaryRow>(FIND, expression, excludeSessions, wanted)).map(toSummary),
    )
  }
}
