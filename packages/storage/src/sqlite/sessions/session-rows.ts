import type { Clock } from '@hermes/contracts'
import type { NewSession, SessionInfo } from '@hermes/contracts/store'
import { toUserId } from '../../shared/person.js'
import { sessionExists, titleTaken, unknownSession } from '../../shared/session-errors.js'
import { BRING_BACK, TITLE_HOLDER } from '../../shared/session-row.js'
import { cleanTitle } from '../../shared/title.js'
import type { Connection } from '../file/connection.js'
import { SESSION_ROWS, type SessionRow, toSessionInfo } from '../schema/session-row.js'

const FIND = `${SESSION_ROWS} WHERE sessions.id = ?`
const INSERT = `
  INSERT INTO sessions (id, source, user_id, model, billing_provider, billing_base_url, parent_session_id, started_at, title)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
// A trigger has made the row already, as it does for sessions of other programs.
const INSERT_EXTRAS = 'INSERT OR REPLACE INTO hermes_sessions (session_id, cwd, last_active_ms) VALUES (?, ?, ?)'
const REOPEN = 'UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ? AND ended_at IS NOT NULL'
const END_OWN = `
  UPDATE sessions SET ended_at = ?, end_reason = 'closed' WHERE ended_at IS NULL
    AND id IN (SELECT session_id FROM hermes_leases WHERE process = ?)`

/** The rows of sessions, for what runs inside a transaction. */
export class SessionRows {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #process: string

  constructor(connection: Connection, options: { readonly clock: Clock; readonly process: string }) {
    this.#connection = connection
    this.#clock = options.clock
    this.#process = options.process
  }

  add(session: NewSession): SessionInfo {
    if (this.find(session.id)) throw sessionExists(session.id)
    this.#insert(session)
    return this.find(session.id)!
  }

  find(id: string): SessionInfo | null {
    const row = this.#connection.statement(FIND).get(id) as SessionRow | undefined
    return row ? toSessionInfo(row) : null
  }

  /** Ends what this process wrote and did not end. */
  endOwn(): void {
    this.#connection.statement(END_OWN).run(this.#clock.now() / 1000, this.#process)
  }

  /** Who writes a session that had ended, or was archived, begins it again. */
  reopen(id: string): void {
    this.#connection.statement(REOPEN).run(id)
    this.#connection.statement(BRING_BACK).run(id)
  }

  #insert(session: NewSession): void {
    const { id, source, title, model, provider, baseUrl, parentSessionId, cwd } = session
    const parent = parentSessionId === undefined ? null : this.find(parentSessionId)
    if (parentSessionId !== undefined && !parent) throw unknownSession(parentSessionId)
    const { person = parent?.person ?? null } = session
    const startedMs = session.startedAtMs ?? this.#clock.now()
    this.#connection
      .statement(INSERT)
      .run(
        id,
        source,
        toUserId(person),
        model ?? null,
        provider ?? null,
        baseUrl ?? null,
        parentSessionId ?? null,
        startedMs / 1000,
        title === undefined ? null : this.freeTitle(title, id),
      )
    this.#connection.statement(INSERT_EXTRAS).run(id, cwd ?? null, startedMs)
  }

  /** @throws HermesError `store.title_taken`. */
  freeTitle(title: string, forId: string): string | null {
    const clean = cleanTitle(title)
    const taken = this.#connection.statement(TITLE_HOLDER).get(clean, forId) as { id: string } | undefined
    if (taken) throw titleTaken(taken.id, clean!)
    return clean
  }
}
