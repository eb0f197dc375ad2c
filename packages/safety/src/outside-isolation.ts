import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { CommandContext } from './command/context.js'
import { actingParts } from './command/harmless.js'
import { type Invocation, texts } from './command/invocation.js'
import { looksElsewhere, looksOutside } from './command/looking-verbs.js'
import { type OutsideNeed, outsideNeeds, WRITES } from './command/needs-outside.js'
import { isBeyond, writeTargets } from './command/write-targets.js'
import { type AnalyzedAction, decidingRule, type MatchContext } from './match-rules.js'
import { isAboutOutside, type ParsedRule } from './rules.js'

/**
 * The rule that says whether a command may run outside the isolation; `null` where none does. Where no rule is about that, one that
 * allows the command by name says so for a command that is known to need it. Programs that only look around do not count.
 */
export function ruleOfOutside(
  rules: readonly ParsedRule[],
  analyzed: AnalyzedAction,
  context: MatchContext,
): ParsedRule | null {
  const { command } = analyzed
  const needs = needsOf(analyzed, context)
  const invocations = needs.map(({ invocation }) => invocation)
  const doing = command && { ...command, collected: { ...command.collected, invocations } }
  const deciding = (speaks: (rule: ParsedRule) => boolean) =>
    decidingRule(rules.filter(speaks), { ...analyzed, command: doing }, context)
  const own = deciding(isAboutOutside)
  if (own !== null || actingOf(needs, context).some(({ reason }) => reason === null)) return own
  return deciding(
    ({ effect, argument, selector, folder }) =>
      effect === 'allow' && argument !== null && folder === null && !selector.tool,
  )
}

/** What git says and takes from a remote of the project without further ado. */
const PLAIN_OPTION =
  /^(?:-[uqvpn]|--(?:set-upstream|tags|all|quiet|verbose|prune|rebase|no-rebase|ff-only|dry-run|progress|depth=\d+))$/

/** The rule for a plain exchange with a remote of the project, by its name: a grant is for every branch. */
function ownRemote(invocation: Invocation): string | null {
  const { name, args, layers, variables } = invocation
  const [verb = '', ...words] = texts(args)
  if (name !== 'git' || layers.length > 0 || variables.length > 0 || !/^(?:push|fetch|pull)$/.test(verb)) return null
  if (args.some(({ dynamic }) => dynamic)) return null
  if (writeTargets(invocation).some((path) => path !== '/dev/null')) return null
  const operands = words.filter((word) => !word.startsWith('-'))
  const isPlain = words.every((word) => !word.startsWith('-') || PLAIN_OPTION.test(word))
  const [remote = '', ...refs] = operands
  if (!isPlain || !/^[\w][\w.-]*$|^$/.test(remote) || refs.some((ref) => /^[+:]/.test(ref))) return null
  return `unisolated-git:${[verb, remote].join(' ').trim()}`
}

/** What is asked before a command runs outside. */
export function askOutsideIsolation(
  analyzed: AnalyzedAction,
  context: MatchContext,
): { readonly rules: readonly string[]; readonly reason: string } {
  const needs = actingOf(needsOf(analyzed, context), context)
  const line = exactly(analyzed.command?.text ?? '')
  const names = needs.map(({ invocation, reason }) => {
    const elsewhere = looksElsewhere(invocation)
    const looks = looksOutside(invocation) ? `unisolated-looks:${invocation.name}` : null
    const broad = ownRemote(invocation) ?? (elsewhere === null ? looks : `unisolated-looks-in:${elsewhere}`)
    return broad ?? (reason === null || reason === WRITES ? line : `unisolated-${invocation.name}`)
  })
  const reasons = [...new Set(needs.flatMap(({ reason }) => reason ?? []))]
  return {
    rules: names.length > 0 ? [...new Set(names)] : [line],
    reason:
      reasons.length > 0
        ? `it has to leave the isolation because ${reasons.join(' and ')}`
        : 'it asks to leave the isolation, with all your files and keys in reach',
  }
}

/**
 * What is asked before a tool writes a file where isolated commands could not; `null` where they could. A grant is for files of the same
 * folder. Once text from outside was read there is a question of its own for all of them.
 */
export function askToWrite(
  { action, subject }: AnalyzedAction,
  context: CommandContext,
): { readonly rules: readonly string[]; readonly reason: string } | null {
  const { origin, tainted, writable } = subject
  if (action.type !== 'write' || origin === 'operator' || tainted || !writable) return null
  if (!isBeyond(action.path, writable, context)) return null
  return { rules: [`files-in:${posix.dirname(action.path)}`], reason: WRITES }
}

/** The rule that a grant for one thing alone goes by. */
function exactly(what: string): string {
  return `unisolated-${createHash('sha256').update(what).digest('hex').slice(0, 12)}`
}

function needsOf({ command }: AnalyzedAction, { workspace, ...context }: MatchContext & CommandContext) {
  return command ? outsideNeeds(command.collected, { ...context, writable: workspace }) : []
}

function actingOf(needs: readonly OutsideNeed[], context: MatchContext): readonly OutsideNeed[] {
  const invocations = needs.map(({ invocation }) => invocation)
  const acting = actingParts(invocations, context)
  return needs.filter(({ invocation }) => acting.includes(invocation))
}
