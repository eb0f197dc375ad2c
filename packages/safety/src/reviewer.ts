import type { ApprovalQuestion } from '@hermes/contracts/policy'
import { type HarmlessDeletionOptions, isHarmlessDeletion } from './harmless-deletion.js'
import type { AnalyzedAction } from './match-rules.js'

/** What a reviewer says about one question. */
export interface Review {
  /** `escalate` leaves it to a person, and where nobody listens that is a no. */
  readonly verdict: 'approve' | 'deny' | 'escalate'
  /** Who says so, for the audit trail. */
  readonly by: string
}

/** Answers questions in a person's place, as far as it is sure. */
export interface Reviewer {
  /** Sees the question with its secrets taken out. Never rejects: whatever goes wrong is an `escalate`. Abort ends it at once. */
  review(question: ApprovalQuestion, options?: { readonly signal?: AbortSignal }): Promise<Review>
}

/** Questions about Hermes itself, about rights beyond those of the user, and about leaving the isolation for no known reason. */
const FOR_A_PERSON =
  /^(?:rule:|hermes-|outside-text|unisolated-[0-9a-f]{12}$|files-in:|self-approval$|elevated$|kill-own$)/

/**
 * Whether a reviewer may answer: not where a rule of the user asks, Hermes' own settings or the isolation are at stake. Once text from outside is in
 * the conversation the agent may speak for it, to the reviewer too: then only about what is lost in the workspace, in plain words.
 */
export function reviewable(
  analyzed: AnalyzedAction,
  rules: readonly string[],
  options: HarmlessDeletionOptions,
): boolean {
  if (rules.some((rule) => FOR_A_PERSON.test(rule))) return false
  return !analyzed.subject.tainted || isHarmlessDeletion(analyzed, rules, options)
}
