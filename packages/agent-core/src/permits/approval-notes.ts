import type { ApprovalChoice } from '@hermes/contracts/policy'
import type { ToolState } from '@hermes/contracts/tool'

const notesOf = (state: ToolState) => state.scratch('agent.approvals', () => new Map<string, Set<string>>())

const FOR: Readonly<Record<Exclude<ApprovalChoice, 'deny'>, string>> = {
  once: 'this once',
  session: 'for this session',
  always: 'for good',
}

/** Who allowed something a call does, and for how long where a person said so. */
type Approver =
  | { readonly type: 'user'; readonly choice: ApprovalChoice }
  | { readonly type: 'other'; readonly note: string }

/** Notes that somebody allowed what a call does, so that its result can say so. */
export function noteApproval(state: ToolState, callId: string, approver: Approver): void {
  const notes = notesOf(state)
  const of = notes.get(callId) ?? new Set()
  const isLasting = approver.type === 'user' && approver.choice !== 'deny'
  of.add(
    approver.type === 'other' ? approver.note : `approved by the user${isLasting ? `, ${FOR[approver.choice]}` : ''}`,
  )
  notes.set(callId, of)
}

/** What was noted for a call, on one line; `null` when nobody was asked. It is forgotten. */
export function takeApprovalNote(state: ToolState, callId: string): string | null {
  const notes = notesOf(state)
  const of = notes.get(callId)
  if (of === undefined) return null
  notes.delete(callId)
  return `[${[...of].join('; ')}]`
}
