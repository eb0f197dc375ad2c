import type { Clock } from '@hermes/contracts'
import type { Entry, MessageEntry, NewEntry } from '@hermes/contracts/conversation'
import { noUsage } from '@hermes/contracts/conversation'
import type { Lease, NewOutboxMessage } from '@hermes/contracts/store'
import type { Counts } from '../../shared/counts.js'
import { countEntries } from '../../shared/counts.js'
import { leaseLost } from '../../shared/lease-rules.js'
import type { MessageColumns } from '../../shared/message-codec.js'
import { decodeMessage } from '../../shared/message-codec.js'
import type { PartialRow } from '../../shared/partial-row.js'
import { FORGET_PARTIAL, toLeftAnswer } from '../../shared/partial-row.js'
import { orRescue } from '../../shared/rescue.js'
import type { StoredLog } from '../../storage.js'
import type { OutboxStore } from '../../stores/outbox.js'
import type { Connection } from '../server/connection.js'
import type { Statements } from '../server/statements.js'
import { numbered } from '../server/statements.js'
import type { StoredInbox } from './inbox.js'
import type { PostgresLeases } from './leases.js'
import type { NewRow } from './new-rows.js'
import { rowArrays, rowsTable, toRow } from './new-rows.js'

/** Inserts what `numbered` has, in session `$1`. */
const INSERT = `
  added_messages AS (
    INSERT INTO messages (id, session_id, role, content, tool_call_id, tool_calls, tool_name, at_ms, finish_reason, reasoning, words)
    SELECT seq, $1, role, content, tool_call_id, tool_calls, tool_name, at_ms, finish_reason, reasoning, words::tsvector
    FROM numbered WHERE type = 'message'
  ), added_entries AS (
    INSERT INTO hermes_entries (session_id, seq, type, at_ms, payload)
    SELECT $1, seq, type, at_ms, payload FROM numbered WHERE payload IS NOT NULL
  )`
const COUNT = `
  message_count = message_count + $3,
  tool_call_count = tool_call_count + $4,
  api_call_count = api_call_count + $5,
  input_tokens = input_tokens + $6,
  output_tokens = output_tokens + $7,
  cache_read_tokens = cache_read_tokens + $8,
  cache_write_tokens = cache_write_tokens + $9,
  reasoning_tokens = reasoning_tokens + $10,
  estimated_cost_usd = estimated_cost_usd + $11,
  cost_status = coalesce($12, cost_status),
  model = coalesce($13, model),
  billing_provider = coalesce($14, billing_provider),
  system_prompt = coalesce($15, system_prompt)`
// One statement: the lease is checked by writing to its row, so whoever took it meanwhile is seen, and appends of one writer follow each
// other. Numbers are drawn after that, hence in the order of the appends.
const APPEND = `
  WITH held AS (
    UPDATE hermes_leases SET renewed_ms = $16 WHERE token = $17 AND session_id = $1 RETURNING session_id
  ), numbered AS (
    SELECT nextval('hermes_seq') AS seq, ordered.* FROM (SELECT rows.* FROM held, ${rowsTable(18)} ORDER BY place) ordered
  ), counted AS (
    UPDATE sessions SET last_active_ms = greatest(last_active_ms, $2), ${COUNT} FROM held WHERE id = $1
  ), ${INSERT}
  SELECT EXISTS (SELECT FROM held) AS held, (SELECT array_agg(seq ORDER BY place) FROM numbered) AS seqs`
const COPY = `
  WITH numbered AS (SELECT * FROM ${rowsTable(3, { arrays: '$2::bigint[]', names: 'seq' })}), ${INSERT} SELECT 1`
const DRAW = "SELECT nextval('hermes_seq') AS seq FROM generate_series(1, $1::int)"
const SELECT_ENTRIES = `
  SELECT m.id AS seq, 'message' AS type, m.at_ms, e.payload, m.role, m.content, m.tool_call_id, m.tool_calls, m.tool_name,
    m.finish_reason, m.reasoning
  FROM messages m LEFT JOIN hermes_entries e ON e.session_id = m.session_id AND e.seq = m.id
  WHERE m.session_id = $1 AND m.id > $2
  UNION ALL
  SELECT seq, type, at_ms, payload, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM hermes_entries WHERE session_id = $1 AND seq > $2 AND type <> 'message'
  ORDER BY seq`

interface EntryRow extends MessageColumns {
  readonly seq: number
  readonly type: string
  readonly at_ms: number
  readonly payload: string | null
}

interface Appended {
  readonly held: boolean
  readonly seqs: readonly number[] | null
}

