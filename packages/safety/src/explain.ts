import type { Action, Subject } from '@hermes/contracts/policy'
import { classifyCollected } from './command/classify-command.js'
import { liftedRules } from './contained.js'
import { describeAction } from './describe-action.js'
import {
  analyzeAction,
  checkTarget,
  denyingGlob,
  type EvaluationOptions,
  evaluate,
  STAGES,
  type Stage,
  type Verdict,
} from './evaluate.js'
import { type EvaluationSettings, readSettings, workspaceOf } from './evaluation-settings.js'
import { matchGlob } from './glob.js'
import { type AnalyzedAction, decidingRule, whyNotMatched } from './match-rules.js'
import { askOutsideIsolation, askToWrite } from './outside-isolation.js'
import { isOutside, type ParsedRule, type PermissionRule } from './rules.js'
import { isListed } from './session-grants.js'

/** What a policy would decide, and why. */
export interface Explanation {
  /** The action on one line. */
  readonly action: string
  /** `ask` where somebody listens; where nobody does it is a denial. */
  readonly decision: 'allow' | 'ask' | 'deny'
  /** The pattern or the name of the built-in rule that decides. */
  readonly rule: string
  readonly reason: string
  /** Where that rule is written; `null` for built-in ones. */
  readonly source: string | null
  /** What each step says by itself, in order. */
  readonly steps: readonly ExplainedStep[]
  /** Every rule, in order: the last match wins. */
  readonly rules: readonly ExplainedRule[]
}

/** What one step of a decision says by itself, in plain words, and whether it is the one that decides. */
interface ExplainedStep {
  readonly stage: Stage
  readonly says: string
  readonly decides: boolean
}

/** A rule of permissions.yaml, and whether it is the one that decides. */
interface ExplainedRule extends PermissionRule {
  readonly decides: boolean
  /** Why it does not decide; empty for the one that does. */
  readonly why: string
}

/**
 * What a policy of these settings would decide, and why; asks nobody and keeps nothing. Answers for a session are not known here.
 * @throws TypeError for a rule that cannot be read.
 */
export function explainAction(action: Action, subject: Subject, settings: EvaluationSettings): Explanation {
  const { options: evaluationContext, rules, granted } = readSettings(settings)
  const options: EvaluationOptions = {
    ...evaluationContext,
    ...workspaceOf(subject),
    rules,
    granted: (rule) => isListed(granted, rule),
  }
  const verdict = evaluate(action, subject, options)
  const analyzed = analyzeAction(action, subject, options)
  const winner = winnerOf(verdict, rules) ?? decidingRule(rules, analyzed, options)
  const reason = verdict.type === 'allow' ? reasonToAllow(verdict.stage, verdict.rule) : verdict.reason
  const decidedByRule = verdict.stage === 'rules'
  return {
    action: describeAction(action),
    decision: verdict.type,
    rule: verdict.type === 'ask' ? verdict.rules.join(', ') : verdict.rule,
    reason,
    source: decidedByRule ? (winner?.source ?? null) : null,
    steps: STAGES.map((stage) => ({
      stage,
      says: stage === verdict.stage ? reason : says(stage, analyzed, { options, winner, granted }),
      decides: stage === verdict.stage,
    })),
    rules: rules.map(({ pattern, effect, source, ...rule }) => {
      const decides = decidedByRule && rule.argument === winner?.argument && pattern === winner.pattern
      const why = decides
        ? ''
        : whyNotDecisive({ pattern, effect, ...rule }, analyzed, { options, winner, decidedByRule })
      return { pattern, effect, ...(source === undefined ? {} : { source }), decides, why }
    }),
  }
}

/** Rules about tools that none of `toolNames` is; tools of MCP servers, which come and go, are left out. */
export function rulesOfNoTool(settings: EvaluationSettings, toolNames: readonly string[]): readonly string[] {
  return readSettings(settings).rules.flatMap(({ selector: { tool }, pattern }) => {
    if (tool === undefined || tool.startsWith('mcp_')) return []
    const family = tool.replace(/\.\*$/, '')
    const isKnown = toolNames.some(
      (name) => matchGlob(family, name) || (family !== tool && matchGlob(`${family}_*`, name)),
    )
    return isKnown ? [] : [pattern]
  })
}

