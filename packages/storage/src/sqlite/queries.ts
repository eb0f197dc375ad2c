import type { SessionInfo } from '@hermes/contracts/store'
import {
  type Compilable,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import type { LatestSessionFilter, ListSessionsOptions } from '../storage.js'
import type { Connection } from './connection.js'
import { SESSION_ROWS, type SessionRow, toSessionInfo } from './session-row.js'
import type { Tables } from './tables.js'
import { splitTitle } from './title.js'

/** Sessions of agents that others started: nobody goes on with them, so they are listed by name of source only. */
const CHILDREN = 'subagent'

const DEFAULT_LIST_LIMIT = 20
const LAST_CHARACTER = '\u{10ffff}'

const sessionRows = () => sql<SessionRow & { last_active_ms: number }>`(${sql.raw(SESSION_ROWS)})`.as('session')

/**
 * Queries whose shape depends on what is asked. They live apart because loading the query builder takes longer than starting a
 * session without it. Each one is built here and run by the connection, inside the caller's transaction.
 */
export class Queries {
  readonly #connection: Connection
  readonly #builder: Kysely<Tables>

  constructor(connection: Connection) {
    this.#connection = connection
    this.#builder = new Kysely<Tables>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (database) => new SqliteIntrospector(database),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    })
  }

  list(options: ListSessionsOptions = {}): SessionInfo[] {
    const { source, limit = DEFAULT_LIST_LIMIT, offset = 0, includeEmpty = false } = options
    let query = this.#newestFirst().limit(wholeNumber(limit)).offset(wholeNumber(offset))
    query = source === undefined ? query.where('source', '<>', CHILDREN) : query.where('source', '=', source)
    if (!includeEmpty) query = query.where('message_count', '>', 0)
    return this.#sessions(query)
  }

  latest({ source, cwd }: LatestSessionFilter = {}): SessionInfo | null {
    let query = this.#newestFirst().where('message_count', '>', 0).limit(1)
    query = source === undefined ? query.where('source', '<>', CHILDREN) : query.where('source', '=', source)
    if (cwd !== undefined) query = query.where('cwd', '=', cwd)
    return this.#sessions(query)[0] ?? null
  }

  /** `base` and `base #2`, `base #3` …, newest activity first. */
  lineage(base: string): SessionInfo[] {
    const query = this.#newestFirst().where((where) =>
      where.or([
        where('title', '=', base),
        where.and([where('title', '>=', `${base} #`), where('title', '<', `${base} #:`)]),
      ]),
    )
    return this.#sessions(query).filter(({ title }) => title === base || splitTitle(title ?? '').base === base)
  }

  /** Sessions whose id begins with `prefix`, newest activity first. */
  withPrefix(prefix: string, limit: number): SessionInfo[] {
    const query = this.#newestFirst()
      .where('id', '>=', prefix)
      .where('id', '<', prefix + LAST_CHARACTER)
    return this.#sessions(query.limit(limit))
  }

  #newestFirst() {
    return this.#builder
      .selectFrom(sessionRows())
      .selectAll()
      .orderBy('last_active_ms', 'desc')
      .orderBy('started_at', 'desc')
      .orderBy('id', 'desc')
  }

  #sessions(query: Compilable<SessionRow>): SessionInfo[] {
    return this.#rows(query).map(toSessionInfo)
  }

  #rows<Row>(query: Compilable<Row>): Row[] {
    const { sql: text, parameters } = query.compile()
    return this.#connection.statement(text).all(...parameters) as Row[]
  }
}

function wholeNumber(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0
}
