import type { Clock } from '@hermes/contracts'
import type { NewSession, SessionInfo, SessionStore } from '@hermes/contracts/store'
import { isAbandoned, type LastWriter, PROCESS_GONE } from '../../shared/lease-rules.js'
import { hasEnded } from '../../shared/process-identity.js'
import { sessionExists, titleTaken, unknownSession } from '../../shared/session-errors.js'
import { relatedSessions } from '../../shared/session-row.js'
import { cleanTitle } from '../../shared/title.js'
import type { EndSession } from '../../storage.js'
import type { Connection } from '../file/connection.js'
import { SESSION_ROWS, type SessionRow, toSessionInfo } from '../schema/session-row.js'
import type { Leases } from './leases.js'

const FIND = `${SESSION_ROWS} WHERE sessions.id = ?`
const INSERT = `
  INSERT INTO sessions (id, source, user_id, model, billing_provider, billing_base_url, parent_session_id, started_at, title)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
// A trigger has made the row already, as it does for sessions of other programs.
const INSERT_EXTRAS = 'INSERT OR REPLACE INTO hermes_sessions (session_id, cwd, last_active_ms) VALUES (?, ?, ?)'
const RELATED = relatedSessions({ rows: SESSION_ROWS, parameter: '?', started: 'sessions.started_at' })
const TAGS = 'SELECT tag FROM hermes_tags WHERE session_id = ? ORDER BY tag'
const INSERT_TAG = 'INSERT OR IGNORE INTO hermes_tags (tag, session_id) VALUES (?, ?)'
const TITLE_HOLDER = 'SELECT id FROM sessions WHERE title = ? AND id <> ?'
const REOPEN = 'UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ? AND ended_at IS NOT NULL'
// One that another process wrote since is not over.
const END = `
  UPDATE sessions SET ended_at = :endedAt, end_reason = :reason WHERE id = :id AND ended_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM hermes_leases WHERE session_id = :id AND process <> :process)`
const END_OWN = `
  UPDATE sessions SET ended_at = ?, end_reason = 'closed' WHERE ended_at IS NULL
    AND id IN (SELECT session_id FROM hermes_leases WHERE process = ?)`
const LAST_WRITERS = `
  SELECT l.session_id, l.process, l.ttl_ms, l.renewed_ms FROM hermes_leases l
  JOIN sessions s ON s.id = l.session_id WHERE s.ended_at IS NULL AND l.process <> ?`
const END_ABANDONED = 'UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ? AND ended_at IS NULL'
const FORGET_WRITER = 'DELETE FROM hermes_leases WHERE session_id = ? AND process = ?'
const DELETE = [
  'UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?',
  'DELETE FROM messages WHERE session_id = ?',
  'DELETE FROM sessions WHERE id = ?',
]
// The counter that numbers come from stays where it is, so none is used twice. What the session cost stays with it.
const CLEAR = [
  'DELETE FROM messages WHERE session_id = ?',
  'DELETE FROM hermes_entries WHERE session_id = ?',
  'UPDATE sessions SET message_count = 0, tool_call_count = 0, system_prompt = NULL WHERE id = ?',
]
const HAS_SUMMARIES = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'hermes_summaries'"
const FORGET_SUMMARY = 'DELETE FROM hermes_summaries WHERE session_id = ?'

/** The sessions themselves: made, read, changed, removed. */
export class Sessions {
  readonly #connection: Connection
  readonly #leases: Leases
  readonly #clock: Clock
  readonly #process: string

  constructor(
    connection: Connection,
    options: { readonly leases: Leases; readonly clock: Clock; readonly process: string },
  ) {
    this.#connection = connection
    this.#leases = options.leases
    this.#clock = options.clock
    this.#process = options.process
  }

  create(session: NewSession): Promise<SessionInfo> {
    return this.#connection.write(() => this.add(session))
  }

  /** Inside a transaction. */
  add(session: NewSession): SessionInfo {
    if (this.find(session.id)) throw sessionExists(session.id)
    this.#insert(session)
    return this.find(session.id)!
  }

  /** Inside a transaction. */
  find(id: string): SessionInfo | null {
    const row = this.#connection.statement(FIND).get(id) as SessionRow | undefined
    return row ? toSessionInfo(row) : null
  }

  update(id: string, change: Parameters<SessionStore['updateSession']>[1]): Promise<void> {
    return this.#connection.write(() => {
      if (!this.find(id)) throw unknownSession(id)
      const columns = Object.entries({
        title: typeof change.title === 'string' ? this.#freeTitle(change.title, id) : change.title,
        ended_at: typeof change.endedAtMs === 'number' ? change.endedAtMs / 1000 : change.endedAtMs,
        end_reason: change.endReason,
        model: change.model,
        billing_provider: change.provider,
        billing_base_url: change.baseUrl,
      }).filter(([, value]) => value !== undefined)
      if (columns.length === 0) return
      const assignments = columns.map(([name]) => `${name} = :${name}`).join(', ')
      this.#connection
        .statement(`UPDATE sessions SET ${assignments} WHERE id = :id`)
        .run({ ...Object.fromEntries(columns), id })
    })
  }

  /** Inside a transaction. */
  related(id: string, direction: 'ancestors' | 'descendants'): SessionInfo[] {
    return (this.#connection.statement(RELATED[direction]).all(id) as SessionRow[]).map(toSessionInfo)
  }

  /** Inside a transaction. */
  tags(id: string): string[] {
    return this.#connection.statement(TAGS).pluck().all(id) as string[]
  }

  setTags(id: string, tags: readonly string[]): Promise<void> {
    return this.#connection.write(() => {
      if (!this.find(id)) throw unknownSession(id)
      this.#connection.statement('DELETE FROM hermes_tags WHERE session_id = ?').run(id)
      for (const tag of tags) this.#connection.statement(INSERT_TAG).run(tag, id)
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

  /** Inside a transaction: ends what this process wrote and did not end. */
  endOwn(): void {
    this.#connection.statement(END_OWN).run(this.#clock.now() / 1000, this.#process)
  }

  /** Inside a transaction: who writes a session that had ended begins it again. */
  reopen(id: string): void {
    this.#connection.statement(REOPEN).run(id)
  }

  delete(id: string): Promise<boolean> {
    return this.#connection.write(() => {
      if (!this.find(id)) return false
      this.#leases.requireFree(id)
      for (const sql of DELETE) this.#connection.statement(sql).run(id)
      return true
    })
  }

  clear(id: string): Promise<void> {
    return this.#connection.write(() => {
      if (!this.find(id)) throw unknownSession(id)
      this.#leases.requireFree(id)
      for (const sql of CLEAR) this.#connection.statement(sql).run(id)
      if (this.#connection.statement(HAS_SUMMARIES).get()) this.#connection.statement(FORGET_SUMMARY).run(id)
    })
  }

  #insert(session: NewSession): void {
    const { id, source, title, model, provider, baseUrl, parentSessionId, cwd, userId } = session
    if (parentSessionId !== undefined && !this.find(parentSessionId)) throw unknownSession(parentSessionId)
    const startedMs = session.startedAtMs ?? this.#clock.now()
    this.#connection
      .statement(INSERT)
      .run(
        id,
        source,
        userId ?? null,
        model ?? null,
        provider ?? null,
        baseUrl ?? null,
        parentSessionId ?? null,
        startedMs / 1000,
        title === undefined ? null : this.#freeTitle(title, id),
      )
    this.#connection.statement(INSERT_EXTRAS).run(id, cwd ?? null, startedMs)
  }

  #freeTitle(title: string, forId: string): string | null {
    const clean = cleanTitle(title)
    const taken = this.#connection.statement(TITLE_HOLDER).get(clean, forId) as { id: string } | undefined
    if (taken) throw titleTaken(taken.id, clean!)
    return clean
  }
}
