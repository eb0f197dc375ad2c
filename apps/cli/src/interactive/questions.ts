import { APPROVAL_WORDS } from '@hermes/commands'
import type { ApprovalChoice, ApprovalQuestion } from '@hermes/contracts/policy'
import type { Answer, Question } from '@hermes/contracts/tool'
import type { SessionHandle } from '@hermes/host'
import type { PickAnswer } from '../editor/picker.js'
import { createStyle, printable, wrap } from '../render/style.js'
import type { Console } from './console.js'
import { blockRows } from './picker-rows.js'
import { describeApproval, type ShownApproval } from './shown-approval.js'

const CHOICES: Readonly<Record<ApprovalChoice, { readonly key: string; readonly label: string }>> = {
  once: { key: 'y', label: 'yes, once' },
  session: { key: 's', label: 'yes, for this session' },
  always: { key: 'a', label: 'always' },
  deny: { key: 'n', label: 'no' },
}

const INSTEAD = { key: 'i', label: 'no, and say what to do instead', words: ['instead'] }

/** Stands for a password, whatever its length. */
const HIDDEN = '••••••'

/** A longer command is shown above the question. */
const MAX_BLOCK_ROWS = 12
/** What stands around a command on the screen: the question, what is to be known, the answers and the bar. */
const ROWS_AROUND = 14

const NO_ANSWER: Answer = { type: 'unanswered', reason: 'The user could not be asked.' }

/** Whoever can be asked something. */
export type Asker = Pick<Console, 'output' | 'pick'>

/** Asks for a line; `null` when the person gives none. */
export async function askLine(
  asker: Pick<Asker, 'pick'>,
  question: string,
  signal: AbortSignal,
): Promise<string | null> {
  const answer = await asker.pick({ title: question, options: [], freeText: true }, signal)
  signal.throwIfAborted()
  return answer.type === 'text' ? answer.text : null
}

/** Puts what a session that works in `cwd` asks to the person at the terminal, each question until it is answered here or elsewhere, or withdrawn. Returns how to stop. */
export function answerQuestions(
  session: Pick<SessionHandle, 'subscribe' | 'answer' | 'steer'>,
  asker: Asker,
  cwd: string,
): () => void {
  const open = new Map<string, AbortController>()
  const put = async <T extends ApprovalChoice | Answer>(
    id: string,
    fallback: T,
    ask: (signal: AbortSignal) => Promise<T | null>,
  ) => {
    const controller = new AbortController()
    open.set(id, controller)
    const answer = await ask(controller.signal).catch(() => fallback)
    // One that cannot be stored counts as none: the run says so when it has waited for it.
    if (open.delete(id) && answer) await session.answer(id, answer).catch(() => undefined)
  }
  const reader = session.subscribe()
  const read = async () => {
    for await (const { event } of await reader) {
      switch (event.type) {
        case 'approval-open':
          // What could not be asked is not allowed.
          void put(event.id, 'deny', (signal) => askApproval({ session, asker, cwd }, event.question, signal))
          break
        case 'question-open':
          void put<Answer>(event.id, NO_ANSWER, (signal) => askQuestion(asker, event.question, signal))
          break
        case 'approval-close':
        case 'question-close':
          open.get(event.id)?.abort()
          break
        default:
      }
    }
  }
  void read()
  return () => void reader.then((events) => events.return())
}

interface Asking {
  readonly session: Pick<SessionHandle, 'steer'>
  readonly asker: Asker
  readonly cwd: string
}

/** Anything but a clear yes is a no; `null` when the question was taken back. */
async function askApproval(
  { session, asker, cwd }: Asking,
  question: ApprovalQuestion,
  signal: AbortSignal,
): Promise<ApprovalChoice | null> {
  const { choices, subject } = question
  const shown = describeApproval(question, cwd)
  const options = choices.map((choice) => {
    const needsEnter = choice === 'session' || choice === 'always'
    return { ...CHOICES[choice], needsEnter, words: APPROVAL_WORDS[choice] }
  })
  // A helper does not hear what the person tells the agent.
  const isRoot = subject.agentPath.length === 1
  const request = {
    ...withWholeAbove(asker, shown),
    options: isRoot ? [...options, INSTEAD] : options,
    freeText: false,
  }
  const answer = await asker.pick(request, signal)
  if (signal.aborted) return null
  if (answer.type === 'option' && answer.index === choices.length) return askInstead(session, asker, shown, signal)
  const choice = answer.type === 'option' ? choices[answer.index]! : 'deny'
  record(asker, shown, CHOICES[choice].label)
  return choice
}

