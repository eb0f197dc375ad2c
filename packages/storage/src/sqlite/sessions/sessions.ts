import type { Clock } from '@hermes/contracts'
import type { NewSession, SessionChange, SessionInfo } from '@hermes/contracts/store'
import type { Database } from '../../shared/database.js'
import { FoundSessions } from '../../shared/found-sessions.js'
import { isAbandoned, type LastWriter, PROCESS_GONE } from '../../shared/lease-rules.js'
import { hasEnded } from '../../shared/process-identity.js'
import { unknownSession } from '../../shared/session-errors.js'
import { changeSession } from '../../shared/session-row.js'
import type { EndSession, ForkSession, StoredSessions } from '../../storage.js'
import type { Connection } from '../file/connection.js'
import { SESSION_ROWS, type SessionRow, toSessionInfo } from '../schema/session-row.js'
import { forkSession } from './fork.js'
import type { SqliteLeases } from './leases.js'
import type { SqliteLog } from './log.js'
import type { SessionRows } from './session-rows.js'

// One that another process wrote since is not over.
const END = `
  UPDATE sessions SET ended_at = :endedAt, end_reason = :reason WHERE id = :id AND ended_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM hermes_leases WHERE session_id = :id AND process <> :process)`
const LAST_WRITERS = `
  SELECT l.session_id, l.process, l.ttl_ms, l.renewed_ms FROM hermes_leases l
  JOIN sessions s ON s.id = l.session_id WHERE s.ended_at IS NULL AND l.process <> ?`
const END_ABANDONED = 'UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ? AND ended_at IS NULL'
const FORGET_WRITER = 'DELETE FROM hermes_leases WHERE session_id = ? AND process = ?'

/** The sessions themselves: made, found, changed, removed. */
export class SqliteSessions extends FoundSessions<SessionRow> implements StoredSessions {
  readonly #connection: Connection
  readonly #rows: SessionRows
  readonly #log: SqliteLog
  readonly #clock: Clock
  readonly #process: string

  constructor(
    connection: Connection,
    options: {
      readonly rows: SessionRows
      readonly database: () => Promise<Database>
      readonly leases: SqliteLeases
      readonly log: SqliteLog
      readonly clock: Clock
      readonly process: string
    },
  ) {
    const { database, leases } = options
    const requireFree = (id: string) => leases.requireFree(id)
    super({ database, rows: SESSION_ROWS, started: 'started_at', toInfo: toSessionInfo, requireFree })
    this.#connection = connection
    this.#rows = options.rows
    this.#log = options.log
    this.#clock = options.clock
    this.#process = options.process
  }

  create(session: NewSession): Promise<SessionInfo> {
    return this.#connection.write(() => this.#rows.add(session))
  }

  get(id: string): Promise<SessionInfo | null> {
    return this.#connection.read(() => this.#rows.find(id))
  }

  fork(fork: ForkSession): Promise<SessionInfo> {
    return forkSession({ connection: this.#connection, rows: this.#rows, log: this.#log }, fork)
  }

  update(id: string, change: SessionChange): Promise<void> {
    return this.#connection.write(() => {
      if (!this.#rows.find(id)) throw unknownSession(id)
      const update = changeSession(id, {
        title: typeof change.title === 'string' ? this.#rows.freeTitle(change.title, id) : change.title,
        ended_at: typeof change.endedAtMs === 'number' ? change.endedAtMs / 1000 : change.endedAtMs,
        end_reason: change.endReason,
        model: change.model,
        billing_provider: change.provider,
        billing_base_url: change.baseUrl,
      })
      if (update) this.#connection.statement(update.sql).run(...update.parameters)
    })
  }

  end(id: string, { reason, atMs = this.#clock.now() }: EndSession): Promise<void> {
    return this.#connection.write(() => {
      const ended = { id, endedAt: atMs / 1000, reason, process: this.#process }
      this.#connection.statement(END).run(ended)
    })
  }

  async endAbandoned(): Promise<readonly string[]> {
    const isDue = await this.#connection.read(() => this.#abandoned().length > 0)
    if (!isDue) return []
    return this.#connection.write(() => {
      const abandoned = this.#abandoned()
      for (const { session_id, process, renewed_ms } of abandoned) {
        this.#connection.statement(END_ABANDONED).run(renewed_ms / 1000, PROCESS_GONE, session_id)
        // One of another machine that is silent may go on writing.
        if (hasEnded(process)) this.#connection.statement(FORGET_WRITER).run(session_id, process)
      }
      return abandoned.map(({ session_id }) => session_id)
    })
  }

  #abandoned(): (LastWriter & { readonly session_id: string })[] {
    const writers = this.#connection.statement(LAST_WRITERS).all(this.#process)
    return (writers as (LastWriter & { readonly session_id: string })[]).filter((writer) =>
      isAbandoned(writer, this.#clock.now()),
    )
  }
}
