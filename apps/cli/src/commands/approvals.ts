import { type ApprovalChoice, approvalToJson } from '@hermes/contracts/policy'
import type { Runtime } from '@hermes/runtime'
import { answerApproval, revokeApproval, SHOWN_ID_CHARS, storedApprovals } from '../approvals.js'
import { EXIT } from '../errors.js'
import type { Io } from '../io.js'
import { openCli } from '../open-cli.js'
import { clip, createStyle, printable } from '../render/style.js'

/** `hermes approvals list`: questions that wait for an answer, and answers that wait to be used, oldest first. */
export function approvalsList(io: Io, { json }: { readonly json?: boolean }): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const waiting = await storedApprovals(runtime)
    if (json) for (const approval of waiting) io.stdout.write(`${JSON.stringify(approvalToJson(approval))}\n`)
    else if (waiting.length === 0) io.stderr.write('Nothing waits for an answer.\n')
    else {
      const style = createStyle(io.stdout)
      for (const { id, question, askedAtMs, choice } of waiting) {
        const when = new Date(askedAtMs).toISOString().slice(0, 16).replace('T', ' ')
        const head = `${id.slice(0, SHOWN_ID_CHARS)}  ${when}  `
        const state = choice === null ? `answers: ${question.choices.join(', ')}` : `answered: ${choice}, not used yet`
        const facts = `session ${question.subject.sessionId}; ${state}`
        io.stdout.write(`${style.bold(id.slice(0, SHOWN_ID_CHARS))}${style.dim(head.slice(SHOWN_ID_CHARS))}`)
        io.stdout.write(`${clip(question.summary, Math.max(io.stdout.columns() - head.length, 20))}\n`)
        io.stdout.write(`${style.dim(`${' '.repeat(SHOWN_ID_CHARS)}  ${facts}`)}\n`)
        if (question.grant !== undefined && choice === null)
          io.stdout.write(
            `${style.dim(printable(`${' '.repeat(SHOWN_ID_CHARS)}  always writes: ${question.grant}`))}\n`,
          )
      }
    }
    return EXIT.ok
  })
}

/** `hermes approvals answer ID CHOICE`. */
export function approvalsAnswer(io: Io, id: string, choice: ApprovalChoice): Promise<number> {
  return withRuntime(io, async (runtime) => {
    io.stdout.write(`${await answerApproval(runtime, { id, choice, by: io.user })}\n`)
    return EXIT.ok
  })
}

/** `hermes approvals revoke ID`. */
export function approvalsRevoke(io: Io, id: string): Promise<number> {
  return withRuntime(io, async (runtime) => {
    io.stdout.write(`${await revokeApproval(runtime, id)}\n`)
    return EXIT.ok
  })
}

async function withRuntime(io: Io, work: (runtime: Runtime) => Promise<number>): Promise<number> {
  const runtime = await openCli(io, { platform: 'cli', yolo: false })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}
