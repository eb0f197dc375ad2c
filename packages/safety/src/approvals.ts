import type { ApprovalChoice, ApprovalQuestion } from '@hermes/contracts/policy'

/** One question to a person, kept until it is answered and its answer was used. */
export interface Approval {
  readonly id: string
  readonly question: ApprovalQuestion
  /** Every rule an answer for the session covers. */
  readonly rules: readonly string[]
  readonly askedAtMs: number
  /** `parked`: nobody answered in time, an answer still counts for the next try. `used`: nothing is left to do. */
  readonly status: 'open' | 'parked' | 'answered' | 'used'
  readonly choice: ApprovalChoice | null
  readonly by: string | null
}

/** Where approvals live. A rejection counts as a denial. */
export interface ApprovalStore {
  /** Adds or replaces by id. */
  put(approval: Approval): Promise<void>
  get(id: string): Promise<Approval | null>
  /** Those of a session that are not `used`, oldest first. */
  pending(sessionId: string): Promise<readonly Approval[]>
}

/** Keeps approvals as long as the process lives. */
export function createMemoryApprovalStore(): ApprovalStore {
  const approvals = new Map<string, Approval>()
  return {
    put: async (approval) => {
      if (approval.status === 'used') approvals.delete(approval.id)
      else approvals.set(approval.id, approval)
    },
    get: async (id) => approvals.get(id) ?? null,
    pending: async (sessionId) =>
      [...approvals.values()].filter(({ question }) => question.subject.sessionId === sessionId),
  }
}

/** One decision, for the audit trail. */
export interface AuditRecord {
  readonly atMs: number
  readonly sessionId: string
  readonly surface: string
  /** What was asked for, on one line, secrets redacted. */
  readonly action: string
  readonly decision: 'allow' | 'ask' | 'deny' | 'parked'
  readonly rule: string
  /** Who answered, where a person did. */
  readonly by: string | null
}

/** Where decisions are written down. What it throws is logged and changes no decision. */
export interface AuditSink {
  record(entry: AuditRecord): void | Promise<void>
}
