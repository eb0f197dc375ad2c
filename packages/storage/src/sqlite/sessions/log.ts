import type { Clock } from '@hermes/contracts'
import type { Entry, MessageEntry, NewEntry } from '@hermes/contracts/conversation'
import type { Lease } from '@hermes/contracts/store'
import { countEntries } from '../../shared/counts.js'
import type { MessageColumns } from '../../shared/message-codec.js'
import { decodeMessage, encodeMessage } from '../../shared/message-codec.js'
import type { PartialRow } from '../../shared/partial-row.js'
import { FORGET_PARTIAL, toLeftAnswer } from '../../shared/partial-row.js'
import { orRescue } from '../../shared/rescue.js'
import type { StoredLog } from '../../storage.js'
import type { OutboxStore } from '../../stores/outbox.js'
import type { Connection } from '../file/connection.js'
import { perform } from '../schema/perform.js'
import { countParameters, UPDATE_COUNTS } from '../schema/update-counts.js'
import type { StoredInbox } from './inbox.js'
import type { SqliteLeases } from './leases.js'

const INSERT_MESSAGE = `
  INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp, token_count,
    finish_reason, reasoning)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const NEXT_SEQ = "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'messages' RETURNING seq"
const INSERT_ENTRY = 'INSERT INTO hermes_entries (session_id, seq, type, at_ms, payload) VALUES (?, ?, ?, ?, ?)'
const TOUCH = 'UPDATE hermes_sessions SET last_active_ms = ? WHERE session_id = ?'
const SELECT_ENTRIES = `
  SELECT m.id AS seq, 'message' AS type, e.at_ms, e.payload, m.timestamp, m.role, m.content, m.tool_call_id,
    m.tool_calls, m.tool_name, m.finish_reason, coalesce(m.reasoning, m.reasoning_content) AS reasoning
  FROM messages m LEFT JOIN hermes_entries e ON e.session_id = m.session_id AND e.seq = m.id
  WHERE m.session_id = :sessionId AND m.id > :afterSeq
  UNION ALL
  SELECT seq, type, at_ms, payload, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM hermes_entries WHERE session_id = :sessionId AND seq > :afterSeq AND type <> 'message'
  ORDER BY seq`

/** How late the order of sessions may be. What a session says of its activity is exact: it counts the newest message. */
const TOUCH_EVERY_MS = 1000

interface EntryRow extends MessageColumns {
  readonly seq: number
  readonly type: string
  readonly at_ms: number | null
  readonly payload: string | null
  readonly timestamp: number
}

/**
 * The append-only log. A message is a row of `messages` and its `seq` is that row's id; entries of other types take their `seq`
 * from the same counter, so that rows another program adds fall into place.
 */
export class SqliteLog implements StoredLog {
  readonly #connection: Connection
  readonly #leases: SqliteLeases
  readonly #inbox: StoredInbox
  readonly #outbox: () => Promise<OutboxStore>
  readonly #clock: Clock
  readonly #rescueDirs: readonly string[]
  /** Tells that there are new messages, those of a fork included. */
  readonly appended: () => void
  readonly #partials: Partials
  readonly #touchedMs = new Map<string, number>()

  constructor(
    connection: Connection,
    options: {
      readonly leases: SqliteLeases
      readonly inbox: StoredInbox
      readonly outbox: () => Promise<OutboxStore>
      readonly clock: Clock
      readonly rescueDirs: readonly string[]
      readonly appended: () => void
    },
  ) {
    this.#connection = connection
    this.#leases = options.leases
    this.#inbox = options.inbox
    this.#outbox = options.outbox
    this.#clock = options.clock
    this.#rescueDirs = options.rescueDirs
    this.appended = options.appended
    this.#partials = new Partials(connection)
  }

  async entries(sessionId: string, { afterSeq = 0 }: { readonly afterSeq?: number } = {}): Promise<readonly Entry[]> {
    if (await this.#connection.read(() => this.#isLeft(sessionId))) await this.#settle(sessionId)
    return this.#connection.read(() => this.read(sessionId, afterSeq))
  }

  #isLeft(sessionId: string): boolean {
    return this.#partials.has(sessionId) && this.#leases.isFree(sessionId)
  }

  /**
   * Takes in the answer of a writer that is gone. Where the file cannot be written it waits for somebody who can. A writer that only
   * slept loses its lease with it, so that it does not add the whole answer to what is in the log then.
   */
  async #settle(sessionId: string): Promise<void> {
    await this.#connection
      .write(() => {
        if (!this.#isLeft(sessionId)) return
        this.#leases.endExpired(sessionId)
        this.settle(sessionId)
      })
      .catch(() => undefined)
  }

  /** Inside a transaction, when nobody else writes the session: what was kept of an answer becomes an entry. */
  settle(sessionId: string): void {
    const left = this.#partials.take(sessionId)
    if (left === null) return
    this.insert(sessionId, left.entry, left.atMs)
    this.#connection.statement(UPDATE_COUNTS).run(countParameters(sessionId, countEntries([left.entry])!))
    this.appended()
  }

  keepPartial(
    sessionId: string,
    entry: MessageEntry | null,
    { lease, atMs = this.#clock.now() }: { readonly lease: Lease; readonly atMs?: number },
  ): Promise<void> {
    return this.#connection.write(() => {
      this.#leases.use(sessionId, lease)
      if (entry === null) this.#partials.forget(sessionId)
      else this.#partials.put(sessionId, entry, atMs)
    })
  }

  /** Inside a transaction. */
  read(sessionId: string, afterSeq = 0): readonly Entry[] {
    return (this.#connection.statement(SELECT_ENTRIES).all({ sessionId, afterSeq }) as EntryRow[]).map(toEntry)
  }

  append(
    sessionId: string,
    entries: readonly NewEntry[],
    { lease, atMs = this.#clock.now(), take, send = [], rescue = true }: Parameters<StoredLog['append']>[2],
  ): Promise<readonly number[]> {
    const directories = rescue ? this.#rescueDirs : []
    const append = async () => {
      const outbox = send.length > 0 ? await this.#outbox() : null
      return this.#append(sessionId, entries, {
        lease,
        atMs,
        take,
        write: () => outbox && perform(this.#connection, outbox.insert(send)),
      })
    }
    return orRescue(append, { directories, sessionId, entries, atMs })
  }

  #append(
    sessionId: string,
    entries: readonly NewEntry[],
    {
      lease,
      atMs,
      take,
      write,
    }: {
      readonly lease: Lease
      readonly atMs: number
      readonly take?: readonly string[] | undefined
      /** What else belongs to the transaction. */
      readonly write: () => unknown
    },
  ): Promise<readonly number[]> {
    return this.#connection.write(() => {
      this.#leases.use(sessionId, lease)
      if (take) this.#inbox.take(sessionId, take)
      write()
      if (entries.some(({ type }) => type === 'message')) this.#partials.forget(sessionId)
      const seqs = entries.map((entry) => this.insert(sessionId, entry, atMs))
      const counts = countEntries(entries)
      if (counts) this.#connection.statement(UPDATE_COUNTS).run(countParameters(sessionId, counts))
      this.#touch(sessionId, atMs)
      this.appended()
      return seqs
    })
  }

  #touch(sessionId: string, atMs: number): void {
    if (Math.abs(atMs - (this.#touchedMs.get(sessionId) ?? Number.NEGATIVE_INFINITY)) < TOUCH_EVERY_MS) return
    this.#connection.statement(TOUCH).run(atMs, sessionId)
    // In the order in which they were touched: those that would be touched again anyhow are not remembered.
    for (const [other, touchedMs] of this.#touchedMs) {
      if (Math.abs(atMs - touchedMs) < TOUCH_EVERY_MS) break
      this.#touchedMs.delete(other)
    }
    this.#touchedMs.delete(sessionId)
    this.#touchedMs.set(sessionId, atMs)
  }

  /** Inside a transaction; the caller counts. */
  insert(sessionId: string, entry: NewEntry, atMs: number): number {
    return entry.type === 'message'
      ? this.#insertMessage(sessionId, entry, atMs)
      : this.#insertOther(sessionId, entry, atMs)
  }

  #insertMessage(sessionId: string, entry: MessageEntry, atMs: number): number {
    const { columns, payload } = encodeMessage(entry)
    const timestamp = atMs / 1000
    const { lastInsertRowid } = this.#connection
      .statement(INSERT_MESSAGE)
      .run(
        sessionId,
        columns.role,
        columns.content,
        columns.tool_call_id,
        columns.tool_calls,
        columns.tool_name,
        timestamp,
        entry.usage?.outputTokens ?? null,
        columns.finish_reason,
        columns.reasoning,
      )
    const seq = Number(lastInsertRowid)
    if (payload !== null || toMs(timestamp) !== atMs) {
      this.#connection.statement(INSERT_ENTRY).run(sessionId, seq, 'message', atMs, payload ?? '{}')
    }
    return seq
  }

  #insertOther(sessionId: string, entry: Exclude<NewEntry, MessageEntry>, atMs: number): number {
    const { type, ...payload } = entry
    const { seq } = this.#connection.statement(NEXT_SEQ).get() as { seq: number }
    this.#connection.statement(INSERT_ENTRY).run(sessionId, seq, type, atMs, JSON.stringify(payload))
    return seq
  }
}

function toEntry(row: EntryRow): Entry {
  const { seq, type, payload } = row
  if (type !== 'message') return { ...JSON.parse(payload!), type, seq, atMs: row.at_ms } as Entry
  const atMs = row.at_ms ?? toMs(row.timestamp)
  if (isMessageRole(row.role)) return { ...decodeMessage(row, payload), seq, atMs }
  return { type: 'note', kind: `message.${row.role}`, data: { content: row.content }, seq, atMs }
}

/** Other programs also keep rows of their own roles, which no model should see. */
function isMessageRole(role: string): boolean {
  return role === 'user' || role === 'assistant' || role === 'tool' || role === 'system'
}

function toMs(timestampSeconds: number): number {
  return Math.round(timestampSeconds * 1000)
}

// Made by the first answer that takes a second.
const CREATE = `CREATE TABLE IF NOT EXISTS hermes_partials (
    session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
    after_seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    payload TEXT NOT NULL
  )`
const EXISTS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'hermes_partials'"
const NEWEST = 'SELECT coalesce(max(id), 0) FROM messages WHERE session_id = ?'
const PUT = 'INSERT OR REPLACE INTO hermes_partials (session_id, after_seq, at_ms, payload) VALUES (?, ?, ?, ?)'
const GET = 'SELECT after_seq, at_ms, payload FROM hermes_partials WHERE session_id = ?'

/** Answers that are being streamed: a row per session, outside the log. All of it runs inside transactions. */
class Partials {
  readonly #connection: Connection
  readonly #kept = new Set<string>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** In place of what was kept before. */
  put(sessionId: string, entry: MessageEntry, atMs: number): void {
    if (!this.#kept.has(sessionId)) this.#connection.statement(CREATE).run()
    this.#kept.add(sessionId)
    this.#connection.statement(PUT).run(sessionId, this.#newest(sessionId), atMs, JSON.stringify(entry))
  }

  /** Costs nothing in a session of which nothing was kept: what others kept went into the log with the lease. */
  forget(sessionId: string): void {
    if (this.#kept.delete(sessionId)) this.#connection.statement(FORGET_PARTIAL).run(sessionId)
  }

  has(sessionId: string): boolean {
    return (
      this.#connection.statement(EXISTS).get() !== undefined &&
      this.#connection.statement(GET).get(sessionId) !== undefined
    )
  }

  /** Takes away what was kept; `null` when there is nothing that belongs into the log. */
  take(sessionId: string): ReturnType<typeof toLeftAnswer> {
    if (!this.has(sessionId)) return null
    const row = this.#connection.statement(GET).get(sessionId) as PartialRow
    this.#connection.statement(FORGET_PARTIAL).run(sessionId)
    return toLeftAnswer(row, this.#newest(sessionId))
  }

  #newest(sessionId: string): number {
    return this.#connection.statement(NEWEST).pluck().get(sessionId) as number
  }
}
