import { createHash } from 'node:crypto'
import { HermesError } from '@hermes/contracts'
import type { AuditCheck, AuditEntry, AuditFilter, AuditLog, AuditRecord } from '@hermes/contracts/policy'
import { sql } from 'kysely'
import type { Database, Work } from '../shared/database.js'
import { all, first, run } from '../shared/database.js'

const DEFAULT_LIMIT = 50
const PAGE_ROWS = 2_000
const KEY = 'audit'

/**
 * The audit trail. Rows belong to no session by a foreign key: what was done stays done when a session is deleted. A count apart from them
 * tells when the newest rows are taken away.
 */
export class AuditTrail implements AuditLog {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  append(records: readonly AuditRecord[]): Promise<void> {
    const database = this.#database
    return database.write(KEY, function* () {
      yield* database.make('hermes_audit')
      yield* add(database, yield* counted(database, { isLocked: true }), records)
    })
  }

  list(filter: AuditFilter = {}): Promise<readonly AuditEntry[]> {
    const { sinceMs, untilMs, sessionId, decision, kind, toolName, text, limit = DEFAULT_LIMIT } = filter
    const database = this.#database
    let query = database.builder.selectFrom('hermes_audit').select(['seq', 'record', 'hash'])
    if (sinceMs !== undefined) query = query.where('at_ms', '>=', sinceMs)
    if (untilMs !== undefined) query = query.where('at_ms', '<', untilMs)
    if (sessionId !== undefined) query = query.where('session_id', '=', sessionId)
    if (decision !== undefined) query = query.where('decision', '=', decision)
    if (kind !== undefined) query = query.where('kind', '=', kind)
    if (toolName !== undefined) query = query.where('tool', '=', toolName)
    if (text !== undefined) query = query.where(says(database, text))
    const newest = query.orderBy('seq', 'desc').limit(limit)
    return database.read(function* () {
      if (!(yield* database.has('hermes_audit'))) return []
      const rows = yield* all(newest)
      return rows.map(({ seq, record, hash }) => ({ ...(JSON.parse(record) as AuditRecord), seq, hash }))
    })
  }

  verify({ head }: { readonly head?: string } = {}): Promise<AuditCheck> {
    const database = this.#database
    const read = <Result>(work: () => Work<Result>, empty: Result) =>
      database.read(function* () {
        return (yield* database.has('hermes_audit')) ? yield* work() : empty
      })
    const page = (seq: number) => {
      const rows = database.builder.selectFrom('hermes_audit').selectAll().where('seq', '>', seq)
      return all(rows.orderBy('seq').limit(PAGE_ROWS))
    }
    const pages = {
      pruned: () => read(() => prunedBy(database), null),
      after: (seq: number) => read<readonly AuditRow[]>(() => page(seq), []),
      counted: () => read(() => counted(database), 0),
    }
    return verifyChain(pages, head)
  }

  prune({ beforeMs, record }: { readonly beforeMs: number; readonly record: AuditRecord }): Promise<number> {
    const database = this.#database
    const trail = () => database.builder.selectFrom('hermes_audit')
    const lowest = () => trail().select(sql<number | null>`min(seq)`.as('seq'))
    return database.write(KEY, function* () {
      if (!(yield* database.has('hermes_audit'))) return 0
      const last = yield* counted(database, { isLocked: true })
      const oldest = (yield* first(lowest()))?.seq ?? null
      // The first record that stays: times of several processes are not quite in the order of the records.
      const kept = (yield* first(lowest().where('at_ms', '>=', beforeMs)))?.seq ?? last + 1
      const upToSeq = kept - 1
      if (oldest === null || upToSeq < oldest) return 0
      const gone = yield* first(trail().select('hash').where('seq', '=', upToSeq))
      if (!gone) throw brokenTrail()
      yield* add(database, last, [{ ...record, pruned: { upToSeq, hash: gone.hash } }])
      yield* run(database.builder.deleteFrom('hermes_audit').where('seq', '<=', upToSeq))
      return upToSeq - oldest + 1
    })
  }
}

function* add({ builder, dialect }: Database, counted: number, records: readonly AuditRecord[]): Work<void> {
  const last = yield* first(builder.selectFrom('hermes_audit').select(['seq', 'hash']).orderBy('seq', 'desc').limit(1))
  // What was taken away leaves a gap that verify finds, rather than a number used twice.
  const rows = chain(records, { seq: Math.max(last?.seq ?? 0, counted), hash: last?.hash ?? '' })
  if (rows.length === 0) return
  if (dialect === 'sqlite') return void (yield* run(builder.insertInto('hermes_audit').values(rows)))
  const words = records.map(({ action, rule }) => `${action}\n${rule}`.toLowerCase())
  yield* run(builder.insertInto('hermes_audit').values(rows.map((row, at) => ({ ...row, words: words[at]! }))))
  yield* run(builder.updateTable('hermes_audit_counted').set({ seq: rows.at(-1)!.seq }))
}

