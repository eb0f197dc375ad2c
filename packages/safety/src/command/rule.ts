import type { Invocation } from './invocation.js'

/** One reason to stop a command. */
export interface CommandRule {
  /** Stable name, also the key of an approval. */
  readonly rule: string
  /** What the command does, for a person: "deletes folders with everything in them". */
  readonly reason: string
  /** What grants for it are for, where that is less than everything the rule is about: each becomes part of a name of its own. */
  about?(invocation: Invocation): readonly string[]
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
    .flatMap(({ rule, reason, about }) => namesOf(rule, about?.(invocation)).map((name) => ({ rule: name, reason })))
}

/** One name for each; of more than a question can show, or of none, the rule itself, whose grant is for the same command alone. */
function namesOf(rule: string, about: readonly string[] = []): readonly string[] {
  const each = [...new Set(about)].map((one) => `${rule}:${one}`)
  return each.length === 0 || each.length > MAX_NAMES ? [rule] : each
}

const MAX_NAMES = 20
