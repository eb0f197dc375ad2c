import type { ApprovalChoice } from '@hermes/contracts/policy'

/** What people write for each answer, the name of it first. */
export const APPROVAL_WORDS: Readonly<Record<ApprovalChoice, readonly string[]>> = {
  once: ['once', 'yes', 'y', 'approve', 'ok', 'go'],
  session: ['session'],
  always: ['always'],
  deny: ['deny', 'no', 'n', 'cancel'],
}

/** The answer that a word stands for; `null` for none. */
export function toApprovalChoice(word: string): ApprovalChoice | null {
  const text = word.trim().toLowerCase()
  const names = Object.keys(APPROVAL_WORDS) as ApprovalChoice[]
  return names.find((name) => APPROVAL_WORDS[name].includes(text)) ?? null
}