/** How far the trail went. On a server who adds to it waits here for others who do: each record is bound to the one before. */
function* counted({ builder, dialect }: Database, { isLocked = false } = {}): Work<number> {
  if (dialect === 'sqlite') return (yield* first(sequence(builder)))?.seq ?? 0
  const row = builder.selectFrom('hermes_audit_counted').select('seq')
  return (yield* first(isLocked ? row.forUpdate() : row))!.seq
}

/** What AUTOINCREMENT remembers. */
function sequence(builder: Database['builder']) {
  return builder
    .selectFrom(sql<{ name: string; seq: number }>`sqlite_sequence`.as('sequence'))
    .select('seq')
    .where('name', '=', 'hermes_audit')
}

function says({ dialect }: Database, text: string) {
  return dialect === 'sqlite'
    ? sql<boolean>`instr(lower(json_extract(record, '$.action') || char(10) || json_extract(record, '$.rule')), lower(${text})) > 0`
    : sql<boolean>`position(${text.toLowerCase()} IN words) > 0`
}

function* prunedBy({ builder, dialect }: Database): Work<AuditRecord['pruned'] | null> {
  const isPruning = dialect === 'sqlite' ? sql`json_extract(record, '$.pruned')` : sql`record::json -> 'pruned'`
  const newest = builder
    .selectFrom('hermes_audit')
    .select('record')
    .where(sql<boolean>`(${isPruning}) IS NOT NULL`)
    .orderBy('seq', 'desc')
    .limit(1)
  const row = yield* first(newest)
  return row ? ((JSON.parse(row.record) as AuditRecord).pruned ?? null) : null
}

/** A record of the trail as its table has it. */
interface AuditRow {
  readonly seq: number
  readonly at_ms: number
  readonly session_id: string
  readonly kind: string
  readonly decision: string
  readonly tool: string | null
  readonly record: string
  readonly hash: string
}

/** What is read to verify a trail. */
interface AuditPages {
  /** What the newest pruning took away. */
  pruned(): Promise<AuditRecord['pruned'] | null>
  /** The next rows in their order; none at the end. */
  after(seq: number): Promise<readonly AuditRow[]>
  /** How far the trail went, whatever was taken away since. */
  counted(): Promise<number>
}

/** The rows of `records` after `last`, each bound to the one before. */
function chain(
  records: readonly AuditRecord[],
  last: { readonly seq: number; readonly hash: string },
): readonly AuditRow[] {
  let { seq, hash } = last
  return records.map((one) => {
    const record = JSON.stringify(one)
    seq += 1
    hash = hashOf(hash, seq, record)
    const { atMs, sessionId, kind, decision, toolName } = one
    return { seq, at_ms: atMs, session_id: sessionId, kind, decision, tool: toolName, record, hash }
  })
}

/** Reads a whole trail. */
async function verifyChain(pages: AuditPages, head: string | undefined): Promise<AuditCheck> {
  const pruned = (await pages.pruned()) ?? null
  const gone = pruned?.upToSeq ?? 0
  let [seq, hash] = [gone, pruned?.hash ?? '']
  let isHeadSeen = head === undefined || (pruned !== null && head === pruned.hash)
  for (;;) {
    const page = await pages.after(seq)
    for (const row of page) {
      if (row.seq !== seq + 1) return { type: 'broken', seq: seq + 1, reason: 'It is missing.' }
      const reason = faultOf(row, hash)
      if (reason !== null) return { type: 'broken', seq: row.seq, reason }
      ;[seq, hash] = [row.seq, row.hash]
      isHeadSeen ||= hash === head
    }
    if (page.length === 0) break
  }
  if ((await pages.counted()) > seq)
    return { type: 'broken', seq: seq + 1, reason: 'It is missing, with all that came after it.' }
  if (!isHeadSeen) return { type: 'broken', seq: gone + 1, reason: noHead(head!, gone) }
  return { type: 'intact', records: seq - gone, pruned: gone, head: seq === 0 ? null : hash }
}

/** The record that nothing could be bound to is not there. */
function brokenTrail(): HermesError {
  return new HermesError('The audit trail has gaps, so nothing of it is taken away; look with: hermes audit verify', {
    code: 'store.audit_broken',
  })
}

function noHead(head: string, gone: number): string {
  const missing = `No record has the hash ${head}: `
  return gone === 0
    ? `${missing}the trail was rewritten.`
    : `${missing}it was among the ${gone} that were pruned, or the trail was rewritten.`
}

function faultOf(row: AuditRow, before: string): string | null {
  if (hashOf(before, row.seq, row.record) !== row.hash)
    return 'Its hash does not fit it and the record before it: one of the two was changed.'
  // The columns beside the record are there to search by; they say the same.
  const { atMs, sessionId, kind, decision, toolName } = JSON.parse(row.record) as AuditRecord
  const isSame = [atMs, sessionId, kind, decision, toolName].every(
    (value, at) => value === [row.at_ms, row.session_id, row.kind, row.decision, row.tool][at],
  )
  return isSame ? null : 'The columns it is found by were changed.'
}

function hashOf(before: string, seq: number, record: string): string {
  return createHash('sha256').update(`${before}\n${seq}\n${record}`).digest('hex')
}
