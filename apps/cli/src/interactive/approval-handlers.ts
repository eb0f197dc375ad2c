import { answerApproval, isChoice, revokeApproval, SHOWN_ID_CHARS, storedApprovals } from '../approvals.js'
import { UsageError } from '../errors.js'
import { clip } from '../render/style.js'
import type { Talk } from './talk.js'

const USAGE = '/approvals [ID once|session|always|deny | revoke ID | revoke session]'

/** `/approvals`: lists what waits; answers it; takes leave back. */
export async function approvals(talk: Talk, args: string): Promise<void> {
  const [first, second, ...more] = args.split(/\s+/).filter((word) => word !== '')
  if (first === undefined) return list(talk)
  if (second === undefined || more.length > 0) throw new UsageError(USAGE)
  if (first !== 'revoke') {
    if (!isChoice(second)) throw new UsageError(USAGE)
    return talk.say(await answerApproval(talk.runtime, { id: first, choice: second }))
  }
  if (second !== 'session') return talk.say(await revokeApproval(talk.runtime, second))
  talk.runtime.permissions.policy.revokeGrants(talk.seat.agent.sessionId)
  talk.say('The grants of this session are revoked; you are asked again.')
}

async function list(talk: Talk): Promise<void> {
  const { runtime, seat, output, style } = talk
  const stored = await storedApprovals(runtime)
  for (const { id, question, choice } of stored) {
    const state = choice ?? question.choices.join('|')
    const head = id.slice(0, SHOWN_ID_CHARS)
    const what = clip(question.summary, Math.max(output.columns() - head.length - state.length - 5, 20))
    output.write(`${style.bold(head)}  ${what}  ${style.dim(state)}\n`)
  }
  const grants = runtime.permissions.policy.listGrants(seat.agent.sessionId)
  if (grants.length > 0)
    talk.say(`Allowed for this session: ${grants.join(', ')}. To end that: /approvals revoke session`)
  else if (stored.length === 0) talk.say('Nothing waits for an answer, and nothing is allowed for this session.')
}
