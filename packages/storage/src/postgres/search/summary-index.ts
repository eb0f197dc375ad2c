import type { Work } from '../../shared/database.js'
import { personIn, personKey } from '../../shared/person.js'
import type { SummaryFilter, SummaryIndex, SummaryRow } from '../../stores/summaries.js'
import type { Connection } from '../server/connection.js'
import { textWords, toTsQuery } from './words.js'

const FIND = `
  SELECT session_id, summary, keywords, up_to_seq, created_ms FROM CAST($1 AS tsquery) AS query, hermes_summaries
  JOIN sessions ON sessions.id = session_id
  WHERE words @@ query AND session_id <> ALL ($2::text[]) AND ($4::text IS NULL OR ${personIn('user_id')} = $4::text)
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

  async find(expression: string, filter: SummaryFilter): Promise<readonly SummaryRow[]> {
    const { excludeSessions, person, limit } = filter
    const query = toTsQuery(expression)
    const whose = person === undefined ? null : personKey(person)
    return this.#connection.read((statements) => statements.all<SummaryRow>(FIND, query, excludeSessions, limit, whose))
  }
}
