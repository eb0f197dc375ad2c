import { createHash } from 'node:crypto'
import type { CommandContext } from './command/context.js'
import { actingParts } from './command/harmless.js'
import { type OutsideNeed, outsideNeeds, WRITES } from './command/needs-outside.js'
import { decidingRule, type MatchContext, type Subjected } from './match-rules.js'
import { isAboutOutside, type ParsedRule } from './rules.js'

/**
 * The rule that says whether a command may run outside the isolation; `null` where none does. Where no rule is about that, one that
 * allows the command by name says so for a command that is known to need it. Programs that only look around do not count.
 */
export function ruleOfOutside(
  rules: readonly ParsedRule[],
  subjected: Subjected,
  context: MatchContext,
): ParsedRule | null {
  const { command } = subjected
  const needs = needsOf(subjected, context)
  const invocations = needs.map(({ invocation }) => invocation)
  const doing = command && { ...command, collected: { ...command.collected, invocations } }
  const deciding = (speaks: (rule: ParsedRule) => boolean) =>
    decidingRule(rules.filter(speaks), { ...subjected, command: doing }, context)
  const own = deciding(isAboutOutside)
  if (own !== null || actingOf(needs, context).some(({ reason }) => reason === null)) return own
  return deciding(({ effect, argument, selector }) => effect === 'allow' && argument !== null && !selector.tool)
}

/** What is asked before a command runs outside: leave for a known program is for all it does, any other only for the same command. */
export function leaveOfIsolation(
  subjected: Subjected,
  context: MatchContext,
): { readonly rules: readonly string[]; readonly reason: string } {
  const needs = actingOf(needsOf(subjected, context), context)
  const line = createHash('sha256')
    .update(subjected.command?.text ?? '')
    .digest('hex')
    .slice(0, 12)
  const names = needs.map(
    ({ invocation, reason }) => `unisolated-${reason === null || reason === WRITES ? line : invocation.name}`,
  )
  const reasons = [...new Set(needs.flatMap(({ reason }) => reason ?? []))]
  return {
    rules: names.length > 0 ? [...new Set(names)] : [`unisolated-${line}`],
    reason:
      reasons.length > 0
        ? `it has to leave the isolation because ${reasons.join(' and ')}`
        : 'it asks to leave the isolation, with all your files and keys in reach',
  }
}

function needsOf({ command }: Subjected, { workspace, ...context }: MatchContext & CommandContext) {
  return command ? outsideNeeds(command.collected, { ...context, writable: workspace }) : []
}

function actingOf(needs: readonly OutsideNeed[], context: MatchContext): readonly OutsideNeed[] {
  const invocations = needs.map(({ invocation }) => invocation)
  const acting = actingParts(invocations, context)
  return needs.filter(({ invocation }) => acting.includes(invocation))
}