/** The append-only log. A message is a row of `messages`, other entries are rows of `hermes_entries`; one counter numbers both. */
export class PostgresLog implements StoredLog {
  readonly #connection: Connection
  readonly #leases: PostgresLeases
  readonly #inbox: StoredInbox
  readonly #outbox: OutboxStore
  readonly #partials = new Partials()

  readonly #clock: Clock
  readonly #rescueDirs: readonly string[]

  constructor(
    connection: Connection,
    options: {
      readonly leases: PostgresLeases
      readonly inbox: StoredInbox
      readonly outbox: OutboxStore
      readonly clock: Clock
      readonly rescueDirs: readonly string[]
    },
  ) {
    this.#connection = connection
    this.#leases = options.leases
    this.#inbox = options.inbox
    this.#outbox = options.outbox
    this.#clock = options.clock
    this.#rescueDirs = options.rescueDirs
  }

  async entries(sessionId: string, { afterSeq = 0 }: { readonly afterSeq?: number } = {}): Promise<readonly Entry[]> {
    if (await this.#connection.read((statements) => this.#isLeft(statements, sessionId))) await this.#settle(sessionId)
    return this.#connection.read((statements) => this.read(statements, sessionId, afterSeq))
  }

  async #isLeft(statements: Statements, sessionId: string): Promise<boolean> {
    return (await this.#partials.has(statements, sessionId)) && (await this.#leases.isFree(statements, sessionId))
  }

  /** Takes in the answer of a writer that is gone, under a lease that lasts as long as that. Who wants the session meanwhile does it. */
  async #settle(sessionId: string): Promise<void> {
    await this.#leases
      .take(sessionId, { owner: 'settling', taken: (statements, lease) => this.settle(statements, lease) })
      .then((lease) => lease.release())
      .catch(() => undefined)
  }

  /** Inside a transaction that took the lease: what was kept of an answer becomes an entry. */
  async settle(statements: Statements, lease: Pick<Lease, 'sessionId' | 'token'>): Promise<void> {
    const { sessionId } = lease
    const left = await this.#partials.take(statements, sessionId)
    if (left === null) return
    const { entry, atMs } = left
    const rows = [toRow(entry, atMs)]
    await this.#insert(statements, sessionId, rows, { lease, counts: countEntries([entry]), atMs })
  }

  keepPartial(
    sessionId: string,
    entry: MessageEntry | null,
    { lease, atMs = this.#clock.now() }: { readonly lease: Lease; readonly atMs?: number },
  ): Promise<void> {
    const held = { token: lease.token, nowMs: this.#leases.now() }
    return this.#connection.writeOne(`session ${sessionId}`, async (statements) => {
      if (entry === null) await this.#partials.forget(statements, sessionId)
      else if (!(await this.#partials.put(statements, sessionId, { entry, atMs, ...held })))
        throw leaseLost(sessionId, lease.token)
    })
  }

  async read(statements: Statements, sessionId: string, afterSeq = 0): Promise<readonly Entry[]> {
    return (await statements.all<EntryRow>(SELECT_ENTRIES, sessionId, afterSeq)).map(toEntry)
  }

  append(
    sessionId: string,
    entries: readonly NewEntry[],
    { lease, atMs = this.#clock.now(), take = [], send = [], rescue = true }: Parameters<StoredLog['append']>[2],
  ): Promise<readonly number[]> {
    const directories = rescue ? this.#rescueDirs : []
    const append = () => this.#append(sessionId, entries, { lease, atMs, take, send })
    return orRescue(append, { directories, sessionId, entries, atMs })
  }

  #append(
    sessionId: string,
    entries: readonly NewEntry[],
    {
      lease,
      atMs,
      take,
      send,
    }: {
      readonly lease: Lease
      readonly atMs: number
      readonly take: readonly string[]
      readonly send: readonly NewOutboxMessage[]
    },
  ): Promise<readonly number[]> {
    // Made now: what the caller changes later is not followed.
    const rows = entries.map((entry) => toRow(entry, atMs))
    const counts = countEntries(entries)
    const key = `session ${sessionId}`
    const insert = (statements: Statements) => this.#insert(statements, sessionId, rows, { lease, counts, atMs })
    const isPartial = this.#partials.isKept(sessionId) && entries.some(({ type }) => type === 'message')
    if (take.length === 0 && send.length === 0 && !isPartial) return this.#connection.writeOne(key, insert)
    return this.#connection.write(key, async (statements) => {
      await this.#inbox.take(statements, sessionId, take)
      if (isPartial) await this.#partials.forget(statements, sessionId)
      if (send.length > 0) await statements.perform(this.#outbox.insert(send))
      return insert(statements)
    })
  }

  /** Inside a transaction: entries of another session with the numbers that `draw` gave; the caller counts. */
  async copy(
    statements: Statements,
    sessionId: string,
    copies: readonly { seq: number; row: NewRow }[],
  ): Promise<void> {
    const seqs = copies.map(({ seq }) => seq)
    await statements.all(COPY, sessionId, seqs, ...rowArrays(copies.map(({ row }) => row)))
  }

  /** The next `count` numbers. */
  async draw(statements: Statements, count: number): Promise<readonly number[]> {
    return (await statements.all<{ seq: number }>(DRAW, count)).map(({ seq }) => seq)
  }

  async #insert(
    statements: Statements,
    sessionId: string,
    rows: readonly NewRow[],
    {
      lease,
      counts,
      atMs,
    }: { readonly lease: Pick<Lease, 'token'>; readonly counts: Counts | null; readonly atMs: number },
  ): Promise<readonly number[]> {
    const activeMs = rows.length === 0 ? null : atMs
    const held = [this.#leases.now(), lease.token]
    const parameters = [sessionId, activeMs, ...countParameters(counts), ...held, ...rowArrays(rows)]
    const appended = await statements.first<Appended>(APPEND, ...parameters)
    if (!appended?.held) throw leaseLost(sessionId, lease.token)
    return appended.seqs ?? []
  }
}

/** `$3` to `$15` of an update of the counters of a session. An unknown cost is kept apart, so that the sum is never read as the truth. */
function countParameters(counts: Counts | null): readonly unknown[] {
  const { messages = 0, toolCalls = 0, apiCalls = 0, usage = noUsage } = counts ?? {}
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, costUsd } = usage
  const tokens = [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens]
  const cost = costUsd === 'unknown' ? [0, 'unknown'] : [costUsd, null]
  const named = [counts?.model ?? null, counts?.provider ?? null, counts?.systemPrompt ?? null]
  return [messages, toolCalls, apiCalls, ...tokens, ...cost, ...named]
}

