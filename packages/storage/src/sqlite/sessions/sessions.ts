import type { Clock } from '@hermes/contracts'
import { liveEntries, noUsage } from '@hermes/contracts/conversation'
import type { NewSession, SessionChange, SessionInfo } from '@hermes/contracts/store'
import { copyEntries } from '../../shared/copy-entries.js'
import { countEntries } from '../../shared/counts.js'
import type { Database } from '../../shared/database.js'
import { forkedSession } from '../../shared/forked-session.js'
import { FoundSessions } from '../../shared/found-sessions.js'
import { unknownSession } from '../../shared/session-errors.js'
import { changeSession } from '../../shared/session-row.js'
import type { ForkSession, StoredSessions } from '../../storage.js'
import type { Connection } from '../file/connection.js'
import { SqliteRunner } from '../schema/perform.js'
import type { SessionRow } from '../schema/session-row.js'
import { SESSION_ROWS, toSessionInfo } from '../schema/session-row.js'
import { countParameters, UPDATE_COUNTS } from '../schema/update-counts.js'
import type { SqliteLeases } from './leases.js'
import type { SqliteLog } from './log.js'
import type { SessionRows } from './session-rows.js'

/** The sessions themselves: made, found, changed, removed. */
export class SqliteSessions extends FoundSessions<SessionRow> implements StoredSessions {
  readonly #connection: Connection
  readonly #rows: SessionRows
  readonly #log: SqliteLog

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
    const { database, leases, clock, process } = options
    super({
      runner: new SqliteRunner(connection),
      database,
      rows: SESSION_ROWS,
      started: 'started_at',
      ended: { column: 'ended_at', unitMs: 1000 },
      toInfo: toSessionInfo,
      requireFree: (id) => leases.requireFree(id),
      clock,
      leaseClock: clock,
      process,
    })
    this.#connection = connection
    this.#rows = options.rows
    this.#log = options.log
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
}

/** Where a fork is made. */
interface ForkTarget {
  readonly connection: Connection
  readonly rows: SessionRows
  readonly log: SqliteLog
}

/** A session of its own with the conversation of another one up to an entry. */
function forkSession({ connection, rows, log }: ForkTarget, fork: ForkSession): Promise<SessionInfo> {
  return connection.write(() => {
    const parent = rows.find(fork.from)
    if (!parent) throw unknownSession(fork.from)
    const { id, upToSeq = Number.POSITIVE_INFINITY } = fork
    rows.add(forkedSession(parent, fork))
    const entries = liveEntries(log.read(parent.id).filter(({ seq }) => seq <= upToSeq))
    const copied = copyEntries(entries, (entry, atMs) => log.insert(id, entry, atMs))
    const counts = countEntries(copied)
    // What the conversation has cost so far was paid in the other session.
    if (counts) {
      const unpaid = { ...counts, apiCalls: 0, usage: noUsage }
      connection.statement(UPDATE_COUNTS).run(countParameters(id, unpaid))
    }
    log.appended()
    return rows.find(id)!
  })
}
