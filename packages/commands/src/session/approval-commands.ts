import type { Command, CommandContext, CommandOutput, CommandResult } from '@hermes/contracts/extension'
import { type Approval, type ApprovalChoice, approvalToJson, rootSessionOf } from '@hermes/contracts/policy'
import { parameters, say, usageError } from './parameters.js'
import type { SessionServices } from './services.js'

const USAGE = '/approvals [ID once|session|always|deny | revoke ID | revoke session]'
/** How much of an id tells approvals apart on a screen. */
const SHOWN_ID_CHARS = 8

/** What people write for each answer, the name of it first. */
export const APPROVAL_WORDS: Readonly<Record<ApprovalChoice, readonly string[]>> = {
  once: ['once', 'yes', 'y', 'approve', 'ok', 'go'],
  session: ['session'],
  always: ['always'],
  deny: ['deny', 'no', 'n', 'cancel'],
}

/** The answer that a word stands for; `null` for none. */
export function toApprovalChoice(word: string): ApprovalChoice | null {
  const wanted = word.trim().toLowerCase()
  const names = Object.keys(APPROVAL_WORDS) as ApprovalChoice[]
  return names.find((name) => APPROVAL_WORDS[name].includes(wanted)) ?? null
}

/** Questions that nobody has answered, in any session of the home, and what was allowed in this one. */
export function commandsOfApprovals(services: SessionServices): readonly Command[] {
  return [
    {
      name: 'approvals',
      usage: '[ID CHOICE | revoke ID]',
      summary: 'what waits for an answer; answer it, or revoke grants',
      duringRun: 'allowed',
      needsSession: false,
      parameters: parameters({ words: { type: 'array', items: { type: 'string' }, default: [] } }),
      complete: async ([first]) =>
        first === undefined
          ? (await storedApprovals(services)).map(shortId).concat('revoke')
          : Object.keys(APPROVAL_WORDS),
      run: ({ words }, context) => approvals(services, words as readonly string[], context),
    },
  ]
}

async function approvals(
  services: SessionServices,
  [first, second, ...more]: readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  if (first === undefined) return list(services, context)
  if (second === undefined || more.length > 0) throw usageError(USAGE)
  if (first !== 'revoke') {
    const choice = toApprovalChoice(second)
    if (choice === null) throw usageError(USAGE)
    return say(await answer(services, { id: first, choice, by: context.caller.user }))
  }
  if (second !== 'session' || !context.session) return say(await revoke(services, second))
  services.grants.revokeGrants(context.session.id)
  return say('The grants of this session are revoked; you are asked again.')
}

async function list(services: SessionServices, { session }: CommandContext): Promise<CommandResult> {
  const stored = await storedApprovals(services)
  const grants = session ? services.grants.listGrants(session.id) : []
  const granted = say(`Allowed for this session: ${grants.join(', ')}. To end that: /approvals revoke session`)
  const empty = session
    ? 'Nothing waits for an answer, and nothing is allowed for this session.'
    : 'Nothing waits for an answer.'
  const table: CommandOutput = { type: 'table', rows: stored.map(toRow), empty }
  return [...(stored.length > 0 || grants.length === 0 ? [table] : []), ...(grants.length > 0 ? [granted] : [])]
}

function toRow(approval: Approval) {
  const { question, askedAtMs, choice } = approval
  const when = new Date(askedAtMs).toISOString().slice(0, 16).replace('T', ' ')
  const state = choice === null ? `answers: ${question.choices.join(', ')}` : `answered: ${choice}, not used yet`
  const grant = question.grant !== undefined && choice === null ? ` (always writes: ${question.grant})` : ''
  return {
    cells: [shortId(approval), when, question.subject.sessionId, state, `${question.summary}${grant}`],
    data: approvalToJson(approval),
  }
}

function shortId({ id }: Approval): string {
  return id.slice(0, SHOWN_ID_CHARS)
}

/** Questions that wait for an answer and answers that wait to be used, oldest first. */
async function storedApprovals({ storage, clock }: SessionServices): Promise<readonly Approval[]> {
  const now = clock.now()
  return (await (await storage()).approvals.pending()).filter(({ expiresAtMs }) => expiresAtMs > now)
}

async function answer(
  services: SessionServices,
  { id, choice, by }: { readonly id: string; readonly choice: ApprovalChoice; readonly by: string },
): Promise<string> {
  const open = (await storedApprovals(services)).filter(({ status }) => status !== 'answered')
  const approval = onlyOne(id, open)
  const { choices, subject } = approval.question
  if (!choices.includes(choice)) throw usageError(`This question takes only: ${choices.join(', ')}.`)
  if (!(await services.policy.answer(approval.id, choice, by)))
    throw usageError('It was answered in the meantime, or has expired.')
  const next = approval.status === 'parked' ? ` The session goes on with: hermes -r ${rootSessionOf(subject)}` : ''
  return `Answered: ${choice}.${next}`
}

/** Takes back a stored answer that was not used yet, or a question; what asks for it again is asked anew. */
async function revoke(services: SessionServices, id: string): Promise<string> {
  const approval = onlyOne(id, await storedApprovals(services))
  await (await services.storage()).approvals.put({ ...approval, status: 'used' })
  return approval.status === 'answered' ? `Taken back: ${approval.choice}.` : 'The question is gone.'
}

function onlyOne(id: string, all: readonly Approval[]): Approval {
  const [approval, another] = all.filter((one) => one.id.startsWith(id))
  if (!approval) throw usageError(`Nothing waits for an answer under ${id}. All there is: hermes approvals list`)
  if (another) throw usageError(`Several questions begin with ${id}; write more of the id.`)
  return approval
}
