import type { Work } from '../../shared/database.js'
import { pairUp } from '../../shared/index-text.js'
import { personIn, personKey } from '../../shared/person.js'
import type { SummaryFilter, SummaryIndex, SummaryRow } from '../../stores/summaries.js'
import type { Connection } from '../file/connection.js'
import { perform } from '../schema/perform.js'

const CREATE = [
  "CREATE VIRTUAL TABLE hermes_summaries_fts USING fts5(summary, keywords, content='', contentless_delete=1)",
  `CREATE TRIGGER hermes_summaries_delete AFTER DELETE ON hermes_summaries BEGIN
    DELETE FROM hermes_summaries_fts WHERE rowid = old.id;
  END`,
]
const EXISTS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
const ALL = 'SELECT id, summary, keywords FROM hermes_summaries'
const ONE = `${ALL} WHERE session_id = ?`
const INDEX = 'INSERT OR REPLACE INTO hermes_summaries_fts (rowid, summary, keywords) VALUES (?, ?, ?)'
const FIND = `
  SELECT s.* FROM hermes_summaries_fts f CROSS JOIN hermes_summaries s ON s.id = f.rowid
  CROSS JOIN sessions ON sessions.id = s.session_id
  WHERE hermes_summaries_fts MATCH ? AND s.session_id NOT IN (SELECT value FROM json_each(?))
    AND (? OR ${personIn('sessions.user_id')} = ?) ORDER BY f.rank, s.id DESC LIMIT ?`

type Row = Pick<SummaryRow, 'summary' | 'keywords'> & { readonly id: number }

/** A table of words next to that of the summaries: it is small, so it is brought up to date by each that is saved. */
export class SqliteSummaryIndex implements SummaryIndex {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  columns(): { readonly words?: string } {
    return {}
  }

  *saved(sessionId: string): Work<void> {
    if (!(yield* has('hermes_summaries_fts'))) return yield* makeIndex()
    const { rows } = yield { sql: ONE, parameters: [sessionId] }
    yield* addAll(rows as readonly Row[])
  }

  async find(expression: string, filter: SummaryFilter): Promise<readonly SummaryRow[]> {
    const { excludeSessions, person, limit } = filter
    const whose = [Number(person === undefined), personKey(person ?? null)]
    const read = <Result>(work: Work<Result>) => this.#connection.read(() => perform(this.#connection, work))
    if (!(await read(has('hermes_summaries')))) return []
    // What was recovered from a damaged file has its rows, and its index is made here.
    if (!(await read(has('hermes_summaries_fts'))))
      await this.#connection.write(() => perform(this.#connection, makeIndex()))
    return this.#connection.read(
      () =>
        this.#connection
          .statement(FIND)
          .all(expression, JSON.stringify(excludeSessions), ...whose, limit) as SummaryRow[],
    )
  }
}

function* has(table: string): Work<boolean> {
  return (yield { sql: EXISTS, parameters: [table] }).rows.length > 0
}

function* makeIndex(): Work<void> {
  if (yield* has('hermes_summaries_fts')) return
  for (const sql of CREATE) yield { sql, parameters: [] }
  yield* addAll((yield { sql: ALL, parameters: [] }).rows as readonly Row[])
}

function* addAll(rows: readonly Row[]): Work<void> {
  for (const { id, summary, keywords } of rows) {
    const words = pairUp((JSON.parse(keywords) as string[]).join(' '))
    yield { sql: INDEX, parameters: [id, pairUp(summary), words] }
  }
}
