import type { AuditCheck, AuditEntry, AuditFilter, AuditLog, AuditRecord } from '@hermes/contracts/policy'
import { type AuditRow, brokenTrail, chain, verifyChain } from '../../shared/audit-chain.js'
import type { Connection } from '../server/connection.js'
import type { Statements } from '../server/statements.js'

// Who adds to the trail waits here for others who do: each record is bound to the one before.
const LOCK = 'SELECT seq FROM hermes_audit_counted FOR UPDATE'
const COUNT = 'UPDATE hermes_audit_counted SET seq = $1'
const COUNTED = 'SELECT seq FROM hermes_audit_counted'
const LAST = 'SELECT seq, hash FROM hermes_audit ORDER BY seq DESC LIMIT 1'
const INSERT = `
  INSERT INTO hermes_audit (seq, at_ms, session_id, kind, decision, tool, record, hash, words)
  SELECT * FROM unnest($1::bigint[], $2::float8[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])`
const LIST = `
  SELECT seq, record, hash FROM hermes_audit
  WHERE at_ms >= coalesce($1, at_ms) AND at_ms < coalesce($2, at_ms + 1)
    AND ($3::text IS NULL OR session_id = $3) AND ($4::text IS NULL OR decision = $4)
    AND ($5::text IS NULL OR kind = $5) AND ($6::text IS NULL OR tool = $6)
    AND ($7::text IS NULL OR position($7 IN words) > 0)
  ORDER BY seq DESC LIMIT $8`
// The first record that stays: times of several processes are not quite in the order of the records.
const BOUNDS = `
  SELECT (SELECT min(seq) FROM hermes_audit) AS oldest, (SELECT min(seq) FROM hermes_audit WHERE at_ms >= $1) AS kept`
const HASH = 'SELECT hash FROM hermes_audit WHERE seq = $1'
const REMOVE = 'DELETE FROM hermes_audit WHERE seq <= $1'
const PRUNED = `
  SELECT record FROM hermes_audit WHERE (record::json -> 'pruned') IS NOT NULL ORDER BY seq DESC LIMIT 1`
const PAGE = 'SELECT * FROM hermes_audit WHERE seq > $1 ORDER BY seq LIMIT 2000'

/** The audit trail on PostgreSQL. */
export class AuditTrail implements AuditLog {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  append(records: readonly AuditRecord[]): Promise<void> {
    return this.#connection.write('audit', async (statements) =>
      this.#append(statements, await lock(statements), records),
    )
  }

  list(filter: AuditFilter = {}): Promise<readonly AuditEntry[]> {
    const { sinceMs = null, untilMs = null, sessionId = null, decision = null, kind = null } = filter
    const { toolName = null, text = null, limit = 50 } = filter
    const parameters = [sinceMs, untilMs, sessionId, decision, kind, toolName, text?.toLowerCase() ?? null, limit]
    return this.#connection.read(async (statements) => {
      const rows = await statements.all<Pick<AuditRow, 'seq' | 'record' | 'hash'>>(LIST, ...parameters)
      return rows.map(({ seq, record, hash }) => ({ ...(JSON.parse(record) as AuditRecord), seq, hash }))
    })
  }

  verify({ head }: { readonly head?: string } = {}): Promise<AuditCheck> {
    const pages = {
      pruned: () => this.#connection.read(prunedBy),
      after: (seq: number) => this.#connection.read((statements) => statements.all<AuditRow>(PAGE, seq)),
      counted: () =>
        this.#connection.read(async (statements) => (await statements.first<{ seq: number }>(COUNTED))!.seq),
    }
    return verifyChain(pages, head)
  }

  prune({ beforeMs, record }: { readonly beforeMs: number; readonly record: AuditRecord }): Promise<number> {
    return this.#connection.write('audit', async (statements) => {
      const counted = await lock(statements)
      const { oldest, kept } = (await statements.first<{ oldest: number | null; kept: number | null }>(
        BOUNDS,
        beforeMs,
      ))!
      const upToSeq = (kept ?? counted + 1) - 1
      if (oldest === null || upToSeq < oldest) return 0
      const last = await statements.first<{ hash: string }>(HASH, upToSeq)
      if (!last) throw brokenTrail()
      await this.#append(statements, counted, [{ ...record, pruned: { upToSeq, hash: last.hash } }])
      await statements.run(REMOVE, upToSeq)
      return upToSeq - oldest + 1
    })
  }

  async #append(statements: Statements, counted: number, records: readonly AuditRecord[]): Promise<void> {
    const last = await statements.first<{ seq: number; hash: string }>(LAST)
    // What was taken away leaves a gap that verify finds, rather than a number used twice.
    const rows = chain(records, { seq: Math.max(last?.seq ?? 0, counted), hash: last?.hash ?? '' })
    const column = <Name extends keyof AuditRow>(name: Name) => rows.map((row) => row[name])
    const names = ['seq', 'at_ms', 'session_id', 'kind', 'decision', 'tool', 'record', 'hash'] as const
    const words = records.map(({ action, rule }) => `${action}\n${rule}`.toLowerCase())
    await statements.run(INSERT, ...names.map(column), words)
    await statements.run(COUNT, rows.at(-1)?.seq ?? counted)
  }
}

async function lock(statements: Statements): Promise<number> {
  return (await statements.first<{ seq: number }>(LOCK))!.seq
}

async function prunedBy(statements: Statements): Promise<AuditRecord['pruned'] | null> {
  const row = await statements.first<{ record: string }>(PRUNED)
  return row ? ((JSON.parse(row.record) as AuditRecord).pruned ?? null) : null
}
