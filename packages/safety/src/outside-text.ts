import type { Action, Subject } from '@hermes/contracts/policy'
import { type CommandContext, resolveShellPath } from './command/context.js'
import { installsFromAddress } from './command/installs-from.js'
import type { Invocation } from './command/invocation.js'
import { handedCode, usesNetwork, writesBeyond } from './command/reaching-code.js'
import { isSecretPath, mentionsSecret, readsSecret } from './command/reads-secrets.js'
import { sendsData } from './command/sends-data.js'
import { isBeyond, writeTargets } from './command/write-targets.js'
import type { AnalyzedAction } from './match-rules.js'

/** What a person is asked about only once text from outside is in the conversation. */
interface OutsideTextAsk {
  readonly rule: 'outside-text-send' | 'outside-text-write' | 'outside-text-secret' | 'outside-text-install'
  readonly reason: string
}

const SENDS: OutsideTextAsk = { rule: 'outside-text-send', reason: 'it sends data away' }
const WRITES: OutsideTextAsk = { rule: 'outside-text-write', reason: 'it writes outside the workspace' }
const SECRETS: OutsideTextAsk = { rule: 'outside-text-secret', reason: 'it reads a file of keys or passwords' }
const INSTALLS: OutsideTextAsk = { rule: 'outside-text-install', reason: 'it brings programs from an address' }

const MOST_NAMED = 2

/** What a question says of text that may be behind the action, with where it came from: the newest sources first. */
export function afterOutside({ taintedBy = [] }: Pick<Subject, 'taintedBy'>): string {
  const newest = taintedBy.slice(-MOST_NAMED).toReversed()
  const more = taintedBy.length - newest.length
  const names = [...newest, ...(more > 0 ? [`${more} more`] : [])]
  const because = names.length === 0 ? '' : ` (because of ${names.join(' and ')})`
  return `text from outside was read, which may have asked for that${because}`
}

const READING_METHODS = Object.freeze(['GET', 'HEAD', 'OPTIONS'])

/**
 * What of an action text from outside may be after: data that leaves, files beyond the workspace, secrets, programs of others. Looks at
 * known programs, and at code that is handed over inline; what a script in the workspace does is not known here.
 */
export function outsideTextAsks(
  analyzed: AnalyzedAction,
  options: CommandContext & { readonly workspace: readonly string[] },
): readonly OutsideTextAsk[] {
  return asksOf(analyzed, options).map(({ rule, reason }) => ({
    rule,
    reason: `${reason} after ${afterOutside(analyzed.subject)}`,
  }))
}

function asksOf(
  { action, command }: AnalyzedAction,
  options: CommandContext & { readonly workspace: readonly string[] },
): readonly OutsideTextAsk[] {
  switch (action.type) {
    case 'send':
      return action.chosen === 'looks' ? [] : [SENDS]
    case 'fetch':
      return action.chosen === 'looks' || READING_METHODS.includes(action.method.toUpperCase()) ? [] : [SENDS]
    case 'write':
      return isOutside(action, action.path, options) ? [WRITES] : []
    case 'read':
      return isSecretPath(resolveShellPath(action.path, options)) ? [SECRETS] : []
    case 'spawn': {
      const invocations = command?.collected.invocations ?? []
      const writes = (invocation: Invocation) =>
        writeTargets(invocation).some((path) => isOutside(action, path, { ...options, ...invocation.context }))
      const code = invocations.flatMap(handedCode)
      return [
        ...(invocations.some(sendsData) || code.some(usesNetwork) ? [SENDS] : []),
        ...(invocations.some(writes) || code.some(writesBeyond) ? [WRITES] : []),
        ...(invocations.some(readsSecret) || [...code, command?.text ?? ''].some(mentionsSecret) ? [SECRETS] : []),
        ...(invocations.some(installsFromAddress) ? [INSTALLS] : []),
      ]
    }
    default:
      return action satisfies never
  }
}

/** The workspace is a folder of this machine: what lies around it elsewhere is not known here. */
function isOutside(
  { backend }: Extract<Action, { type: 'spawn' | 'write' }>,
  path: string,
  options: CommandContext & { readonly workspace: readonly string[] },
): boolean {
  if (backend !== 'local' || options.workspace.length === 0) return false
  return isBeyond(path, options.workspace, options)
}
