import type { Work } from '../../shared/database.js'
import type { SummaryRow } from '../../shared/summary-rules.js'
import type { SummaryIndex } from '../../stores/summaries.js'
import type { Connection } from '../server/connection.js'
import { textWords, toTsQuery } from './words.js'

const FIND = `
  SELECT session_id, summary, keywords, up_to_seq, created_ms FROM hermes_summaries, CAST($1 AS tsquery) AS query
  WHERE words @@ query AND session_id <> ALL ($2::text[])
  ORDER BY ts_rank(words, query, 1) DESC, created_ms DESC, session_id LIMIT $3`

/** The words of a summary are a column of its row. */
export class PostgresSummaryIndex implements SummaryIndex {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  columns({ summary, keywords }: Pick<SummaryRow, 'summary' | 'keywords'>): { readonly words: string } {
    return { words: textWords([summary, ...(JSON.parse(keywords) as string[])].join('\n')) }
  }

  *saved(): Work<void> {}

  async find(expression: string, excludeSessions: readonly string[], limit: number): Promise<readonly SummaryRow[]> {
    const query = toTsQuery(expression)
    return this.#connection.read((statements) => statements.all<SummaryRow>(FIND, query, excludeSessions, limit))
  }
}