function toEntry({ seq, type, at_ms: atMs, payload, ...columns }: EntryRow): Entry {
  if (type === 'message') return { ...decodeMessage(columns, payload), seq, atMs }
  return { ...JSON.parse(payload!), type, seq, atMs } as Entry
}

const NEWEST = '(SELECT coalesce(max(id), 0) FROM messages WHERE session_id = $1)'
/** Only while the lease is held, which is checked by writing to its row. */
const PUT = `
  WITH held AS (
    UPDATE hermes_leases SET renewed_ms = $4 WHERE token = $5 AND session_id = $1 RETURNING session_id
  )
  INSERT INTO hermes_partials (session_id, after_seq, at_ms, payload) SELECT $1, ${NEWEST}, $2, $3 FROM held
  ON CONFLICT (session_id) DO UPDATE SET after_seq = excluded.after_seq, at_ms = excluded.at_ms, payload = excluded.payload`
const HAS = 'SELECT 1 FROM hermes_partials WHERE session_id = $1'
const TAKE = `
  DELETE FROM hermes_partials WHERE session_id = $1 RETURNING after_seq, at_ms, payload, ${NEWEST} AS newest_seq`

/** Answers that are being streamed: a row per session, outside the log. */
class Partials {
  readonly #kept = new Set<string>()

  /** In place of what was kept before. `false` when the lease is lost. */
  async put(
    statements: Statements,
    sessionId: string,
    {
      entry,
      atMs,
      nowMs,
      token,
    }: { readonly entry: MessageEntry; readonly atMs: number; readonly nowMs: number; readonly token: number },
  ): Promise<boolean> {
    this.#kept.add(sessionId)
    return (await statements.run(PUT, sessionId, atMs, JSON.stringify(entry), nowMs, token)) === 1
  }

  /** Whether this process kept something of the session; what others kept went into the log with the lease. */
  isKept(sessionId: string): boolean {
    return this.#kept.has(sessionId)
  }

  async forget(statements: Statements, sessionId: string): Promise<void> {
    await statements.run(numbered(FORGET_PARTIAL), sessionId)
    this.#kept.delete(sessionId)
  }

  async has(statements: Statements, sessionId: string): Promise<boolean> {
    return (await statements.first(HAS, sessionId)) !== undefined
  }

  /** Takes away what was kept; `null` when there is nothing that belongs into the log. */
  async take(statements: Statements, sessionId: string): Promise<ReturnType<typeof toLeftAnswer>> {
    const row = await statements.first<PartialRow & { readonly newest_seq: number }>(TAKE, sessionId)
    return row ? toLeftAnswer(row, row.newest_seq) : null
  }
}
