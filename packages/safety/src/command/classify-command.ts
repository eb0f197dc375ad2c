import { type Collected, collectInvocations } from './collect.js'
import type { CommandContext } from './context.js'
import { HARDLINE_RULES } from './hardline.js'
import type { Invocation } from './invocation.js'
import { plainFindings } from './plain-look.js'
import { PROTECTED_RULES, protectedWrites } from './protected-writes.js'
import { FORK_BOMB, TOO_LONG, UNPARSABLE } from './reasons.js'
import { type CommandRule, type Finding, matching } from './rule.js'
import { EXECUTION_RULES } from './rules-execution.js'
import { FILE_RULES } from './rules-files.js'
import { GIT_RULES } from './rules-git.js'
import { HERMES_RULES } from './rules-hermes.js'
import { SECRET_RULES } from './rules-secrets.js'
import { SERVICE_RULES } from './rules-services.js'
import { UNFOLLOWED_RULES } from './rules-unfollowed.js'
import { VARIABLE_RULES } from './rules-variables.js'

/** What a command line is. `rule` and `reason` are `null` when it is safe. */
export interface CommandClass {
  /** `hardline`: never run. `dangerous`: ask first. */
  readonly level: 'hardline' | 'dangerous' | 'safe'
  /** Stable name, for example `recursive-delete`. */
  readonly rule: string | null
  /** What it does, for a person: "deletes folders with everything in them". */
  readonly reason: string | null
  /** Every rule that matched, `rule` first. A grant for one of them is not a grant for the others. */
  readonly rules: readonly string[]
}

const SAFE: CommandClass = Object.freeze({ level: 'safe', rule: null, reason: null, rules: Object.freeze([]) })

/**
 * Judges a shell command by what it would run, not by how it is spelled: quoted prose is not a command, and quoting, substitutions,
 * wrappers and `-c` payloads hide nothing that can be known beforehand. Broken quoting, and more than can be followed, count as dangerous.
 * Never throws.
 */
export function classifyCommand(command: string, context: CommandContext = {}): CommandClass {
  return classifyCollected(collectInvocations(command, context))
}

/** The same for a command already taken apart. Rules in `except` do not make it dangerous. */
export function classifyCollected(
  { invocations, supposed, forkBombs, complete, isTooLong, unfollowed }: Collected,
  except: ReadonlySet<string> = NOTHING,
): CommandClass {
  if (forkBombs.length > 0) return judged('hardline', [FORK_BOMB])
  const matches = (rules: readonly CommandRule[]): readonly Finding[] =>
    invocations.flatMap((invocation) => matching(rules, invocation))
  const hardline = [...matches(HARDLINE_RULES), ...plainFindings(unfollowed)]
  if (hardline.length > 0) return judged('hardline', hardline)
  const dangerous = [
    ...DELETION_RULES.flatMap(matches),
    ...invocations.flatMap(protectedWrites),
    ...OTHER_RULES.flatMap(matches),
  ]
  const hidden = supposed.flatMap(hiddenIn)
  const unknown = isTooLong ? [TOO_LONG] : complete ? [] : [UNPARSABLE]
  const found = [...unknown, ...dangerous, ...hidden].filter(({ rule }) => !except.has(rule))
  return found.length === 0 ? SAFE : judged('dangerous', found)
}

/** In the order in which they give their name to a question; what is written comes between them. */
const DELETION_RULES = [GIT_RULES, FILE_RULES]
const OTHER_RULES = [
  ...[PROTECTED_RULES, SERVICE_RULES, EXECUTION_RULES, HERMES_RULES, SECRET_RULES, VARIABLE_RULES, UNFOLLOWED_RULES],
]

/** What speech has in common with commands. */
const NOT_SUPPOSED: ReadonlySet<string> = new Set([
  ...[
    'computed-command',
    'piped-shell',
    'elevated',
    'system-settings',
    'shutdown',
    'publish',
    'crontab',
    'stop-service',
  ],
])

/** Isolation holds a hidden command like any other, so words of an isolated command count for the hard floor only. */
function hiddenIn(invocation: Invocation): readonly Finding[] {
  const isIsolated = invocation.context.supposed === 'isolated'
  const others = isIsolated ? [] : [...DELETION_RULES, ...OTHER_RULES]
  const found = [HARDLINE_RULES, ...others].flatMap((rules) => matching(rules, invocation))
  return [...found, ...(isIsolated ? [] : protectedWrites(invocation))]
    .filter(({ rule }) => !NOT_SUPPOSED.has(rule))
    .map(({ rule, reason }) => ({ rule: `hidden-command:${rule}`, reason: `may run a command that ${reason}` }))
}

const NOTHING: ReadonlySet<string> = new Set()

function judged(level: 'hardline' | 'dangerous', found: readonly Finding[]): CommandClass {
  const [first] = found
  return { level, rule: first!.rule, reason: first!.reason, rules: [...new Set(found.map(({ rule }) => rule))] }
}
