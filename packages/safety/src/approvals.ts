import { type Approval, type ApprovalStore, rootSessionOf } from '@hermes/contracts/policy'

/** Keeps approvals as long as the process lives. */
export function createMemoryApprovalStore(): ApprovalStore {
  const approvals = new Map<string, Approval>()
  return {
    put: async (approval) => {
      const { id, status } = approval
      if (status === 'used') return approvals.delete(id)
      const known = approvals.get(id)
      if (known?.status === 'answered' || (status === 'answered' && !known)) return false
      approvals.set(id, approval)
      return true
    },
    get: async (id) => approvals.get(id) ?? null,
    pending: async (sessionId) =>
      [...approvals.values()].filter(
        ({ question }) => sessionId === undefined || rootSessionOf(question.subject) === sessionId,
      ),
  }
}
