import type { Invocation } from './invocation.js'

/** One reason to stop a command. */
export interface CommandRule {
  /** Stable name, also the key of an approval. */
  readonly rule: string
  /** What the command does, for a person: "deletes folders with everything in them". */
  readonly reason: string
  /** Base names it looks at; without them, every program. */
  readonly programs?: readonly string[]
  matches(invocation: Invocation): boolean
}

/** The rules that match, in order. */
export function matching(rules: readonly CommandRule[], invocation: Invocation): readonly CommandRule[] {
  return rules.filter((rule) => (rule.programs?.includes(invocation.name) ?? true) && rule.matches(invocation))
}
