import type { Action, Subject } from '@hermes/contracts/policy'
import { classifyCollected } from './command/classify-command.js'
import { collectInvocations } from './command/collect.js'
import { isCriticalPath } from './command/context.js'
import { commandText } from './describe-action.js'
import { matchGlob } from './glob.js'
import { decidingRule, type Subjected } from './match-rules.js'
import { checkPath, isWithin } from './path/check-path.js'
import type { ParsedRule } from './rules.js'
import { type CheckUrlOptions, checkUrl } from './url/check-url.js'

/** What the rules say before anybody is asked. */
export type Verdict =
  | { readonly type: 'allow'; readonly rule: string }
  | { readonly type: 'ask'; readonly rules: readonly string[]; readonly reason: string }
  | { readonly type: 'deny'; readonly rule: string; readonly reason: string }

/** Everything a verdict depends on besides the action. */
export interface JudgeOptions {
  readonly mode: 'ask' | 'off'
  readonly home: string
  readonly userHome: string
  readonly workspace: readonly string[]
  readonly denyGlobs: readonly string[]
  readonly readOutsideWorkspace: 'allow' | 'ask' | 'deny'
  readonly network: CheckUrlOptions
  readonly rules: readonly ParsedRule[]
  /** Whether the session has leave for a rule. */
  readonly granted: (rule: string) => boolean
}

/** Applies hard floor, deny globs, protected paths and hosts, rules, grants, mode and classification, in this order. Pure. */
export function judge(action: Action, subject: Subject, options: JudgeOptions): Verdict {
  const subjected = takeApart(action, subject, options)
  const command = subjected.command ? classifyCollected(subjected.command.collected) : null
  if (command?.level === 'hardline') return deny(command.rule!, `The command ${command.reason}; nothing permits that.`)
  if (
    action.type === 'write' &&
    action.operation !== 'write' &&
    action.operation !== 'mkdir' &&
    isCriticalPath(action.path, options)
  ) {
    return deny('delete-system', 'The system or a home folder would be lost; nothing permits that.')
  }
  const glob = options.denyGlobs.find((pattern) => names(subjected).some((name) => matchGlob(pattern, name)))
  if (glob !== undefined) return deny('deny-glob', `The configured deny pattern "${glob}" forbids it.`)
  const check = checkTarget(action, options)
  if (check?.type === 'deny') return check
  const rule = decidingRule(options.rules, subjected, options)
  if (rule?.effect === 'deny') return deny(rule.pattern, `The permission rule "${rule.pattern}: deny" forbids it.`)
  if (rule?.effect === 'allow') return { type: 'allow', rule: rule.pattern }
  const asks = [
    ...(rule ? [ask([`rule:${rule.pattern}`], `the permission rule "${rule.pattern}" asks first`)] : []),
    ...(check ? [check] : []),
    ...(command?.level === 'dangerous' ? [ask(command.rules, `it ${command.reason}`)] : []),
    ...(action.type === 'send' && subject.origin === 'model' ? [ask(['send'], 'it sends a message in your name')] : []),
  ]
  const open = asks.flatMap(({ rules }) => rules).filter((name) => !options.granted(name))
  if (open.length === 0) return { type: 'allow', rule: asks.length > 0 ? 'granted' : 'default' }
  if (options.mode === 'off' && rule?.effect !== 'ask') return { type: 'allow', rule: 'mode-off' }
  const reasons = asks.filter(({ rules }) => rules.some((name) => open.includes(name))).map(({ reason }) => reason)
  return ask(open, reasons.join('; '))
}

/** An action with its command line taken apart. */
export function takeApart(action: Action, subject: Subject, options: JudgeOptions): Subjected {
  if (action.type !== 'spawn') return { action, subject, command: null }
  const text = commandText(action)
  return { action, subject, command: { text, collected: collectInvocations(text, { ...options, cwd: action.cwd }) } }
}

/** What deny globs are compared with. */
function names({ action, command }: Subjected): readonly string[] {
  switch (action.type) {
    case 'spawn':
      return [
        command!.text.trim(),
        ...command!.collected.invocations.flatMap((part) => [
          part.written,
          [part.name, ...part.args.map((word) => word.text)].join(' '),
        ]),
      ]
    case 'read':
    case 'write':
      return [action.path]
    case 'fetch':
      return [action.url]
    case 'send':
      return [action.target]
    default:
      return action satisfies never
  }
}

function checkTarget(action: Action, options: JudgeOptions): Exclude<Verdict, { type: 'allow' }> | null {
  if (action.type === 'fetch') {
    const check = checkUrl(action.url, options.network)
    if (check.ok) return null
    const near = check.rule === 'loopback' || check.rule === 'private-network'
    return near ? ask([check.rule], check.reason) : deny(check.rule, `This URL is not fetched: ${check.reason}.`)
  }
  if (action.type !== 'read' && action.type !== 'write') return null
  const operation = action.type === 'read' ? 'read' : action.operation
  const check = checkPath(action.path, { home: options.home, userHome: options.userHome, operation })
  if (!check.ok && check.severity === 'deny') {
    return deny(
      check.rule,
      `${action.path} is protected: ${check.reason}. No setting permits it; ask the user to do it.`,
    )
  }
  if (!check.ok) return ask([check.rule], check.reason)
  const outside = options.workspace.length > 0 && !options.workspace.some((root) => isWithin(action.path, root))
  if (action.type === 'write' || !outside || options.readOutsideWorkspace === 'allow') return null
  return options.readOutsideWorkspace === 'ask'
    ? ask(['outside-workspace'], 'it is outside the workspace')
    : deny('outside-workspace', `${action.path} is outside the workspace, and reading there is turned off.`)
}

function ask(rules: readonly string[], reason: string): Extract<Verdict, { type: 'ask' }> {
  return { type: 'ask', rules, reason }
}

function deny(rule: string, reason: string): Extract<Verdict, { type: 'deny' }> {
  return { type: 'deny', rule, reason }
}
