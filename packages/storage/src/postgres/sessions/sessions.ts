import type { Clock } from '@hermes/contracts'
import type { NewSession, SessionChange, SessionInfo } from '@hermes/contracts/store'
import type { Database } from '../../shared/database.js'
import { FoundSessions } from '../../shared/found-sessions.js'
import { isAbandoned, type LastWriter, PROCESS_GONE } from '../../shared/lease-rules.js'
import { unknownSession } from '../../shared/session-errors.js'
import { changeSession } from '../../shared/session-row.js'
import type { EndSession, ForkSession, StoredSessions } from '../../storage.js'
import { SESSION_ROWS, type SessionRow, toSessionInfo } from '../schema/session-row.js'
import type { Connection } from '../server/connection.js'
import { numbered } from '../server/statements.js'
import { forkSession } from './fork.js'
import type { PostgresLeases } from './leases.js'
import type { PostgresLog } from './log.js'
import { freeTitle, orTaken, type SessionRows } from './session-rows.js'

// One that another process wrote since is not over.
const END = `
  UPDATE sessions SET ended_ms = $2, end_reason = $3 WHERE id = $1 AND ended_ms IS NULL
    AND NOT EXISTS (SELECT 1 FROM hermes_leases WHERE session_id = $1 AND process <> $4)`
const LAST_WRITERS = `
  SELECT l.session_id, l.process, l.ttl_ms, l.renewed_ms FROM hermes_leases l
  JOIN sessions s ON s.id = l.session_id WHERE s.ended_ms IS NULL AND l.process <> $1`
// Whoever wrote it meanwhile has a row of another time.
const END_ABANDONED = `
  UPDATE sessions SET ended_ms = $2, end_reason = $3 WHERE id = $1 AND ended_ms IS NULL
    AND EXISTS (SELECT 1 FROM hermes_leases WHERE session_id = $1 AND process = $4 AND renewed_ms = $5)`
/** The sessions themselves: made, read, changed, removed. */
export class PostgresSessions extends FoundSessions<SessionRow> implements StoredSessions {
  readonly #connection: Connection
  readonly #rows: SessionRows
  readonly #leases: PostgresLeases
  readonly #log: PostgresLog
  readonly #clock: Clock
  readonly #process: string

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
    const { database, leases } = options
    const requireFree = (id: string) => leases.requireFree(id)
    const dialect = { rows: SESSION_ROWS, started: 'started_ms', toInfo: toSessionInfo, requireFree }
    super({ database: async () => database, ...dialect })
    this.#connection = connection
    this.#rows = options.rows
    this.#log = options.log
    this.#leases = options.leases
    this.#clock = options.clock
    this.#process = options.process
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

  async end(id: string, { reason, atMs = this.#clock.now() }: EndSession): Promise<void> {
    await this.#connection.writeOne(`session ${id}`, (statements) =>
      statements.run(END, id, atMs, reason, this.#process),
    )
  }

  async endAbandoned(): Promise<readonly string[]> {
    type Writer = LastWriter & { readonly session_id: string }
    const writers = await this.#connection.read((statements) => statements.all<Writer>(LAST_WRITERS, this.#process))
    const nowMs = this.#leases.now()
    const aheadMs = nowMs - this.#clock.now()
    const ended: string[] = []
    for (const writer of writers.filter((one) => isAbandoned(one, nowMs))) {
      const { session_id: id, process, renewed_ms } = writer
      const changed = await this.#connection.writeOne(`session ${id}`, (statements) =>
        statements.run(END_ABANDONED, id, renewed_ms - aheadMs, PROCESS_GONE, process, renewed_ms),
      )
      if (changed === 1) ended.push(id)
    }
    return ended
  }
}
