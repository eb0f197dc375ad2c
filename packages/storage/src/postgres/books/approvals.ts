import { type Approval, type ApprovalStore, approvalToJson, parseApproval } from '@hermes/contracts/policy'
import type { Connection } from '../server/connection.js'

const PUT = `
  INSERT INTO hermes_approvals (id, session_id, status, asked_at_ms, expires_at_ms, approval) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (id) DO UPDATE SET session_id = excluded.session_id, status = excluded.status,
    asked_at_ms = excluded.asked_at_ms, expires_at_ms = excluded.expires_at_ms, approval = excluded.approval
  WHERE hermes_approvals.status <> 'answered' OR excluded.status = 'answered'`
const REMOVE = 'DELETE FROM hermes_approvals WHERE id = $1'
const REMOVE_EXPIRED = 'DELETE FROM hermes_approvals WHERE expires_at_ms <= $1'
const GET = 'SELECT approval FROM hermes_approvals WHERE id = $1'
const PENDING = `
  SELECT approval FROM hermes_approvals WHERE $1::text IS NULL OR session_id = $1 ORDER BY asked_at_ms, number`

interface StoredRow {
  readonly approval: string
}

/** Questions to a person on PostgreSQL: another process may answer them, and they outlive the one that asked. */
export class StoredApprovals implements ApprovalStore {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  put(approval: Approval): Promise<void> {
    const { id, status, askedAtMs, expiresAtMs, question } = approval
    return this.#connection.write(`approval ${id}`, async (statements) => {
      if (status === 'used') {
        await statements.run(REMOVE, id)
        return
      }
      if (status === 'open') await statements.run(REMOVE_EXPIRED, askedAtMs)
      const { sessionId } = question.subject
      await statements.run(PUT, id, sessionId, status, askedAtMs, expiresAtMs, JSON.stringify(approvalToJson(approval)))
    })
  }

  get(id: string): Promise<Approval | null> {
    return this.#connection.read(async (statements) => {
      const row = await statements.first<StoredRow>(GET, id)
      return row ? parseApproval(row.approval) : null
    })
  }

  pending(sessionId?: string): Promise<readonly Approval[]> {
    return this.#connection.read(async (statements) => {
      const rows = await statements.all<StoredRow>(PENDING, sessionId ?? null)
      return rows.map((row) => parseApproval(row.approval))
    })
  }
}
