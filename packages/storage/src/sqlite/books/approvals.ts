import { type Approval, type ApprovalStore, approvalToJson, parseApproval } from '@hermes/contracts/policy'
import type { Connection } from '../file/connection.js'

// Made by the first question. Rows go when their answer was used, or with the first question after they expired.
const CREATE = `CREATE TABLE IF NOT EXISTS hermes_approvals (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    status TEXT NOT NULL,
    asked_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    approval TEXT NOT NULL
  )`
const EXISTS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'hermes_approvals'"
const PUT = `
  INSERT INTO hermes_approvals (id, session_id, status, asked_at_ms, expires_at_ms, approval)
  VALUES (:id, :sessionId, :status, :askedAtMs, :expiresAtMs, :approval)
  ON CONFLICT (id) DO UPDATE SET session_id = :sessionId, status = :status, asked_at_ms = :askedAtMs,
    expires_at_ms = :expiresAtMs, approval = :approval
  WHERE hermes_approvals.status <> 'answered' OR :status = 'answered'`
const REMOVE = 'DELETE FROM hermes_approvals WHERE id = ?'
const REMOVE_EXPIRED = 'DELETE FROM hermes_approvals WHERE expires_at_ms <= ?'
const GET = 'SELECT approval FROM hermes_approvals WHERE id = ?'
const PENDING = `
  SELECT approval FROM hermes_approvals WHERE :sessionId IS NULL OR session_id = :sessionId ORDER BY asked_at_ms, rowid`

/** Questions to a person on SQLite: another process may answer them, and they outlive the one that asked. */
export class StoredApprovals implements ApprovalStore {
  readonly #connection: Connection
  #isMade = false

  constructor(connection: Connection) {
    this.#connection = connection
  }

  put(approval: Approval): Promise<void> {
    return this.#connection.write(() => {
      if (!this.#isMade) this.#connection.statement(CREATE).run()
      this.#isMade = true
      const { id, status, askedAtMs, expiresAtMs, question } = approval
      if (status === 'used') {
        this.#connection.statement(REMOVE).run(id)
        return
      }
      if (status === 'open') this.#connection.statement(REMOVE_EXPIRED).run(askedAtMs)
      const { sessionId } = question.subject
      const bound = {
        id,
        sessionId,
        status,
        askedAtMs,
        expiresAtMs,
        approval: JSON.stringify(approvalToJson(approval)),
      }
      this.#connection.statement(PUT).run(bound)
    })
  }

  get(id: string): Promise<Approval | null> {
    return this.#connection.read(() => {
      const row = this.#exists() ? (this.#connection.statement(GET).get(id) as StoredRow | undefined) : undefined
      return row ? parseApproval(row.approval) : null
    })
  }

  pending(sessionId?: string): Promise<readonly Approval[]> {
    return this.#connection.read(() => {
      if (!this.#exists()) return []
      const rows = this.#connection.statement(PENDING).all({ sessionId: sessionId ?? null }) as StoredRow[]
      return rows.map((row) => parseApproval(row.approval))
    })
  }

  #exists(): boolean {
    return this.#isMade || this.#connection.statement(EXISTS).get() !== undefined
  }
}

interface StoredRow {
  readonly approval: string
}
