import type { AuditCheck, AuditEntry, AuditFilter, AuditLog, AuditRecord } from '@hermes/contracts/policy'
import { sql } from 'kysely'
import { type AuditRow, brokenTrail, chain, verifyChain } from '../shared/audit-chain.js'
import { all, type Database, first, run, type Work } from '../shared/database.js'

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
