import type { AuditCheck, AuditEntry, AuditFilter, AuditLog, AuditRecord } from '@hermes/contracts/policy'
import { type AuditRow, brokenTrail, chain, verifyChain } from '../../shared/audit-chain.js'
import type { Connection } from '../file/connection.js'

// Made by the first record, so that opening a store costs no more for it. Rows belong to no session by a foreign key: what was done stays
// done when a session is deleted. The sequence of AUTOINCREMENT tells when the newest rows are taken away.
const CREATE = [
  `CREATE TABLE IF NOT EXISTS hermes_audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    decision TEXT NOT NULL,
    tool TEXT,
    record TEXT NOT NULL,
    hash TEXT NOT NULL
  )`,
  'CREATE INDEX IF NOT EXISTS hermes_audit_at ON hermes_audit(at_ms)',
]
const EXISTS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'hermes_audit'"
const LAST = 'SELECT seq, hash FROM hermes_audit ORDER BY seq DESC LIMIT 1'
const COUNTED = "SELECT seq FROM sqlite_sequence WHERE name = 'hermes_audit'"
const INSERT = `
  INSERT INTO hermes_audit (seq, at_ms, session_id, kind, decision, tool, record, hash)
  VALUES (:seq, :at_ms, :session_id, :kind, :decision, :tool, :record, :hash)`
const LIST = `
  SELECT seq, record, hash FROM hermes_audit
  WHERE at_ms >= coalesce(:sinceMs, at_ms) AND at_ms < coalesce(:untilMs, at_ms + 1)
    AND (:sessionId IS NULL OR session_id = :sessionId) AND (:decision IS NULL OR decision = :decision)
    AND (:kind IS NULL OR kind = :kind) AND (:toolName IS NULL OR tool = :toolName)
    AND (:text IS NULL OR instr(lower(json_extract(record, '$.action') || char(10) || json_extract(record, '$.rule')), lower(:text)))
  ORDER BY seq DESC LIMIT :limit`
// The first record that stays: times of several processes are not quite in the order of the records.
const KEPT = 'SELECT min(seq) AS seq FROM hermes_audit WHERE at_ms >= ?'
const OLDEST = 'SELECT seq FROM hermes_audit ORDER BY seq LIMIT 1'
const HASH = 'SELECT hash FROM hermes_audit WHERE seq = ?'
const REMOVE = 'DELETE FROM hermes_audit WHERE seq <= ?'
const PRUNED =
  "SELECT record FROM hermes_audit WHERE json_extract(record, '$.pruned') IS NOT NULL ORDER BY seq DESC LIMIT 1"
const PAGE = 'SELECT * FROM hermes_audit WHERE seq > ? ORDER BY seq LIMIT 2000'

type SeqRow = Pick<AuditRow, 'seq'>

/** The audit trail on SQLite. */
export class AuditTrail implements AuditLog {
  readonly #connection: Connection
  #isMade = false

  constructor(connection: Connection) {
    this.#connection = connection
  }

  append(records: readonly AuditRecord[]): Promise<void> {
    return this.#connection.write(() => this.#append(records))
  }

  #append(records: readonly AuditRecord[]): void {
    if (!this.#isMade) for (const sql of CREATE) this.#connection.statement(sql).run()
    const last = this.#connection.statement(LAST).get() as Pick<AuditRow, 'seq' | 'hash'> | undefined
    // What was taken away leaves a gap that verify finds, rather than a number used twice.
    const rows = chain(records, { seq: Math.max(last?.seq ?? 0, this.#counted()), hash: last?.hash ?? '' })
    const insert = this.#connection.statement(INSERT)
    for (const row of rows) insert.run(row)
    this.#isMade = true
  }

  list(filter: AuditFilter = {}): Promise<readonly AuditEntry[]> {
    const { sinceMs = null, untilMs = null, sessionId = null, decision = null, kind = null } = filter
    const { toolName = null, text = null, limit = 50 } = filter
    return this.#connection.read(() => {
      if (!this.#exists()) return []
      const bound = { sinceMs, untilMs, sessionId, decision, kind, toolName, text, limit }
      const rows = this.#connection.statement(LIST).all(bound) as Pick<AuditRow, 'seq' | 'record' | 'hash'>[]
      return rows.map(({ seq, record, hash }) => ({ ...(JSON.parse(record) as AuditRecord), seq, hash }))
    })
  }

  verify({ head }: { readonly head?: string } = {}): Promise<AuditCheck> {
    const read = <Result>(work: () => Result, empty: Result) =>
      this.#connection.read(() => (this.#exists() ? work() : empty))
    const pages = {
      pruned: () => read(() => this.#pruned(), null),
      after: (seq: number) => read(() => this.#connection.statement(PAGE).all(seq) as AuditRow[], []),
      counted: () => read(() => this.#counted(), 0),
    }
    return verifyChain(pages, head)
  }

  prune({ beforeMs, record }: { readonly beforeMs: number; readonly record: AuditRecord }): Promise<number> {
    return this.#connection.write(() => {
      const oldest = this.#exists() ? (this.#connection.statement(OLDEST).get() as SeqRow | undefined) : undefined
      if (!oldest) return 0
      const kept = (this.#connection.statement(KEPT).get(beforeMs) as { readonly seq: number | null }).seq
      const upToSeq = (kept ?? this.#counted() + 1) - 1
      if (upToSeq < oldest.seq) return 0
      const last = this.#connection.statement(HASH).get(upToSeq) as Pick<AuditRow, 'hash'> | undefined
      if (!last) throw brokenTrail()
      this.#append([{ ...record, pruned: { upToSeq, hash: last.hash } }])
      this.#connection.statement(REMOVE).run(upToSeq)
      return upToSeq - oldest.seq + 1
    })
  }

  #pruned(): NonNullable<AuditRecord['pruned']> | null {
    const row = this.#connection.statement(PRUNED).get() as Pick<AuditRow, 'record'> | undefined
    return row ? ((JSON.parse(row.record) as AuditRecord).pruned ?? null) : null
  }

  #counted(): number {
    return (this.#connection.statement(COUNTED).get() as { readonly seq: number } | undefined)?.seq ?? 0
  }

  #exists(): boolean {
    return this.#isMade || this.#connection.statement(EXISTS).get() !== undefined
  }
}
