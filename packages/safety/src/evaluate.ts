import { posix } from 'node:path'
import type { Action, Subject } from '@hermes/contracts/policy'
import type { CommandClass } from './command/classify-command.js'
import { classifyCollected } from './command/classify-command.js'
import { collectInvocations } from './command/collect.js'
import type { CommandContext } from './command/context.js'
import { isCriticalPath } from './command/context.js'
import { isMisledBy, type Misled, networkNeeds } from './command/needs-network.js'
import { liftedRules } from './contained.js'
import { undeclared } from './declared.js'
import { commandText } from './describe-action.js'
import { matchGlob } from './glob.js'
import { surfaceAsks } from './later-surfaces.js'
import type { AnalyzedAction } from './match-rules.js'
import { decidingRule } from './match-rules.js'
import { askOutsideIsolation, askToWrite, ruleOfOutside } from './outside-isolation.js'
import { afterOutside, outsideTextAsks } from './outside-text.js'
import { checkPath, isWithin } from './path/check-path.js'
import { isOfOwner } from './path/protected.js'
import type { ParsedRule } from './rules.js'
import { isOutside } from './rules.js'
import { skillAsks, undeclaredBySkill } from './skill-programs.js'
import type { CheckUrlOptions } from './url/check-url.js'
import { checkUrl } from './url/check-url.js'

/** The steps of a verdict, in their order. */
export const STAGES = Object.freeze(['floor', 'deny-globs', 'protected', 'rules', 'built-in', 'leave', 'mode'] as const)
export type Stage = (typeof STAGES)[number]

/** What the rules say before anybody is asked. */
export type Verdict =
  | { readonly type: 'allow'; readonly rule: string; readonly stage: Stage }
  | { readonly type: 'ask'; readonly rules: readonly string[]; readonly reason: string; readonly stage: Stage }
  | { readonly type: 'deny'; readonly rule: string; readonly reason: string; readonly stage: Stage }

/** Everything a verdict depends on besides the action. */
export interface EvaluationOptions {
  readonly mode: 'ask' | 'off'
  readonly home: string
  readonly userHome: string
  readonly workspace: readonly string[]
  readonly denyGlobs: readonly string[]
  readonly readOutsideWorkspace: 'allow' | 'ask' | 'deny'
  readonly writeRoots: readonly string[]
  readonly readable: readonly string[]
  readonly network: CheckUrlOptions
  /** Backends that are machines of the agent's own. */
  readonly contained: readonly string[]
  readonly rules: readonly ParsedRule[]
  /** Whether the session has a grant for a rule. */
  readonly granted: (rule: string) => boolean
  /** SHA-256 over the files that decide what a command does; `null` where there are none or nobody looked. */
  readonly digest?: string | null
  /** Which names of programs may mean others in the shell of the session. Default `none`. */
  readonly misled?: Misled
  /** Scripts that enter an environment of Python, and folders of such, that the session wrote. Default: none. */
  readonly activations?: ReadonlySet<string>
}

