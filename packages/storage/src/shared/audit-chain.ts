import { createHash } from 'node:crypto'
import { HermesError } from '@hermes/contracts'
import type { AuditCheck, AuditRecord } from '@hermes/contracts/policy'

/** A record of the trail as its table has it. */
export interface AuditRow {
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
export function chain(
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
export async function verifyChain(pages: AuditPages, head: string | undefined): Promise<AuditCheck> {
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
export function brokenTrail(): HermesError {
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
