import type { Approval, ApprovalChoice } from '@hermes/contracts/policy'
import type { Runtime } from '@hermes/runtime'
import { UsageError } from './errors.js'

/** How much of an id tells approvals apart on a screen. */
export const SHOWN_ID_CHARS = 8

const CHOICES: readonly ApprovalChoice[] = ['once', 'session', 'always', 'deny']

/** Questions that wait for an answer and answers that wait to be used, oldest first. */
export async function storedApprovals(runtime: Runtime): Promise<readonly Approval[]> {
  const { approvals } = await runtime.storage()
  const now = Date.now()
  return (await approvals.pending()).filter(({ expiresAtMs }) => expiresAtMs > now)
}

/** Whether a word is an answer. */
export function isChoice(word: string): word is ApprovalChoice {
  return (CHOICES as readonly string[]).includes(word)
}

/**
 * Answers the one whose id begins with `id`; resolves with a line that says so.
 * @throws UsageError for no or several such questions, and for an answer that is not offered.
 */
export async function answerApproval(
  runtime: Runtime,
  { id, choice, by }: { readonly id: string; readonly choice: ApprovalChoice; readonly by?: string },
): Promise<string> {
  const approval = onlyOne(
    id,
    (await storedApprovals(runtime)).filter(({ status }) => status !== 'answered'),
  )
  const { choices, subject } = approval.question
  if (!choices.includes(choice)) throw new UsageError(`This question takes only: ${choices.join(', ')}.`)
  if (!(await runtime.policy.answer(approval.id, choice, by)))
    throw new UsageError('It was answered in the meantime, or has expired.')
  const next = approval.status === 'parked' ? ` The run goes on with: hermes -r ${subject.sessionId}` : ''
  return `Answered: ${choice}.${next}`
}

/**
 * Takes back a stored answer that was not used yet, or a question; what asks for it again is asked anew. Resolves with a line that says so.
 * @throws UsageError for no or several such approvals.
 */
export async function revokeApproval(runtime: Runtime, id: string): Promise<string> {
  const approval = onlyOne(id, await storedApprovals(runtime))
  const { approvals } = await runtime.storage()
  await approvals.put({ ...approval, status: 'used' })
  return approval.status === 'answered' ? `Taken back: ${approval.choice}.` : 'The question is gone.'
}

function onlyOne(id: string, all: readonly Approval[]): Approval {
  const [approval, another] = all.filter((one) => one.id.startsWith(id))
  if (!approval) throw new UsageError(`Nothing waits for an answer under ${id}. All there is: hermes approvals list`)
  if (another) throw new UsageError(`Several questions begin with ${id}; write more of the id.`)
  return approval
}
