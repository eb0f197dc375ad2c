import type { Clock } from '@hermes/contracts'
import type { NewEntry } from '@hermes/contracts/conversation'
import { liveEntries } from '@hermes/contracts/conversation'
import type { NewSession, SessionChange, SessionInfo } from '@hermes/contracts/store'
import { copyEntries } from '../../shared/copy-entries.js'
import { countEntries } from '../../shared/counts.js'
import type { Database } from '../../shared/database.js'
import { forkedSession } from '../../shared/forked-session.js'
import { FoundSessions } from '../../shared/found-sessions.js'
import { unknownSession } from '../../shared/session-errors.js'
import { changeSession } from '../../shared/session-row.js'
import type { ForkSession, StoredSessions } from '../../storage.js'
import type { SessionRow } from '../schema/session-row.js'
import { SESSION_ROWS, toSessionInfo } from '../schema/session-row.js'
import type { Connection } from '../server/connection.js'
import { numbered } from '../server/statements.js'
import type { PostgresLeases } from './leases.js'
import type { PostgresLog } from './log.js'
import type { NewRow } from './new-rows.js'
import { toRow } from './new-rows.js'
import type { SessionRows } from './session-rows.js'
import { freeTitle, orTaken } from './session-rows.js'

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

// What the conversation has cost so far was paid in the other session.
const COUNT = `
  UPDATE sessions SET message_count = $2, tool_call_count = $3, model = coalesce($4, model),
    billing_provider = coalesce($5, billing_provider), system_prompt = $6
  WHERE id = $1`

/** Where a fork is made. */
interface ForkTarget {
  readonly connection: Connection
  readonly rows: SessionRows
  readonly log: PostgresLog
}

/** A session of its own with the conversation of another one up to an entry. */
function forkSession({ connection, rows, log }: ForkTarget, fork: ForkSession): Promise<SessionInfo> {
  return connection.write(`session ${fork.id}`, async (statements) => {
    const parent = await rows.read(statements, fork.from)
    if (!parent) throw unknownSession(fork.from)
    const { id, upToSeq = Number.POSITIVE_INFINITY } = fork
    await rows.add(statements, forkedSession(parent, fork))
    const entries = liveEntries((await log.read(statements, parent.id)).filter(({ seq }) => seq <= upToSeq))
    const seqs = await log.draw(statements, entries.length)
    const copies: { seq: number; row: NewRow }[] = []
    const copied = copyEntries(entries, (entry: NewEntry, atMs: number) => {
      const seq = seqs[copies.length]!
      copies.push({ seq, row: toRow(entry, atMs) })
      return seq
    })
    await log.copy(statements, id, copies)
    const counts = countEntries(copied)
    if (counts) {
      const { messages, toolCalls, systemPrompt } = counts
      await statements.run(COUNT, id, messages, toolCalls, counts.model, counts.provider, systemPrompt)
    }
    return (await rows.read(statements, id))!
  })
}
