import type { Approval, ApprovalChoice } from '@hermes/contracts/policy'
import type { Runtime } from '@hermes/runtime'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { openCli } from '../open-cli.js'
import { clip, createStyle } from '../render/style.js'

const SHOWN_ID_CHARS = 8

/** `hermes approvals list`: questions that wait for an answer, oldest first. */
export function approvalsList(io: Io, { json }: { readonly json?: boolean }): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const waiting = await unanswered(runtime)
    if (json) for (const approval of waiting) io.stdout.write(`${JSON.stringify(approval)}\n`)
    else if (waiting.length === 0) io.stderr.write('Nothing waits for an answer.\n')
    else {
      const style = createStyle(io.stdout)
      for (const { id, question, askedAtMs } of waiting) {
        const when = new Date(askedAtMs).toISOString().slice(0, 16).replace('T', ' ')
        const head = `${id.slice(0, SHOWN_ID_CHARS)}  ${when}  `
        const facts = `session ${question.subject.sessionId}; answers: ${question.choices.join(', ')}`
        io.stdout.write(`${style.bold(id.slice(0, SHOWN_ID_CHARS))}${style.dim(head.slice(SHOWN_ID_CHARS))}`)
        io.stdout.write(`${clip(question.summary, Math.max(io.stdout.columns() - head.length, 20))}\n`)
        io.stdout.write(`${style.dim(`${' '.repeat(SHOWN_ID_CHARS)}  ${facts}`)}\n`)
      }
    }
    return EXIT.ok
  })
}

/** `hermes approvals answer ID CHOICE`. */
export function approvalsAnswer(io: Io, id: string, choice: ApprovalChoice): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const waiting = await unanswered(runtime)
    const [approval, another] = waiting.filter((one) => one.id.startsWith(id))
    if (!approval) throw new UsageError(`Nothing waits for an answer under ${id}. All there is: hermes approvals list`)
    if (another) throw new UsageError(`Several questions begin with ${id}; write more of the id.`)
    const { choices, subject } = approval.question
    if (!choices.includes(choice)) throw new UsageError(`This question takes only: ${choices.join(', ')}.`)
    if (!(await runtime.policy.answer(approval.id, choice, io.user)))
      throw new UsageError('It was answered in the meantime, or has expired.')
    const next = approval.status === 'parked' ? ` The run goes on with: hermes -r ${subject.sessionId}` : ''
    io.stdout.write(`Answered: ${choice}.${next}\n`)
    return EXIT.ok
  })
}

async function unanswered(runtime: Runtime): Promise<readonly Approval[]> {
  const { approvals } = await runtime.storage()
  const now = Date.now()
  return (await approvals.pending()).filter(({ status, expiresAtMs }) => status !== 'answered' && expiresAtMs > now)
}

async function withRuntime(io: Io, work: (runtime: Runtime) => Promise<number>): Promise<number> {
  const runtime = await openCli(io, { surface: 'cli', yolo: false })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}
