import { createHash } from 'node:crypto'
import { HermesError } from '@hermes/contracts'
import type { AuditCheck, AuditEntry, AuditFilter, AuditLog, AuditRecord } from '@hermes/contracts/policy'
import type { Connection } from './connection.js'

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
  VALUES (:seq, :atMs, :sessionId, :kind, :decision, :toolName, :record, :hash)`
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

interface Row {
  readonly seq: number
  readonly at_ms: number
  readonly session_id: string
  readonly kind: string
  readonly decision: string
  readonly tool: string | null
  readonly record: string
  readonly hash: string
}

type SeqRow = Pick<Row, 'seq'>

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
    const last = this.#connection.statement(LAST).get() as Pick<Row, 'seq' | 'hash'> | undefined
    // What was taken away leaves a gap that verify finds, rather than a number used twice.
    let seq = Math.max(last?.seq ?? 0, this.#counted())
    let hash = last?.hash ?? ''
    const insert = this.#connection.statement(INSERT)
    for (const one of records) {
      const { atMs, sessionId, kind, decision, toolName } = one
      const record = JSON.stringify(one)
      seq += 1
      hash = hashOf(hash, seq, record)
      insert.run({ seq, atMs, sessionId, kind, decision, toolName, record, hash })
    }
    this.#isMade = true
  }

  list(filter: AuditFilter = {}): Promise<readonly AuditEntry[]> {
    const { sinceMs = null, untilMs = null, sessionId = null, decision = null, kind = null } = filter
    const { toolName = null, text = null, limit = 50 } = filter
    return this.#connection.read(() => {
      if (!this.#exists()) return []
      const bound = { sinceMs, untilMs, sessionId, decision, kind, toolName, text, limit }
      const rows = this.#connection.statement(LIST).all(bound) as Pick<Row, 'seq' | 'record' | 'hash'>[]
      return rows.map(({ seq, record, hash }) => ({ ...(JSON.parse(record) as AuditRecord), seq, hash }))
    })
  }

  async verify({ head }: { readonly head?: string } = {}): Promise<AuditCheck> {
    const pruned = await this.#connection.read(() => (this.#exists() ? this.#pruned() : null))
    const gone = pruned?.upToSeq ?? 0
    let [seq, hash] = [gone, pruned?.hash ?? '']
    let isHeadSeen = head === undefined || (pruned !== null && head === pruned.hash)
    for (;;) {
      const page = await this.#connection.read(() =>
        this.#exists() ? (this.#connection.statement(PAGE).all(seq) as Row[]) : [],
      )
      for (const row of page) {
        if (row.seq !== seq + 1) return { type: 'broken', seq: seq + 1, reason: 'It is missing.' }
        const reason = faultOf(row, hash)
        if (reason !== null) return { type: 'broken', seq: row.seq, reason }
        ;[seq, hash] = [row.seq, row.hash]
        isHeadSeen ||= hash === head
      }
      if (page.length === 0) break
    }
    const counted = await this.#connection.read(() => (this.#exists() ? this.#counted() : 0))
    if (counted > seq) return { type: 'broken', seq: seq + 1, reason: 'It is missing, with all that came after it.' }
    if (!isHeadSeen) return { type: 'broken', seq: gone + 1, reason: noHead(head!, gone) }
    return { type: 'intact', records: seq - gone, pruned: gone, head: seq === 0 ? null : hash }
  }

  prune({ beforeMs, record }: { readonly beforeMs: number; readonly record: AuditRecord }): Promise<number> {
    return this.#connection.write(() => {
      const oldest = this.#exists() ? (this.#connection.statement(OLDEST).get() as SeqRow | undefined) : undefined
      if (!oldest) return 0
      const kept = (this.#connection.statement(KEPT).get(beforeMs) as { readonly seq: number | null }).seq
      const upToSeq = (kept ?? this.#counted() + 1) - 1
      if (upToSeq < oldest.seq) return 0
      const last = this.#connection.statement(HASH).get(upToSeq) as Pick<Row, 'hash'> | undefined
      if (!last)
        throw new HermesError(
          'The audit trail has gaps, so nothing of it is taken away; look with: hermes audit verify',
          {
            code: 'store.audit_broken',
          },
        )
      this.#append([{ ...record, pruned: { upToSeq, hash: last.hash } }])
      this.#connection.statement(REMOVE).run(upToSeq)
      return upToSeq - oldest.seq + 1
    })
  }

  #pruned(): NonNullable<AuditRecord['pruned']> | null {
    const row = this.#connection.statement(PRUNED).get() as Pick<Row, 'record'> | undefined
    return row ? ((JSON.parse(row.record) as AuditRecord).pruned ?? null) : null
  }

  #counted(): number {
    return (this.#connection.statement(COUNTED).get() as { readonly seq: number } | undefined)?.seq ?? 0
  }

  #exists(): boolean {
    return this.#isMade || this.#connection.statement(EXISTS).get() !== undefined
  }
}

function noHead(head: string, gone: number): string {
  const missing = `No record has the hash ${head}: `
  return gone === 0
    ? `${missing}the trail was rewritten.`
    : `${missing}it was among the ${gone} that were pruned, or the trail was rewritten.`
}

function faultOf(row: Row, before: string): string | null {
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
