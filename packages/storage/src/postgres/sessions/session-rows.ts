import type { Clock } from '@hermes/contracts'
import type { NewSession, SessionInfo } from '@hermes/contracts/store'
import { toUserId } from '../../shared/person.js'
import { sessionExists, titleTaken, unknownSession } from '../../shared/session-errors.js'
import { BRING_BACK, TITLE_HOLDER } from '../../shared/session-row.js'
import { cleanTitle } from '../../shared/title.js'
import { SESSION_ROWS, type SessionRow, toSessionInfo } from '../schema/session-row.js'
import { nativeCode } from '../server/postgres-error.js'
import { numbered, type Statements } from '../server/statements.js'

const FIND = `${SESSION_ROWS} WHERE sessions.id = $1`
const INSERT = `
  INSERT INTO sessions (id, source, user_id, model, billing_provider, billing_base_url, parent_session_id, cwd, title, started_ms,
    last_active_ms)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)`
const REOPEN = 'UPDATE sessions SET ended_ms = NULL, end_reason = NULL WHERE id = $1 AND ended_ms IS NOT NULL'
const END_OWN = `
  UPDATE sessions SET ended_ms = $1, end_reason = 'closed' WHERE ended_ms IS NULL
    AND id IN (SELECT session_id FROM hermes_leases WHERE process = $2)`
const TAKEN = '23505'

/** The rows of sessions, for what runs inside a transaction. */
export class SessionRows {
  readonly #clock: Clock
  readonly #process: string

  constructor(options: { readonly clock: Clock; readonly process: string }) {
    this.#clock = options.clock
    this.#process = options.process
  }

  async add(statements: Statements, session: NewSession): Promise<SessionInfo> {
    const { id, source, title, model, provider, baseUrl, parentSessionId, cwd } = session
    if (await this.read(statements, id)) throw sessionExists(id)
    const parent = parentSessionId === undefined ? null : await this.read(statements, parentSessionId)
    if (parentSessionId !== undefined && !parent) throw unknownSession(parentSessionId)
    const { person = parent?.person ?? null } = session
    const free = title === undefined ? null : await freeTitle(statements, title, id)
    const startedMs = session.startedAtMs ?? this.#clock.now()
    const names = [id, source, toUserId(person), model, provider, baseUrl, parentSessionId, cwd].map(
      (name) => name ?? null,
    )
    await orTaken(() => statements.run(INSERT, ...names, free, startedMs), { id, title: free })
    return (await this.read(statements, id))!
  }

  async read(statements: Statements, id: string): Promise<SessionInfo | null> {
    const row = await statements.first<SessionRow>(FIND, id)
    return row ? toSessionInfo(row) : null
  }

  /** Ends what this process wrote and did not end. */
  async endOwn(statements: Statements): Promise<void> {
    await statements.run(END_OWN, this.#clock.now(), this.#process)
  }

  /** Who writes a session that had ended, or was archived, begins it again. */
  async reopen(statements: Statements, id: string): Promise<void> {
    await statements.run(REOPEN, id)
    await statements.run(numbered(BRING_BACK), id)
  }
}

/** @throws HermesError `store.title_taken`. */
export async function freeTitle(statements: Statements, title: string, forId: string): Promise<string | null> {
  const clean = cleanTitle(title)
  const taken =
    clean === null ? undefined : await statements.first<{ id: string }>(numbered(TITLE_HOLDER), clean, forId)
  if (taken) throw titleTaken(taken.id, clean!)
  return clean
}

/** Somebody may have taken id or title since they were looked for. */
export async function orTaken<Result>(
  work: () => Promise<Result>,
  { id, title }: { readonly id: string; readonly title: string | null },
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (nativeCode(error) !== TAKEN) throw error
    throw (error as { readonly constraint?: string }).constraint === 'sessions_title'
      ? titleTaken(null, title ?? '')
      : sessionExists(id)
  }
}