/** Applies hard floor, deny globs, protected paths and hosts, rules, grants, mode and classification, in this order. Pure. */
export function evaluate(action: Action, subject: Subject, options: EvaluationOptions): Verdict {
  const analyzed = analyzeAction(action, subject, options)
  const lifted = liftedRules(action, options)
  const command = analyzed.command ? classifyCollected(analyzed.command.collected, lifted) : null
  if (command?.level === 'hardline')
    return deny('floor', command.rule!, `The command ${command.reason}; nothing permits that.`)
  if (
    action.type === 'write' &&
    action.operation !== 'write' &&
    action.operation !== 'mkdir' &&
    isCriticalPath(action.path, options)
  ) {
    return deny('floor', 'delete-system', 'The system or a home folder would be lost; nothing permits that.')
  }
  const missing = undeclared(action, subject.plugin)
  if (missing !== null)
    return deny('protected', 'plugin-capability', `${missing[0]!.toUpperCase()}${missing.slice(1)}.`)
  const beyond = undeclaredBySkill(action, subject)
  if (beyond !== null) return deny('protected', 'skill-capability', `${beyond[0]!.toUpperCase()}${beyond.slice(1)}.`)
  const glob = denyingGlob(analyzed, options)
  const forbids = analyzed.command?.collected.isTooLong
    ? 'may forbid a part of it, and it is too long to judge; write it into a file and run that.'
    : 'forbids it.'
  if (glob !== undefined) return deny('deny-globs', 'deny-glob', `The configured deny pattern "${glob}" ${forbids}`)
  const check = checkTarget(action, subject, options)
  if (check?.type === 'deny') return check
  const rule = decidingRule(options.rules, analyzed, options)
  const outside = isOutside(action) ? ruleOfOutside(options.rules, analyzed, options) : rule
  const denying = [rule, outside].find((one) => one?.effect === 'deny')
  if (denying) return deny('rules', denying.pattern, `The permission rule "${denying.pattern}: deny" ${forbids}`)
  if (rule?.effect === 'allow' && outside?.effect === 'allow')
    return { type: 'allow', rule: outside.pattern, stage: 'rules' }
  const asking = [...new Set([rule, outside])].filter((one) => one?.effect === 'ask').map((one) => one!)
  const asks = [
    ...asking.map(({ pattern, unread }) => {
      const why = unread ? 'cannot be read, and asks until it is fixed' : 'asks first'
      return ask('rules', [`rule:${pattern}`], `the permission rule "${pattern}" ${why}`)
    }),
    ...(rule?.effect === 'allow' ? [] : asksOfItself(analyzed, { check, command }, options)),
    ...(isOutside(action) && !outside ? [asksToLeave(analyzed, options)] : []),
  ]
  const open = asks.flatMap(({ rules }) => rules).filter((name) => !options.granted(name))
  if (open.length === 0)
    return asks.length > 0
      ? { type: 'allow', rule: 'granted', stage: 'leave' }
      : outside?.effect === 'allow'
        ? { type: 'allow', rule: outside.pattern, stage: 'rules' }
        : { type: 'allow', rule: 'default', stage: 'built-in' }
  if (options.mode === 'off' && asking.length === 0) return { type: 'allow', rule: 'mode-off', stage: 'mode' }
  const left = asks.filter(({ rules }) => rules.some((name) => open.includes(name)))
  return ask(left[0]!.stage, open, joined(left, subject))
}

/** Reasons one behind the other; that text from outside may be behind them is said once, at the end. */
function joined(asks: readonly Asking[], subject: Subject): string {
  const after = afterOutside(subject)
  const last = asks.findLastIndex(({ reason }) => reason.includes(after))
  const short = (reason: string) =>
    [`, after ${after}`, ` after ${after}`, `, and ${after}`].reduce((text, clause) => text.replace(clause, ''), reason)
  return asks.map(({ reason }, at) => (at === last ? reason : short(reason))).join('; ')
}

type Asking = Extract<Verdict, { type: 'ask' }>

/** What is asked about an action that no rule allows. */
function asksOfItself(
  analyzed: AnalyzedAction,
  { check, command }: { readonly check: Asking | null; readonly command: CommandClass | null },
  options: EvaluationOptions,
): readonly Asking[] {
  const { action, subject } = analyzed
  const beyond = askToWrite(analyzed, options)
  const network = askForNetwork(analyzed, options)
  return [
    ...(check ? [check] : []),
    ...(command?.level === 'dangerous' ? [ask('built-in', command.rules, `it ${command.reason}`)] : []),
    ...sendAsks(action, subject),
    ...skillAsks(action, subject).map(({ rule: name, reason }) => ask('built-in', [name], reason)),
    ...(beyond ? [ask('built-in', beyond.rules, beyond.reason)] : []),
    ...surfaceAsks(analyzed, options).map(({ rule: name, reason }) => ask('built-in', [name], reason)),
    ...(network ? [ask('built-in', network.rules, network.reason)] : []),
    ...(subject.tainted && subject.origin !== 'operator'
      ? outsideTextAsks(analyzed, options).map(({ rule: name, reason }) => ask('built-in', [name], reason))
      : []),
  ]
}

