import type { Clock } from '@hermes/contracts'
import { HermesError } from '@hermes/contracts'
import type { PersonFilter } from '../learnings.js'
import type { Database, Work } from '../shared/database.js'
import { first, run } from '../shared/database.js'
import { parseSearchQuery } from '../shared/search-query.js'
import { unknownSession } from '../shared/session-errors.js'
import type { NewSessionSummary, SessionSummaries, SessionSummary } from '../summaries.js'

/** Which summaries are looked for. */
export interface SummaryFilter extends PersonFilter {
  readonly excludeSessions: readonly string[]
  readonly limit: number
}

/** The word index of summaries, which each dialect has in its own way. */
export interface SummaryIndex {
  /** Columns of the table that belong to the index. */
  columns(summary: Pick<SummaryRow, 'summary' | 'keywords'>): { readonly words?: string }
  /** After a summary was saved. */
  saved(sessionId: string): Work<void>
  /** The best match first. `expression` is one of the words index. */
  find(expression: string, filter: SummaryFilter): Promise<readonly SummaryRow[]>
}

/** The table of summaries. */
export class SummaryStore implements SessionSummaries {
  readonly #database: Database
  readonly #clock: Clock
  readonly #index: SummaryIndex

  constructor(database: Database, options: { readonly clock: Clock; readonly index: SummaryIndex }) {
    this.#database = database
    this.#clock = options.clock
    this.#index = options.index
  }

  async save(input: NewSessionSummary): Promise<void> {
    const [database, index] = [this.#database, this.#index]
    const { sessionId, text, keywords, upToSeq } = cleanSummary(input)
    const words = { summary: text, keywords: JSON.stringify(keywords) }
    const columns = { ...words, up_to_seq: upToSeq, created_ms: this.#clock.now(), ...index.columns(words) }
    await database.write(`session ${sessionId}`, function* () {
      const session = database.builder.selectFrom('sessions').select('id').where('id', '=', sessionId)
      if (!(yield* first(session))) throw unknownSession(sessionId)
      yield* database.make('hermes_summaries')
      const insert = database.builder.insertInto('hermes_summaries').values({ session_id: sessionId, ...columns })
      yield* run(insert.onConflict((conflict) => conflict.column('session_id').doUpdateSet(columns)))
      yield* index.saved(sessionId)
    })
  }

  get(sessionId: string): Promise<SessionSummary | null> {
    const database = this.#database
    const query = database.builder.selectFrom('hermes_summaries').selectAll().where('session_id', '=', sessionId)
    return database.read(function* () {
      const row = (yield* database.has('hermes_summaries')) ? yield* first(query) : undefined
      return row ? toSummary(row) : null
    })
  }

  async search(
    query: string,
    { limit, excludeSessions = [], ...of }: Parameters<SessionSummaries['search']>[1] = {},
  ): Promise<readonly SessionSummary[]> {
    const parsed = parseSearchQuery(query)
    const wanted = summaryLimit(limit)
    if (parsed === null || wanted === 0) return []
    return (await this.#index.find(parsed.expression, { ...of, excludeSessions, limit: wanted })).map(toSummary)
  }
}

const MAX_CHARS = 4_000
const MAX_KEYWORDS = 30
const MAX_KEYWORD_CHARS = 60
const DEFAULT_LIMIT = 10
const MAX_LIMIT = 100

/** A summary as its table has it. */
export interface SummaryRow {
  readonly session_id: string
  readonly summary: string
  readonly keywords: string
  readonly up_to_seq: number
  readonly created_ms: number
}

/** What is saved of a summary. @throws HermesError `store.bad_summary` when it has no text. */
function cleanSummary({ keywords = [], text, ...summary }: NewSessionSummary): Required<NewSessionSummary> {
  const words = keywords.map((word) => cut(word, MAX_KEYWORD_CHARS)).filter(Boolean)
  const clean = { ...summary, text: cut(text, MAX_CHARS), keywords: [...new Set(words)].slice(0, MAX_KEYWORDS) }
  if (clean.text === '') throw new HermesError('A summary needs a text.', { code: 'store.bad_summary' })
  return clean
}

/** How many are looked for. */
function summaryLimit(limit = DEFAULT_LIMIT): number {
  return Number.isFinite(limit) ? Math.min(Math.max(0, Math.floor(limit)), MAX_LIMIT) : 0
}

/** What a row stands for. */
function toSummary(row: SummaryRow): SessionSummary {
  return {
    sessionId: row.session_id,
    text: row.summary,
    keywords: JSON.parse(row.keywords) as string[],
    upToSeq: row.up_to_seq,
    atMs: row.created_ms,
  }
}

function cut(text: string, maxChars: number): string {
  return text.trim().slice(0, maxChars).toWellFormed()
}
