import type { Clock } from '@hermes/contracts'
import type { NewSession, SessionChange, SessionInfo } from '@hermes/contracts/store'
import { isAbandoned, type LastWriter, PROCESS_GONE } from '../../shared/lease-rules.js'
import { hasEnded } from '../../shared/process-identity.js'
import { nextTitle, resolveSession } from '../../shared/resolve.js'
import { unknownSession } from '../../shared/session-errors.js'
import { relatedSessions } from '../../shared/session-row.js'
import type {
  EndSession,
  ForkSession,
  LatestSessionFilter,
  ListSessionsOptions,
  SessionResolution,
  StoredSessions,
} from '../../storage.js'
import type { Connection } from '../file/connection.js'
import type { Queries } from '../schema/queries.js'
import { SESSION_ROWS, type SessionRow, toSessionInfo } from '../schema/session-row.js'
import { forkSession } from './fork.js'
import type { SqliteLeases } from './leases.js'
import type { SqliteLog } from './log.js'
import type { SessionRows } from './session-rows.js'

const RELATED = relatedSessions({ rows: SESSION_ROWS, parameter: '?', started: 'sessions.started_at' })
const TAGS = 'SELECT tag FROM hermes_tags WHERE session_id = ? ORDER BY tag'
const INSERT_TAG = 'INSERT OR IGNORE INTO hermes_tags (tag, session_id) VALUES (?, ?)'
// One that another process wrote since is not over.
const END = `
  UPDATE sessions SET ended_at = :endedAt, end_reason = :reason WHERE id = :id AND ended_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM hermes_leases WHERE session_id = :id AND process <> :process)`
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

/** The sessions themselves: made, found, changed, removed. */
export class SqliteSessions implements StoredSessions {
  readonly #connection: Connection
  readonly #rows: SessionRows
  readonly #leases: SqliteLeases
  readonly #log: SqliteLog
  readonly #clock: Clock
  readonly #process: string
  #queries: Promise<Queries> | undefined

  constructor(
    connection: Connection,
    options: {
      readonly rows: SessionRows
      readonly leases: SqliteLeases
      readonly log: SqliteLog
      readonly clock: Clock
      readonly process: string
    },
  ) {
    this.#connection = connection
    this.#rows = options.rows
    this.#leases = options.leases
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

  list(options?: ListSessionsOptions): Promise<readonly SessionInfo[]> {
    return this.#ask((queries) => queries.list(options))
  }

  latest(filter?: LatestSessionFilter): Promise<SessionInfo | null> {
    return this.#ask((queries) => queries.latest(filter))
  }

  folders(): Promise<readonly string[]> {
    return this.#ask((queries) => queries.folders())
  }

  resolve(text: string): Promise<SessionResolution> {
    return resolveSession(this, text)
  }

  nextTitle(base: string): Promise<string> {
    return nextTitle(this, base)
  }

  /** `base` and `base #2`, `base #3` …, newest activity first. */
  lineage(base: string): Promise<readonly SessionInfo[]> {
    return this.#ask((queries) => queries.lineage(base))
  }

  /** Sessions whose id begins with `prefix`, newest activity first. */
  withPrefix(prefix: string, limit: number): Promise<readonly SessionInfo[]> {
    return this.#ask((queries) => queries.withPrefix(prefix, limit))
  }

  /** Reads with built queries; the query builder is loaded by the first of them. */
  async #ask<Result>(work: (queries: Queries) => Result): Promise<Result> {
    this.#queries ??= import('../schema/queries.js').then((module) => new module.Queries(this.#connection))
    const queries = await this.#queries
    return this.#connection.read(() => work(queries))
  }

  update(id: string, change: SessionChange): Promise<void> {
    return this.#connection.write(() => {
      if (!this.#rows.find(id)) throw unknownSession(id)
      const columns = Object.entries({
        title: typeof change.title === 'string' ? this.#rows.freeTitle(change.title, id) : change.title,
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

  ancestors(id: string): Promise<readonly SessionInfo[]> {
    return this.#related(RELATED.ancestors, id)
  }

  descendants(id: string): Promise<readonly SessionInfo[]> {
    return this.#related(RELATED.descendants, id)
  }

  #related(sql: string, id: string): Promise<readonly SessionInfo[]> {
    return this.#connection.read(() => (this.#connection.statement(sql).all(id) as SessionRow[]).map(toSessionInfo))
  }

  tags(id: string): Promise<readonly string[]> {
    return this.#connection.read(() => this.#connection.statement(TAGS).pluck().all(id) as string[])
  }

  setTags(id: string, tags: readonly string[]): Promise<void> {
    return this.#connection.write(() => {
      if (!this.#rows.find(id)) throw unknownSession(id)
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

  delete(id: string): Promise<boolean> {
    return this.#connection.write(() => {
      if (!this.#rows.find(id)) return false
      this.#leases.requireFree(id)
      for (const sql of DELETE) this.#connection.statement(sql).run(id)
      return true
    })
  }

  clear(id: string): Promise<void> {
    return this.#connection.write(() => {
      if (!this.#rows.find(id)) throw unknownSession(id)
      this.#leases.requireFree(id)
      for (const sql of CLEAR) this.#connection.statement(sql).run(id)
      if (this.#connection.statement(HAS_SUMMARIES).get()) this.#connection.statement(FORGET_SUMMARY).run(id)
    })
  }
}
