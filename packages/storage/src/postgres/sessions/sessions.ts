import type { Clock } from '@hermes/contracts'
import type { NewSession, SessionChange, SessionInfo } from '@hermes/contracts/store'
import type { Database } from '../../shared/database.js'
import { FoundSessions } from '../../shared/found-sessions.js'
import { unknownSession } from '../../shared/session-errors.js'
import { changeSession } from '../../shared/session-row.js'
import type { ForkSession, StoredSessions } from '../../storage.js'
import { SESSION_ROWS, type SessionRow, toSessionInfo } from '../schema/session-row.js'
import type { Connection } from '../server/connection.js'
import { numbered } from '../server/statements.js'
import { forkSession } from './fork.js'
import type { PostgresLeases } from './leases.js'
import type { PostgresLog } from './log.js'
import { freeTitle, orTaken, type SessionRows } from './session-rows.js'

/** The sessions themselves: made, read, changed, removed. */
export class PostgresSessions extends FoundSessions<SessionRow> implements StoredSessions {
  readonly #connection: Connection
  readonly #rows: SessionRows
  readonly #log: PostgresLog

  constructor(
    connection: Connection,
    options: {
      readonly rows: SessionRows
      readonly database: Database
      readonly leases: PostgresLeases
      readonly log: PostgresLog
      readonly clock: Clock
      readonly process: string
    },
  ) {
    const { database, leases, clock, process } = options
    super({
      runner: database,
      database: async () => database,
      rows: SESSION_ROWS,
      started: 'started_ms',
      ended: { column: 'ended_ms', unitMs: 1 },
      toInfo: toSessionInfo,
      requireFree: (id) => leases.requireFree(id),
      clock,
      leaseClock: leases,
      process,
    })
    this.#connection = connection
    this.#rows = options.rows
    this.#log = options.log
  }

  create(session: NewSession): Promise<SessionInfo> {
    return this.#connection.write(`session ${session.id}`, (statements) => this.#rows.add(statements, session))
  }

  get(id: string): Promise<SessionInfo | null> {
    return this.#connection.read((statements) => this.#rows.read(statements, id))
  }

  fork(fork: ForkSession): Promise<SessionInfo> {
    return forkSession({ connection: this.#connection, rows: this.#rows, log: this.#log }, fork)
  }

  update(id: string, change: SessionChange): Promise<void> {
    return this.#connection.write(`session ${id}`, async (statements) => {
      if (!(await this.#rows.read(statements, id))) throw unknownSession(id)
      const title = typeof change.title === 'string' ? await freeTitle(statements, change.title, id) : change.title
      const update = changeSession(id, {
        title,
        ended_ms: change.endedAtMs,
        end_reason: change.endReason,
        model: change.model,
        billing_provider: change.provider,
        billing_base_url: change.baseUrl,
      })
      if (!update) return
      const run = () => statements.run(numbered(update.sql), ...update.parameters)
      await orTaken(run, { id, title: title ?? null })
    })
  }
}