function sendAsks(action: Action, { origin }: Subject): readonly Asking[] {
  if (action.type !== 'send') return []
  if (action.chosen === undefined)
    return origin === 'model' || origin === 'plugin'
      ? [ask('built-in', ['send'], 'it sends a message in your name')]
      : []
  return action.chosen === 'asks' && origin !== 'operator'
    ? [ask('built-in', ['send-chosen'], 'its server is not trusted, or it is not what was accepted')]
    : []
}

function asksToLeave(analyzed: AnalyzedAction, options: EvaluationOptions): Asking {
  const { rules, reason } = askOutsideIsolation(analyzed, options)
  return ask('built-in', rules, reason)
}

/** The first of the configured deny globs that matches, or may match what comes after all that is followed of a line. */
export function denyingGlob(
  analyzed: AnalyzedAction,
  { denyGlobs }: Pick<EvaluationOptions, 'denyGlobs'>,
): string | undefined {
  const named = denyGlobs.length === 0 ? [] : names(analyzed)
  const isUnseen = analyzed.command?.collected.isTooLong ?? false
  return denyGlobs.find((pattern) => isUnseen || named.some((name) => matchGlob(pattern, name)))
}

/** An action with its command line taken apart. */
export function analyzeAction(action: Action, subject: Subject, options: EvaluationOptions): AnalyzedAction {
  const { digest = null } = options
  if (action.type !== 'spawn') return { action, subject, command: null, digest }
  const text = commandText(action)
  const collected = collectInvocations(text, placeOf(action, subject, options))
  return { action, subject, command: { text, collected }, digest }
}

/**
 * Where a command runs. The folders of this machine say nothing about another one; there the folder at hand is what is worked in. A program
 * that the person chose, such as a server of tools, works in no workspace: its files are where the person said.
 */
function placeOf(
  action: Extract<Action, { type: 'spawn' }>,
  { workspace, writable, origin }: Subject,
  options: Pick<EvaluationOptions, 'home' | 'userHome' | 'workspace' | 'contained' | 'activations'>,
): CommandContext {
  const { home, userHome, contained, activations } = options
  // What leaves the isolation is asked about as that, for exactly what it does.
  const isConfined = action.outside === true || writable !== undefined
  const folders = action.backend === 'local' ? options.workspace : [...(workspace ? [workspace] : []), action.cwd]
  return {
    ...{ home, userHome, cwd: action.cwd },
    ...(folders.length > 0 && origin !== 'operator' ? { workspace: folders } : {}),
    ...(activations ? { activations } : {}),
    isolated: isConfined || contained.includes(action.backend),
    ...(action.outside === true ? { outside: true } : {}),
  }
}

