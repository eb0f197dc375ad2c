import { createHash } from 'node:crypto'
import type { Action, Approval, ApprovalChoice, ApprovalQuestion, Subject } from '@hermes/contracts/policy'
import { describeAction } from './describe-action.js'
import type { Verdict } from './evaluate.js'
import { flatAction } from './permit.js'
import type { PermissionRule } from './rules.js'
import { broadGrants } from './session-grants.js'

/** What a session-wide or permanent yes would say too much about: the text that runs is not known when the question is asked. */
const ONCE_ONLY = Object.freeze([
  ...[
    'remote-to-shell',
    'piped-shell',
    'computed-command',
    'unparsable',
    'too-long',
    'metadata-endpoint',
    'hermes-permissions',
    'skill-unheld',
  ],
])

/** What a question depends on beside the action and the verdict. */
interface QuestionFacts {
  readonly redact: (text: string) => string
  /** What an "always" would write. */
  readonly grant: PermissionRule | null
  /** Whether the same action does the same again. */
  readonly isRepeatable: boolean
}

/** What a person is asked about `action`. */
export function questionOf(
  action: Action,
  subject: Subject,
  { rules, reason }: Extract<Verdict, { type: 'ask' }>,
  { redact, grant, isRepeatable }: QuestionFacts,
): ApprovalQuestion {
  // A rule made permanent would write the secret into a file.
  const hasSecret = flatAction(redactAction(action, redact)) !== flatAction(action)
  const isOnce = rules.some((name) => ONCE_ONLY.includes(name))
  const lasting = isOnce || hasSecret ? null : grant
  const broad = isOnce ? [] : broadGrants(rules)
  // A grant for more than the same action needs no knowledge of what that will do.
  const mayHold = !isOnce && (isRepeatable || broad.length === rules.length)
  const choices: ApprovalChoice[] = [
    ...['once' as const, ...(mayHold ? (['session'] as const) : [])],
    ...[...(lasting ? (['always'] as const) : []), 'deny' as const],
  ]
  const wide = mayHold && broad.length > 0 ? ` ("session" is for ${broad.join(' and ')})` : ''
  const why = redact(`${reason}${wide}`)
  const summary = `${redact(describeAction(action))}: ${why}`
  const shown = lasting ? { grant: lasting.pattern } : {}
  return { action, subject, rule: rules[0] ?? 'ask', summary, reason: why, choices, ...shown }
}

/** The question as it is kept. */
export function redactQuestion(question: ApprovalQuestion, redact: (text: string) => string): ApprovalQuestion {
  return { ...question, action: redactAction(question.action, redact) }
}

function redactAction(action: Action, redact: (text: string) => string): Action {
  switch (action.type) {
    case 'spawn':
      return {
        ...action,
        command: redact(action.command),
        ...(action.argv ? { argv: action.argv.map((word) => redact(word)) } : {}),
      }
    case 'read':
    case 'write':
      return { ...action, path: redact(action.path) }
    case 'fetch':
      return { ...action, url: redact(action.url) }
    case 'send':
      return { ...action, target: redact(action.target) }
    default:
      return action satisfies never
  }
}

/** What tells an action from all others without saying what it is. */
export async function fingerprintOf(action: Action): Promise<string> {
  return digestOf(flatAction(withoutLess(action)))
}

/** A yes to a command holds once it does without the network. */
function withoutLess(action: Action): Action {
  if (action.type !== 'spawn' || action.network !== 'off') return action
  const { network: _, ...rest } = action
  return rest
}

/**
 * What tells an action, with the contents that decide about it, from all others: the same command in the same folder, the same operation on
 * the same file, a request by the same method to the same server. `epoch` counts how often names of programs came to mean others.
 */
export async function actionKey(action: Action, digest: string | null, epoch: number): Promise<string> {
  const same: Action = action.type === 'fetch' ? { ...action, url: originOf(action.url) } : action
  return `${await fingerprintOf(same)}-${digest ?? ''}-${epoch}`
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}

/** SHA-256 in hexadecimal digits over a value as JSON, or over a text as it is. */
export async function digestOf(value: unknown): Promise<string> {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return createHash('sha256').update(text).digest('hex')
}

/** Whether an answer still counts, or may still be given. */
export function isAlive({ status, expiresAtMs }: Approval, nowMs: number): boolean {
  return status !== 'used' && expiresAtMs > nowMs
}
