import type { Action, AuditRecord, Subject } from '@hermes/contracts/policy'
import { describeAction } from './describe-action.js'

/** How an action was decided. */
export interface AuditedDecision {
  readonly decision: AuditRecord['decision']
  readonly rule: string
  readonly approvalId?: string
  readonly by?: string | null
}

/** Whether a decision goes into the trail: reads that nothing stands against would fill it and slow every turn. */
export function isAudited(action: Action, { decision, approvalId }: AuditedDecision): boolean {
  return action.type !== 'read' || decision !== 'allow' || approvalId !== undefined
}

/** The record of a decision, secrets taken out by `redact`. */
export function auditRecord(
  action: Action,
  subject: Subject,
  { decision, rule, approvalId, by }: AuditedDecision,
  { atMs, redact }: { readonly atMs: number; readonly redact: (text: string) => string },
): AuditRecord {
  return {
    atMs,
    sessionId: subject.sessionId,
    surface: subject.platform,
    user: subject.user ?? null,
    agentPath: [...subject.agentPath, ...(subject.skill ? [`skill:${subject.skill.name}`] : [])],
    origin: subject.origin,
    toolName: subject.toolName ?? null,
    kind: action.type,
    action: redact(describeAction(action)),
    decision,
    rule: redact(rule),
    approvalId: approvalId ?? null,
    by: by ?? null,
  }
}
