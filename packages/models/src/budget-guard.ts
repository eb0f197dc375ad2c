import type { Usage } from '@hermes/contracts/conversation'
import type { CallScope, StreamOptions } from '@hermes/contracts/model'

/** A call that wants to go out. */
export interface BudgetedCall extends CallScope, StreamOptions {
  /** As many as it can come to, input and output. */
  readonly maxTokens: number
}

/** A call that may go out. */
export interface Admission {
  /** What became of it; `null` when nothing was answered. Only the first word counts. */
  settle(usage: Usage | null): void
}

/** Asked before every call. */
export interface BudgetGuard {
  /** Whether a limit counts tokens, of which what saves money may still take many. Default `false`. */
  readonly limitsTokens?: boolean
  /**
   * Resolves once the call may go out.
   * @throws HermesError `models.budget_spent`, `models.budget_unpriced`; an `AbortError` on abort.
   */
  admit(call: BudgetedCall): Promise<Admission>
}