/** What deny globs are compared with. */
function names({ action, command }: AnalyzedAction): readonly string[] {
  switch (action.type) {
    case 'spawn':
      return [
        command!.text.trim(),
        ...command!.collected.invocations.flatMap((part) => [
          part.written,
          ...part.layers,
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

/** What stands against the path or address by itself. */
export function checkTarget(
  action: Action,
  subject: Subject,
  options: EvaluationOptions,
): Exclude<Verdict, { type: 'allow' }> | null {
  if (action.type === 'fetch') {
    const check = checkUrl(action.url, options.network)
    if (check.ok) return null
    const near = check.rule === 'loopback' || check.rule === 'private-network'
    if (near && action.chosen === 'looks') return null
    const unchecked = action.anyCertificate ? ', and its certificate is not checked' : ''
    return near
      ? ask('protected', [check.rule], `${check.reason}${unchecked}`)
      : deny('protected', check.rule, `This URL is not fetched: ${check.reason}.`)
  }
  if (action.type !== 'read' && action.type !== 'write') return null
  const operation = action.type === 'read' ? 'read' : action.operation
  const { home, userHome, workspace, readable } = options
  const check = checkPath(action.path, { home, userHome, workspace, readable, operation })
  if (!check.ok && check.rule === 'bad-path')
    return deny('protected', check.rule, `${action.path.replaceAll('\0', '\\0')} is no path: ${check.reason}.`)
  if (!check.ok && check.severity === 'deny') {
    return deny(
      'protected',
      check.rule,
      `${action.path} is protected: ${check.reason}. No setting permits it; ask the user to do it.`,
    )
  }
  if (subject.homePlaces && isOfOwner(posix.normalize(action.path), subject.homePlaces, options))
    return deny(
      'protected',
      'owners-home',
      `${action.path} is in the home of Hermes, which only its owner's sessions see.`,
    )
  if (
    action.type === 'write' &&
    options.writeRoots.length > 0 &&
    !isInOneOf(posix.normalize(action.path), options.writeRoots)
  )
    return deny(
      'protected',
      'write-roots',
      `Files are written below ${options.writeRoots.join(' and ')} only, and ${action.path} is not there.`,
    )
  // Leave to read one file of keys, or to write one of variables, is for that file.
  if (!check.ok && (action.type === 'read' || check.rule === 'env-file'))
    return ask('protected', [`${check.rule}:${action.path}`], check.reason)
  if (!check.ok) return ask('protected', [check.rule], check.reason)
  if (action.type === 'read' && action.holdsKeys && !isInOneOf(action.path, [...workspace, ...readable]))
    return ask('protected', [`credential-content:${action.path}`], 'it begins like a file of keys or tokens')
  const outside = options.workspace.length > 0 && !isInOneOf(action.path, options.workspace)
  if (action.type === 'write' || !outside || options.readOutsideWorkspace === 'allow') return null
  return options.readOutsideWorkspace === 'ask'
    ? ask('protected', ['outside-workspace'], 'it is outside the workspace')
    : deny(
        'protected',
        'outside-workspace',
        `${action.path} is outside the workspace, and reading there is turned off.`,
      )
}

const isInOneOf = (path: string, roots: readonly string[]): boolean => roots.some((root) => isWithin(path, root))

function ask(stage: Stage, rules: readonly string[], reason: string): Asking {
  return { type: 'ask', rules, reason, stage }
}

function deny(stage: Stage, rule: string, reason: string): Extract<Verdict, { type: 'deny' }> {
  return { type: 'deny', rule, reason, stage }
}

/**
 * What is asked before an isolated command gets the network that others of its session do without; `null` where nothing is. Package managers
 * reach their registries, and one answer counts for a program and a host. The one place that says when.
 */
function askForNetwork(
  { action, command, subject }: AnalyzedAction,
  { misled = 'none' }: Pick<EvaluationOptions, 'misled'>,
): { readonly rules: readonly string[]; readonly reason: string } | null {
  if (action.type !== 'spawn' || action.network !== 'on' || action.outside || !command) return null
  if (isMisledBy(misled, command.collected))
    return {
      rules: ['network'],
      reason: `it needs the network, names of programs may mean others in this shell, and ${afterOutside(subject)}`,
    }
  const needs = networkNeeds(command.collected)
  const remote = needs.filter(({ kind }) => kind === 'far')
  const others = needs.filter(({ kind }) => kind === 'none')
  const isPlain = command.collected.complete && remote.length === 0 && others.length === 0
  if (isPlain && needs.length > 0) return null
  const hasHost = (program: string) => remote.some(({ name, host }) => name === program && host !== null)
  const named = remote.map(({ name, host }) => {
    if (host !== null) return `${name} to ${host}`
    return hasHost(name) ? `${name} to others` : name
  })
  const rules = remote.map(({ name, host }) => (host === null ? `network-${name}` : `network-${name}-${host}`))
  const beside = others.map(({ name }) => name)
  return {
    // Programs beside it would have the network too.
    rules: [
      ...new Set([
        ...rules,
        ...beside.map((name) => `network-beside-${name}`),
        ...(rules.length === 0 ? ['network'] : []),
      ]),
    ],
    reason: `it needs the network${named.length > 0 ? ` (${[...new Set(named)].join(', ')})` : ''}${beside.length > 0 ? `, which ${[...new Set(beside)].join(' and ')} would have too` : ''}, and ${afterOutside(subject)}`,
  }
}
