import type { Command, CommandContext, CommandOutput, CommandResult } from '@hermes/contracts/extension'
import { type Approval, type ApprovalChoice, approvalToJson, rootSessionOf } from '@hermes/contracts/policy'
import { answerIn, type KeptQuestion, numberedQuestion } from '@hermes/contracts/tool'
import { parameters, say, usageError } from './parameters.js'
import type { SessionServices } from './services.js'

const USAGE = '/approvals [ID once|session|always|deny | ID ANSWER | revoke ID | revoke session]'
const CHOICES = 'Allowed choices are once, session, always, deny.'
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
function toApprovalChoice(word: string): ApprovalChoice | null {
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
          ? [...(await storedApprovals(services)), ...(await storedQuestions(services))].map(shortId).concat('revoke')
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
  if (second === undefined) throw usageError(USAGE)
  if (first !== 'revoke') {
    const by = context.caller.user
    const questions = await storedQuestions(services)
    if (questions.some(({ id }) => id.startsWith(first)))
      return say(await answerQuestion(services, onlyOne(first, questions), { text: [second, ...more].join(' '), by }))
    const choice = more.length === 0 ? toApprovalChoice(second) : null
    if (choice === null) throw usageError(CHOICES)
    return say(await answer(services, { id: first, choice, by }))
  }
  if (more.length > 0) throw usageError(USAGE)
  if (second !== 'session' || !context.session) return say(await revoke(services, second))
  services.grants.revokeGrants(context.session.id)
  return say('The grants of this session are revoked; you are asked again.')
}

async function list(services: SessionServices, { session }: CommandContext): Promise<CommandResult> {
  const rows = [
    ...(await storedApprovals(services)).map(toRow),
    ...(await storedQuestions(services)).map(toQuestionRow),
  ]
  const grants = session ? services.grants.listGrants(session.id) : []
  const granted = say(`Allowed for this session: ${grants.join(', ')}. To end that: /approvals revoke session`)
  const empty = session
    ? 'Nothing waits for an answer, and nothing is allowed for this session.'
    : 'Nothing waits for an answer.'
  const table: CommandOutput = { type: 'table', rows, empty }
  return [...(rows.length > 0 || grants.length === 0 ? [table] : []), ...(grants.length > 0 ? [granted] : [])]
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

function toQuestionRow(kept: KeptQuestion) {
  const { sessionId, askedAtMs, question, answer } = kept
  const when = new Date(askedAtMs).toISOString().slice(0, 16).replace('T', ' ')
  const state = answer === null ? 'answers: number, words' : `answered: ${answer}, not used yet`
  const text = numberedQuestion(question).split('\n').slice(0, -1).join(' ')
  return { cells: [shortId(kept), when, sessionId, state, text], data: { type: 'question', ...kept } }
}

function shortId({ id }: Pick<Approval, 'id'>): string {
  return id.slice(0, SHOWN_ID_CHARS)
}

/** Questions that wait for an answer and answers that wait to be used, oldest first. */
async function storedApprovals({ storage, clock }: SessionServices): Promise<readonly Approval[]> {
  const now = clock.now()
  return (await (await storage()).approvals.pending()).filter(({ expiresAtMs }) => expiresAtMs > now)
}

/** What tools ask and nobody answered, and answers that no call was given yet, oldest first. */
async function storedQuestions({ storage, clock }: SessionServices): Promise<readonly KeptQuestion[]> {
  const now = clock.now()
  return (await (await storage()).questions.pending()).filter(({ expiresAtMs }) => expiresAtMs > now)
}

async function answerQuestion(
  { storage }: SessionServices,
  kept: KeptQuestion,
  { text, by }: { readonly text: string; readonly by: string },
): Promise<string> {
  const answered = answerIn(kept.question, text)
  const { questions } = await storage()
  const isFirst = await questions.put({ ...kept, status: 'answered', answer: answered.text, by })
  if (!isFirst) throw usageError('It was answered in the meantime.')
  const next = kept.status === 'parked' ? ` The session goes on with: hermes -r ${kept.sessionId}` : ''
  return `Answered: ${answered.text}.${next}`
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
  const questions = await storedQuestions(services)
  if (questions.some((kept) => kept.id.startsWith(id))) {
    await (await services.storage()).questions.put({ ...onlyOne(id, questions), status: 'used' })
    return 'The question is gone.'
  }
  const approval = onlyOne(id, await storedApprovals(services))
  await (await services.storage()).approvals.put({ ...approval, status: 'used' })
  return approval.status === 'answered' ? `Taken back: ${approval.choice}.` : 'The question is gone.'
}

function onlyOne<T extends Pick<Approval, 'id'>>(id: string, all: readonly T[]): T {
  const [approval, another] = all.filter((one) => one.id.startsWith(id))
  if (!approval) throw usageError(`Nothing waits for an answer under ${id}. All there is: hermes approvals list`)
  if (another) throw usageError(`Several questions begin with ${id}; write more of the id.`)
  return approval
}
