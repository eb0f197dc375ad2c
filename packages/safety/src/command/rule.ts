import type { Invocation } from './invocation.js'

/** One reason to stop a command. */
export interface CommandRule {
  /** Stable name, also the key of an approval. */
  readonly rule: string
  /** What the command does, for a person: "deletes folders with everything in them". */
  readonly reason: string
  /** What a grant for it is for, where that is less than everything the rule is about; becomes part of its name. */
  about?(invocation: Invocation): string
  /** Base names it looks at; without them, every program. */
  readonly programs?: readonly string[]
  matches(invocation: Invocation): boolean
}

/** A rule that matched: `rule` with what it is about, where leave is for that alone. */
export type Finding = Pick<CommandRule, 'rule' | 'reason'>

/** The rules that match, in order. */
export function matching(rules: readonly CommandRule[], invocation: Invocation): readonly Finding[] {
  return rules
    .filter((rule) => (rule.programs?.includes(invocation.name) ?? true) && rule.matches(invocation))
    .map(({ rule, reason, about }) => ({ rule: about ? `${rule}:${about(invocation)}` : rule, reason }))
}
