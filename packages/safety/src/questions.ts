import type { Action, Approval, ApprovalChoice, ApprovalQuestion, Subject } from '@hermes/contracts/policy'
import { describeAction } from './describe-action.js'
import type { Verdict } from './judge.js'
import { flatAction } from './permit.js'
import type { PermissionRule } from './rules.js'

/** What a session-wide or permanent yes would say too much about: the text that runs is not known when the question is asked. */
const ONCE_ONLY = Object.freeze([
  ...['remote-to-shell', 'piped-shell', 'computed-command', 'unparsable', 'metadata-endpoint', 'hermes-permissions'],
])

/** What a person is asked about `action`. */
export function questionOf(
  action: Action,
  subject: Subject,
  { rules, reason }: Extract<Verdict, { type: 'ask' }>,
  { redact, grant }: { readonly redact: (text: string) => string; readonly grant: PermissionRule | null },
): ApprovalQuestion {
  // A rule made permanent would write the secret into a file.
  const hasSecret = flatAction(redactAction(action, redact)) !== flatAction(action)
  const isOnce = rules.some((name) => ONCE_ONLY.includes(name))
  const lasting = isOnce || hasSecret ? null : grant
  const choices: ApprovalChoice[] = isOnce
    ? ['once', 'deny']
    : ['once', 'session', ...(lasting ? (['always'] as const) : []), 'deny']
  const summary = redact(`${describeAction(action)}: ${reason}`)
  const shown = lasting ? { grant: lasting.pattern } : {}
  return { action, subject, rule: rules[0] ?? 'ask', summary, choices, ...shown }
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
  const digest = await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(flatAction(action)))
  return Buffer.from(digest).toString('hex')
}

/** Whether an answer still counts, or may still be given. */
export function isAlive({ status, expiresAtMs }: Approval, nowMs: number): boolean {
  return status !== 'used' && expiresAtMs > nowMs
}
