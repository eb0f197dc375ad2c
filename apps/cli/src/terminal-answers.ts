import { createInterface } from 'node:readline/promises'
import type { ApprovalChoice, ApprovalQuestion } from '@hermes/contracts/policy'
import type { Answer, Question } from '@hermes/contracts/tool'
import type { Runtime } from '@hermes/runtime'
import type { Io } from './io.js'
import { createStyle, printable, wrap } from './render/style.js'

const KEYS: Readonly<Record<ApprovalChoice, string>> = { once: 'y', session: 's', always: 'a', deny: 'n' }
const LABELS: Readonly<Record<ApprovalChoice, string>> = {
  once: 'yes, once',
  session: 'yes, for this session',
  always: 'always',
  deny: 'no',
}

/** Whether a person can be asked: keys come from a terminal and the question can be seen. */
export function canAsk(io: Io): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY
}

/** Asks one line on the terminal. Abort and end of input answer `null`; so does Ctrl-C, which also stops the run. */
async function askLine(io: Io, prompt: string, signal?: AbortSignal): Promise<string | null> {
  const lines = createInterface({ input: io.stdin, output: process.stderr, terminal: true })
  lines.once('SIGINT', () => {
    lines.close()
    process.kill(process.pid, 'SIGINT')
  })
  try {
    const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)))
    return await Promise.race([lines.question(prompt, signal ? { signal } : {}), closed])
  } catch {
    return null
  } finally {
    lines.close()
  }
}

/** Answers a session's approvals by asking the person at the terminal, one at a time. */
export function listenForApprovals(io: Io, runtime: Runtime, sessionId: string): void {
  let queue = Promise.resolve()
  runtime.policy.listen(sessionId, (approvalId, question) => {
    queue = queue.then(async () => {
      await runtime.policy.answer(approvalId, await askApproval(io, question).catch(() => 'deny' as const))
    })
  })
}

/** Anything but a clear yes is a no. */
async function askApproval(io: Io, question: ApprovalQuestion): Promise<ApprovalChoice> {
  const style = createStyle(io.stderr)
  const columns = io.stderr.columns()
  io.stderr.write(`${style.yellow(wrap(printable(question.summary), columns))}\n`)
  const { action } = question
  if (action.type === 'spawn' && !question.summary.includes(action.command))
    io.stderr.write(`  ${printable(action.command)}\n`)
  const choices = question.choices.map((choice) => `[${KEYS[choice]}] ${LABELS[choice]}`)
  const inLine = `${choices.join('  ')} > `
  const prompt = inLine.length < columns ? inLine : `${choices.join('\n')}\n> `
  const line = (await askLine(io, prompt))?.trim().toLowerCase() ?? ''
  return (
    question.choices.find((choice) => KEYS[choice] === line || choice === line) ?? (line === 'yes' ? 'once' : 'deny')
  )
}

/** Puts a `clarify` question to the person: a number picks a choice, other text is the answer where that is allowed. */
export async function askQuestion(io: Io, question: Question, signal: AbortSignal): Promise<Answer> {
  const show = (text: string) => io.stderr.write(`${wrap(printable(text), io.stderr.columns())}\n`)
  show(`❓ ${question.question}`)
  for (const [index, choice] of question.choices.entries()) show(`  ${index + 1}. ${choice}`)
  for (;;) {
    const line = await askLine(io, question.choices.length > 0 ? 'number or answer > ' : 'answer > ', signal)
    if (line === null) return { type: 'unanswered', reason: 'The user did not answer.' }
    const picked = question.choices[Number(line.trim()) - 1]
    if (picked !== undefined) return { type: 'answered', text: picked }
    if (line.trim() !== '' && (question.allowFreeText || question.choices.length === 0))
      return { type: 'answered', text: line.trim() }
  }
}
