import type { Action, ApprovalQuestion } from '@hermes/contracts/policy'
import { visibleText } from '@hermes/safety'
import { statementsOf } from '../render/statements.js'

/** What a person is asked, in the parts in which it is laid out. Nothing in it is hidden from a screen. */
export interface ShownApproval {
  readonly title: string
  /** The command, a statement a line; of anything else nothing. */
  readonly block: readonly string[]
  /** Why it is asked, then what a lasting yes would write. */
  readonly notes: readonly string[]
}

/** Lays out what is asked; a folder is named where it is not `cwd`, in which the session works. */
export function describeApproval(question: ApprovalQuestion, cwd: string): ShownApproval {
  const { action, summary, reason, subject, grant } = question
  const lasting = grant === undefined ? [] : [`"always" writes the rule: ${visibleText(grant)}`]
  const why = reason === undefined ? summary : sentence(reason)
  const title = `${whoAsks(subject)}${titleOf(question, cwd)}`
  return { title: visibleText(title), block: commandLines(action), notes: [visibleText(why), ...lasting] }
}

/** The agent a person talks to needs no name; one that works for it does. */
function whoAsks({ agentPath }: ApprovalQuestion['subject']): string {
  return agentPath.length > 1 ? `A helper (${agentPath.slice(1).join(' / ')}) asks: ` : ''
}

function titleOf({ action, summary, reason }: ApprovalQuestion, cwd: string): string {
  if (action.type === 'spawn') {
    const folder = action.cwd === cwd ? '' : ` in ${action.cwd}`
    const where = action.backend === 'local' ? '' : ` (${action.backend})`
    return `Run this${action.outside ? ' outside the isolation' : ''}${folder}${where}?`
  }
  // The summary is what is done, and why that is asked.
  return reason === undefined ? 'Allow this?' : `${summary.slice(0, -`: ${reason}`.length)}?`
}

function commandLines(action: Action): readonly string[] {
  if (action.type !== 'spawn') return []
  const lines = action.argv ? [action.argv.map(quoted).join(' ')] : statementsOf(action.command)
  return lines.map(visibleText)
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
