import type { SessionInfo } from '@hermes/contracts/store'
import { type Compilable, DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { SessionQueries } from '../../shared/session-queries.js'
import { isOfLineage } from '../../shared/title.js'
import type { LatestSessionFilter, ListSessionsOptions } from '../../storage.js'
import type { Connection } from '../file/connection.js'
import { SESSION_ROWS, type SessionRow, toSessionInfo } from './session-row.js'

/**
 * Queries whose shape depends on what is asked. They live apart because loading the query builder takes longer than starting a
 * session without it. Each one is built here and run by the connection, inside the caller's transaction.
 */
export class Queries {
  readonly #connection: Connection
  readonly #queries: SessionQueries

  constructor(connection: Connection) {
    this.#connection = connection
    const builder = new Kysely<unknown>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (database) => new SqliteIntrospector(database),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    })
    this.#queries = new SessionQueries(builder, { rows: SESSION_ROWS, started: 'started_at' })
  }

  list(options?: ListSessionsOptions): SessionInfo[] {
    return this.#sessions(this.#queries.list(options))
  }

  latest(filter?: LatestSessionFilter): SessionInfo | null {
    return this.#sessions(this.#queries.latest(filter))[0] ?? null
  }

  folders(): string[] {
    const { sql, parameters } = this.#queries.folders().compile()
    return this.#connection
      .statement(sql)
      .pluck()
      .all(...parameters) as string[]
  }

  /** `base` and `base #2`, `base #3` …, newest activity first. */
  lineage(base: string): SessionInfo[] {
    return this.#sessions(this.#queries.lineage(base)).filter(({ title }) => isOfLineage(title, base))
  }

  /** Sessions whose id begins with `prefix`, newest activity first. */
  withPrefix(prefix: string, limit: number): SessionInfo[] {
    return this.#sessions(this.#queries.withPrefix(prefix, limit))
  }

  #sessions(query: Compilable): SessionInfo[] {
    const { sql, parameters } = query.compile()
    return (this.#connection.statement(sql).all(...parameters) as SessionRow[]).map(toSessionInfo)
  }
}
