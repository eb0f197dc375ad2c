import type { Approval, ApprovalStore } from '@hermes/contracts/policy'

/** Keeps approvals as long as the process lives. */
export function createMemoryApprovalStore(): ApprovalStore {
  const approvals = new Map<string, Approval>()
  return {
    put: async (approval) => {
      const isAnswered = approvals.get(approval.id)?.status === 'answered'
      if (approval.status === 'used') approvals.delete(approval.id)
      else if (!isAnswered || approval.status === 'answered') approvals.set(approval.id, approval)
    },
    get: async (id) => approvals.get(id) ?? null,
    pending: async (sessionId) =>
      [...approvals.values()].filter(
        ({ question }) => sessionId === undefined || question.subject.sessionId === sessionId,
      ),
  }
}