/** The rule that a verdict names. */
function winnerOf(verdict: Verdict, rules: readonly ParsedRule[]): ParsedRule | null {
  if (verdict.stage !== 'rules') return null
  const name = verdict.type === 'ask' ? verdict.rules[0]?.replace(/^rule:/, '') : verdict.rule
  return rules.findLast(({ pattern }) => pattern === name) ?? null
}

function reasonToAllow(stage: Stage, rule: string): string {
  switch (stage) {
    case 'rules':
      return `The permission rule "${rule}: allow" allows it.`
    case 'leave':
      return 'A step would ask, but command_allowlist allows it.'
    case 'mode':
      return 'A step would ask, but approvals.mode is off.'
    case 'built-in':
    case 'floor':
    case 'deny-globs':
    case 'protected':
      return 'No step objects.'
    default:
      return stage satisfies never
  }
}

interface Facts {
  readonly options: EvaluationOptions
  readonly winner: ParsedRule | null
  readonly granted: ReadonlySet<string>
}

function says(stage: Stage, analyzed: AnalyzedAction, { options, winner, granted }: Facts): string {
  const { action, subject, command } = analyzed
  const found = command ? classifyCollected(command.collected, liftedRules(action, options)) : null
  switch (stage) {
    case 'floor':
      return 'it is not among what no rule can allow'
    case 'deny-globs': {
      const glob = denyingGlob(analyzed, options)
      if (glob !== undefined) return `"${glob}" of approvals.deny matches`
      return options.denyGlobs.length === 0
        ? 'approvals.deny of config.yaml has no patterns'
        : `none of the ${options.denyGlobs.length} patterns of approvals.deny matches`
    }
    case 'protected': {
      if (action.type === 'spawn' || action.type === 'send')
        return 'a command is judged by the steps below; this one is for paths and addresses'
      const check = checkTarget(action, subject, options)
      if (!check) return 'the path or address is not protected'
      return check.type === 'deny' ? `${check.rule}: ${check.reason}` : `${check.rules.join(', ')}: ${check.reason}`
    }
    case 'rules':
      if (options.rules.length === 0) return 'permissions.yaml has no rules'
      return winner
        ? `"${winner.pattern}: ${winner.effect}"`
        : `none of the ${options.rules.length} rules of permissions.yaml matches`
    case 'leave':
      return granted.size === 0
        ? 'command_allowlist of config.yaml is empty'
        : 'command_allowlist of config.yaml allows what it names'
    case 'mode':
      return options.mode === 'off'
        ? 'approvals.mode is off: no question is asked'
        : `approvals.mode is ${options.mode}: a question goes to a person`
    case 'built-in':
      if (found?.level === 'dangerous') return `${found.rules.join(', ')}: it ${found.reason}`
      if (isOutside(action)) return askOutsideIsolation(analyzed, options).reason
      if (action.type === 'write') return askToWrite(analyzed, options)?.reason ?? 'it is not known to be dangerous'
      if (action.type !== 'send') return 'it is not known to be dangerous'
      if (action.chosen === undefined) return 'messages in your name ask'
      return action.chosen === 'asks' ? 'its server is not trusted' : 'its server was chosen by you'
    default:
      return stage satisfies never
  }
}

function whyNotDecisive(
  rule: ParsedRule,
  analyzed: AnalyzedAction,
  { options, winner, decidedByRule }: Pick<Facts, 'options' | 'winner'> & { readonly decidedByRule: boolean },
): string {
  const mismatch = whyNotMatched(rule, analyzed, options)
  if (mismatch !== null) return mismatch
  if (!winner) return 'it allows only a part of the command line'
  if (rule.pattern === winner.pattern) return decidedByRule ? '' : 'an earlier step decides'
  return `it matches, but "${winner.pattern}: ${winner.effect}" comes later or is stricter`
}
