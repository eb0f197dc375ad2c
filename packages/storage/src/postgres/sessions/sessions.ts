import type { Clock } from '@hermes/contracts'
import type { NewSession, SessionChange, SessionInfo } from '@hermes/contracts/store'
import type { Compilable } from 'kysely'
import { isAbandoned, type LastWriter, PROCESS_GONE } from '../../shared/lease-rules.js'
import { nextTitle, resolveSession } from '../../shared/resolve.js'
import { unknownSession } from '../../shared/session-errors.js'
import { SessionQueries } from '../../shared/session-queries.js'
import { relatedSessions } from '../../shared/session-row.js'
import { isOfLineage } from '../../shared/title.js'
import type {
  EndSession,
  ForkSession,
  LatestSessionFilter,
  ListSessionsOptions,
  SessionResolution,
  StoredSessions,
} from '../../storage.js'
import { SESSION_ROWS, type SessionRow, toSessionInfo } from '../schema/session-row.js'
import type { Connection } from '../server/connection.js'
import { forkSession } from './fork.js'
import type { PostgresLeases } from './leases.js'
import type { PostgresLog } from './log.js'
import { freeTitle, orTaken, type SessionRows } from './session-rows.js'

const TAGS = 'SELECT tag FROM hermes_tags WHERE session_id = $1 ORDER BY tag'
const INSERT_TAGS = 'INSERT INTO hermes_tags (tag, session_id) SELECT unnest($1::text[]), $2 ON CONFLICT DO NOTHING'
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
const CLEAR = [
  'DELETE FROM messages WHERE session_id = $1',
  'DELETE FROM hermes_entries WHERE session_id = $1',
  'DELETE FROM hermes_summaries WHERE session_id = $1',
  'UPDATE sessions SET message_count = 0, tool_call_count = 0, system_prompt = NULL WHERE id = $1',
]
const RELATED = relatedSessions({ rows: SESSION_ROWS, parameter: '$1', started: 'sessions.started_ms' })

/** The sessions themselves: made, read, changed, removed. */
export class PostgresSessions implements StoredSessions {
  readonly #connection: Connection
  readonly #rows: SessionRows
  readonly #leases: PostgresLeases
  readonly #log: PostgresLog
  readonly #clock: Clock
  readonly #process: string
  readonly #queries: SessionQueries

  constructor(
    connection: Connection,
    options: {
      readonly rows: SessionRows
      readonly leases: PostgresLeases
      readonly log: PostgresLog
      readonly clock: Clock
      readonly process: string
    },
  ) {
    this.#connection = connection
    this.#rows = options.rows
    this.#log = options.log
    this.#leases = options.leases
    this.#clock = options.clock
    this.#process = options.process
    this.#queries = new SessionQueries(connection.builder, { rows: SESSION_ROWS, started: 'started_ms' })
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

  resolve(text: string): Promise<SessionResolution> {
    return resolveSession(this, text)
  }

  nextTitle(base: string): Promise<string> {
    return nextTitle(this, base)
  }

  update(id: string, change: SessionChange): Promise<void> {
    return this.#connection.write(`session ${id}`, async (statements) => {
      if (!(await this.#rows.read(statements, id))) throw unknownSession(id)
      const title = typeof change.title === 'string' ? await freeTitle(statements, change.title, id) : change.title
      const columns = Object.entries({
        title,
        ended_ms: change.endedAtMs,
        end_reason: change.endReason,
        model: change.model,
        billing_provider: change.provider,
        billing_base_url: change.baseUrl,
      }).filter(([, value]) => value !== undefined)
      if (columns.length === 0) return
      const assignments = columns.map(([name], at) => `${name} = $${at + 2}`).join(', ')
      const values = columns.map(([, value]) => value)
      await orTaken(() => statements.run(`UPDATE sessions SET ${assignments} WHERE id = $1`, id, ...values), {
        id,
        title: title ?? null,
      })
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

  delete(id: string): Promise<boolean> {
    return this.#connection.write(`session ${id}`, async (statements) => {
      if (!(await this.#rows.read(statements, id))) return false
      await this.#leases.requireFree(statements, id)
      return (await statements.run('DELETE FROM sessions WHERE id = $1', id)) === 1
    })
  }

  clear(id: string): Promise<void> {
    return this.#connection.write(`session ${id}`, async (statements) => {
      if (!(await this.#rows.read(statements, id))) throw unknownSession(id)
      await this.#leases.requireFree(statements, id)
      for (const sql of CLEAR) await statements.run(sql, id)
    })
  }

  ancestors(id: string): Promise<readonly SessionInfo[]> {
    return this.#related(RELATED.ancestors, id)
  }

  descendants(id: string): Promise<readonly SessionInfo[]> {
    return this.#related(RELATED.descendants, id)
  }

  #related(sql: string, id: string): Promise<readonly SessionInfo[]> {
    return this.#connection.read(async (statements) => (await statements.all<SessionRow>(sql, id)).map(toSessionInfo))
  }

  tags(id: string): Promise<readonly string[]> {
    return this.#connection.read(async (statements) =>
      (await statements.all<{ tag: string }>(TAGS, id)).map(({ tag }) => tag),
    )
  }

  setTags(id: string, tags: readonly string[]): Promise<void> {
    return this.#connection.write(`session ${id}`, async (statements) => {
      if (!(await this.#rows.read(statements, id))) throw unknownSession(id)
      await statements.run('DELETE FROM hermes_tags WHERE session_id = $1', id)
      await statements.run(INSERT_TAGS, [...new Set(tags)], id)
    })
  }

  list(options?: ListSessionsOptions): Promise<readonly SessionInfo[]> {
    return this.#chosen(this.#queries.list(options))
  }

  async latest(filter?: LatestSessionFilter): Promise<SessionInfo | null> {
    return (await this.#chosen(this.#queries.latest(filter)))[0] ?? null
  }

  folders(): Promise<readonly string[]> {
    const { sql, parameters } = this.#queries.folders().compile()
    return this.#connection.read(async (statements) =>
      (await statements.all<{ cwd: string }>(sql, ...parameters)).map(({ cwd }) => cwd),
    )
  }

  /** `base` and `base #2`, `base #3` …, newest activity first. */
  async lineage(base: string): Promise<readonly SessionInfo[]> {
    return (await this.#chosen(this.#queries.lineage(base))).filter(({ title }) => isOfLineage(title, base))
  }

  /** Sessions whose id begins with `prefix`, newest activity first. */
  withPrefix(prefix: string, limit: number): Promise<readonly SessionInfo[]> {
    return this.#chosen(this.#queries.withPrefix(prefix, limit))
  }

  #chosen(query: Compilable): Promise<readonly SessionInfo[]> {
    const { sql, parameters } = query.compile()
    return this.#connection.read(async (statements) =>
      (await statements.all<SessionRow>(sql, ...parameters)).map(toSessionInfo),
    )
  }
}
