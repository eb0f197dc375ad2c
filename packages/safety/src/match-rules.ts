import { posix } from 'node:path'
import type { Action, Subject } from '@hermes/contracts/policy'
import type { Collected } from './command/collect.js'
import { actingParts } from './command/harmless.js'
import type { Invocation } from './command/invocation.js'
import { hasWildcard, matchGlob } from './glob.js'
import { type ParsedRule, type RuleEffect, whyNotSelected } from './rules.js'

/** What relative patterns and `~` refer to. */
export interface MatchContext {
  readonly workspace: readonly string[]
  readonly userHome: string
}

/** An action with what was learnt about its command. */
export interface AnalyzedAction {
  readonly action: Action
  readonly subject: Subject
  /** The command line of a spawn, taken apart. */
  readonly command: { readonly text: string; readonly collected: Collected } | null
  /** SHA-256 over the files that decide what the command does, `null` where there are none or nobody looked. */
  readonly digest: string | null
}

const STRENGTH: Readonly<Record<RuleEffect, number>> = Object.freeze({ deny: 2, ask: 1, allow: 0 })

/**
 * The rule that decides, or `null`: the last one that matches. A command line of several commands gets its strictest answer, and is
 * allowed only when every one of them is that does more than look around.
 */
export function decidingRule(
  rules: readonly ParsedRule[],
  analyzed: AnalyzedAction,
  context: MatchContext,
): ParsedRule | null {
  const { action, subject, command } = analyzed
  const applicable = rules.filter((rule) => whyNotSelected(rule, action, subject) === null)
  if (!command) return lastOf(applicable.filter((rule) => matchesArgument(rule, action, context)))
  const whole = applicable.filter((rule) => matchesWhole(rule, command.text) && isBoundTo(rule, analyzed))
  const parts = partsOf(command)
  // Rules that may be about what comes after so much.
  const unseen = command.collected.isTooLong ? applicable.filter(({ effect }) => effect !== 'allow') : []
  if (parts.length === 0 && unseen.length === 0) return lastOf(whole)
  const each = parts.map((part) => lastOf(applicable.filter((rule) => whole.includes(rule) || matchesPart(rule, part))))
  const decided = [...each.filter((rule) => rule !== null), ...unseen]
  const strictest = decided.sort((left, right) => STRENGTH[right.effect] - STRENGTH[left.effect])[0] ?? null
  if (strictest?.effect !== 'allow') return strictest
  const acting = actingParts(parts, context)
  const isWhole = command.collected.complete && parts.every((part, at) => each[at] !== null || !acting.includes(part))
  return isWhole ? strictest : null
}

/** The last rule; one that could not be read takes no denial back. */
function lastOf(rules: readonly ParsedRule[]): ParsedRule | null {
  const last = rules.at(-1) ?? null
  if (!last?.unread) return last
  const before = lastOf(rules.slice(0, -1))
  return before?.effect === 'deny' ? before : last
}

/** Why a rule does not match the action, or any command of its command line; `null` when it does. */
export function whyNotMatched(rule: ParsedRule, analyzed: AnalyzedAction, context: MatchContext): string | null {
  const { action, subject, command } = analyzed
  const unselected = whyNotSelected(rule, action, subject)
  if (unselected !== null) return unselected
  const mismatch = `${rule.argument} does not match`
  if (!command) return matchesArgument(rule, action, context) ? null : mismatch
  if (matchesWhole(rule, command.text) && !isBoundTo(rule, analyzed))
    return 'what the command runs is not what it was when that was allowed'
  if (matchesWhole(rule, command.text) || partsOf(command).some((part) => matchesPart(rule, part))) return null
  const wouldRefuse = { ...rule, effect: 'deny' } as const
  return partsOf(command).some((part) => matchesPart(wouldRefuse, part))
    ? 'an allowing pattern covers neither wrappers such as sudo, nor variables put in front, nor a redirect into a file'
    : mismatch
}

function partsOf(command: NonNullable<AnalyzedAction['command']>): readonly Invocation[] {
  return command.collected.invocations.filter(({ written, redirects }) => written !== '' || redirects.length > 0)
}

/** A wildcard could reach over `;` into a second command, so it allows parts only; it may refuse the whole. */
function matchesWhole(rule: ParsedRule, text: string): boolean {
  if (rule.argument === null) return true
  if (rule.effect === 'allow' && hasWildcard(rule.argument)) return false
  return matchGlob(rule.argument, text.trim())
}

/** A rule for a folder is one that a person clicked: it counts while the files that the line runs are the same. */
function isBoundTo({ folder, digest }: ParsedRule, analyzed: AnalyzedAction): boolean {
  return folder === null || digest === analyzed.digest
}

function matchesPart(rule: ParsedRule, part: Invocation): boolean {
  // What was clicked is the whole line in its folder, not a part of another one.
  if (rule.folder !== null) return false
  if (rule.argument === null) return true
  const { argument } = rule
  const bare = [part.name, ...part.args.map((word) => word.text)].join(' ')
  if (rule.effect !== 'allow') return [part.written, bare, ...part.layers].some((text) => matchGlob(argument, text))
  const writesFile = part.redirects.some(
    ({ operator, target }) => operator.includes('>') && !/^(?:\d+-?|-|\/dev\/null)$/.test(target.text),
  )
  return !writesFile && matchGlob(argument, part.written)
}

function matchesArgument({ argument }: ParsedRule, action: Action, context: MatchContext): boolean {
  if (argument === null) return true
  switch (action.type) {
    case 'read':
    case 'write':
      return matchesPath(argument, action.path, context)
    case 'fetch':
      if (argument.includes('://')) return matchGlob(argument, action.url)
      return URL.canParse(action.url) && matchGlob(argument, new URL(action.url).hostname)
    case 'send':
      return matchGlob(argument, action.target)
    case 'spawn':
      return false
    default:
      return action satisfies never
  }
}

function matchesPath(pattern: string, path: string, { workspace, userHome }: MatchContext): boolean {
  if (pattern.startsWith('/')) return matchGlob(pattern, path, { path: true })
  if (pattern.startsWith('~/')) return matchGlob(`${userHome}${pattern.slice(1)}`, path, { path: true })
  return workspace.some((root) => {
    const relative = posix.relative(root, path)
    return !relative.startsWith('..') && matchGlob(pattern.replace(/^\.\//, ''), relative, { path: true })
  })
}
