import { type Kysely, sql } from 'kysely'
import type { LatestSessionFilter, ListSessionsOptions } from '../storage.js'

/** Sessions of agents that others started: nobody goes on with them, so they are listed by name of source only. */
const CHILDREN = 'subagent'

const DEFAULT_LIST_LIMIT = 20
const LAST_CHARACTER = '\u{10ffff}'

/** What sessions are chosen and sorted by, in the dialect's own statement for the rows. */
interface SessionColumns {
  readonly id: string
  readonly source: string
  readonly title: string | null
  readonly cwd: string | null
  readonly message_count: number | null
  readonly last_active_ms: number
}

/** Builds the queries for sessions whose shape depends on what is asked; the newest activity comes first. */
export class SessionQueries {
  readonly #builder: Kysely<unknown>
  readonly #rows: string
  readonly #started: string

  /** `rows` is the statement that gives all sessions; `started` names their column with the time of the start. */
  constructor(builder: Kysely<unknown>, options: { readonly rows: string; readonly started: string }) {
    this.#builder = builder
    this.#rows = options.rows
    this.#started = options.started
  }

  list(options: ListSessionsOptions = {}) {
    const { source, tag, limit = DEFAULT_LIST_LIMIT, offset = 0, includeEmpty = false } = options
    let query = this.#ofSource(source).limit(wholeNumber(limit)).offset(wholeNumber(offset))
    if (!includeEmpty) query = query.where('message_count', '>', 0)
    if (tag !== undefined)
      query = query.where('id', 'in', sql<string>`(SELECT session_id FROM hermes_tags WHERE tag = ${tag})`)
    return query
  }

  latest({ source, cwd }: LatestSessionFilter = {}) {
    let query = this.#ofSource(source).where('message_count', '>', 0).limit(1)
    if (cwd !== undefined) query = query.where('cwd', '=', cwd)
    return query
  }

  /** Folders of sessions that were talked in. */
  folders() {
    return this.#builder
      .selectFrom(sql<SessionColumns>`(${sql.raw(this.#rows)})`.as('session'))
      .select('cwd')
      .where('source', '<>', CHILDREN)
      .where('message_count', '>', 0)
      .where('cwd', 'is not', null)
      .groupBy('cwd')
      .orderBy(sql`max(last_active_ms)`, 'desc')
  }

  /** `base` and what begins with `base #` and a digit. */
  lineage(base: string) {
    return this.#newestFirst().where((where) =>
      where.or([
        where('title', '=', base),
        where.and([where('title', '>=', `${base} #`), where('title', '<', `${base} #:`)]),
      ]),
    )
  }

  /** Sessions whose id begins with `prefix`. */
  withPrefix(prefix: string, limit: number) {
    return this.#newestFirst()
      .where('id', '>=', prefix)
      .where('id', '<', prefix + LAST_CHARACTER)
      .limit(limit)
  }

  #ofSource(source: string | undefined) {
    const query = this.#newestFirst()
    return source === undefined ? query.where('source', '<>', CHILDREN) : query.where('source', '=', source)
  }

  #newestFirst() {
    return this.#builder
      .selectFrom(sql<SessionColumns>`(${sql.raw(this.#rows)})`.as('session'))
      .selectAll()
      .orderBy('last_active_ms', 'desc')
      .orderBy(sql.ref(this.#started), 'desc')
      .orderBy('id', 'desc')
  }
}

function wholeNumber(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0
}