/** No, and what to do in its place: the model reads that with the denial. */
async function askInstead(
  session: Pick<SessionHandle, 'steer'>,
  asker: Asker,
  shown: ShownApproval,
  signal: AbortSignal,
): Promise<ApprovalChoice | null> {
  const title = 'What should it do instead?'
  const wanted = await asker.pick({ title, block: shown.block, options: [], freeText: true }, signal)
  if (signal.aborted) return null
  // Before the answer, so that the result of the call takes it along; what comes too late leads the next message.
  if (wanted.type === 'text') void session.steer(wanted.text).catch(() => undefined)
  record(asker, shown, wanted.type === 'text' ? `no; ${printable(wanted.text)}` : CHOICES.deny.label)
  return 'deny'
}

/** Puts a `clarify` question to the person. */
export async function askQuestion(asker: Asker, question: Question, signal: AbortSignal): Promise<Answer> {
  const { choices, allowFreeText, isSecret = false } = question
  const title = printable(`? ${question.question}`)
  const options = choices.map((label) => ({ label: printable(label) }))
  const freeText = allowFreeText || choices.length === 0
  const answer = await asker.pick({ title, options, freeText, isSecret, isSeveral: choices.length > 1 }, signal)
  const text = answerText(answer, choices)
  record(asker, { title }, text === null ? 'no answer' : isSecret ? HIDDEN : printable(text))
  return text === null ? { type: 'unanswered', reason: 'The user did not answer.' } : { type: 'answered', text }
}

function answerText(answer: PickAnswer, choices: readonly string[]): string | null {
  switch (answer.type) {
    case 'option':
      return choices[answer.index]!
    case 'several':
      return answer.indexes.map((index) => choices[index]!).join(', ')
    case 'text':
      return answer.text
    case 'none':
      return null
    default:
      return answer satisfies never
  }
}

/** Asks the same, and leaves each question on the screen with its answer; of a secret, that there is one. */
export function keepingAnswers(asker: Asker): Asker {
  return {
    output: asker.output,
    pick: async (request, signal) => {
      const answer = await asker.pick(request, signal)
      const text = answerText(
        answer,
        request.options.map(({ label }) => label),
      )
      if (text !== null) record(asker, { title: printable(request.title) }, request.isSecret ? HIDDEN : printable(text))
      return answer
    },
  }
}

/** Of a command that is too long to stand below the output, all stands in it before it is asked about. */
function withWholeAbove(asker: Asker, shown: ShownApproval): ShownApproval {
  const { block } = shown
  const { output } = asker
  const room = Math.min(MAX_BLOCK_ROWS, output.rows() - ROWS_AROUND)
  if (block.length === 0 || blockRows(block, output.columns()).length <= room) return shown
  output.write(`${['It asks to run:', ...blockLines(block)].join('\n')}\n`)
  return { ...shown, block: ['(all of it stands above)'] }
}

function blockLines(block: readonly string[]): readonly string[] {
  return block.map((line) => `  ${line}`)
}

/** Question and answer stay on the screen. */
function record(
  { output }: Asker,
  { title, block = [], notes = [] }: Partial<ShownApproval> & { title: string },
  answer: string,
): void {
  const style = createStyle(output)
  const rows = (text: string) => wrap(text, output.columns()).split('\n')
  const kept = block.length > MAX_BLOCK_ROWS ? [...block.slice(0, MAX_BLOCK_ROWS), '…'] : block
  const lines = [
    ...rows(title).map(style.notice),
    ...blockLines(kept),
    // What an answer would have meant is not asked any more.
    ...notes.slice(0, 1).flatMap(rows).map(style.dim),
    ...rows(`  ${style.sign('answer')} ${answer}`),
  ]
  output.write(`${lines.join('\n')}\n`)
}
