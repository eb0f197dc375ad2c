// One run, top to bottom:
//
//   open the session ─▶ settle calls left open ─▶ append the user message and, the first time, the prompt
//   repeat: budget ─▶ compaction when due ─▶ model turn ─▶ tool calls, or the answer is complete
//   out of budget: one grace call without tools, else a summary made here
//   end: status, queued steering, lease released
import { type ErrorDetails, errorLine, HermesError, isAbort, type JsonObject } from '@hermes/contracts'
import {
  addUsage,
  type Message,
  messageText,
  type NewEntry,
  noUsage,
  toolCalls,
  userText,
} from '@hermes/contracts/conversation'
import { effectOf } from '@hermes/contracts/tool'
import { chatDelivery } from '../answers/chat-delivery.js'
import { checkDemands, demandText, inDemandedForm, lackOf, repairWords } from '../answers/demands.js'
import { cutOffText, endsCutOff } from '../answers/partial-answer.js'
import { askWithinWindow } from '../context-window/context-window.js'
import type { RunResult } from '../events/event.js'
import { observe, transformations } from '../hooks/dispatch.js'
import { hookEvent } from '../hooks/run-hook-event.js'
import { beginSession } from '../hooks/session-hooks.js'
import { ParkedApproval } from '../permits/parked-approval.js'
import { visibleTools } from '../permits/visible-tools.js'
import { guidanceOfNewModel, newLocation, promptEntry } from '../prompt/prompt-entry.js'
import { type OpenCall, redactData } from '../session/session.js'
import { waitWhilePaused } from '../steering/pause.js'
import { StepBudget } from './budget.js'
import type { ModelStep, RunContext } from './run-context.js'
import { appendMessage, type RunInput, saysSomething } from './run-input.js'
import { TIME_IS_OVER } from './time-limit.js'
import { answerCall, answerInterrupted, runToolCalls } from './tool-calls.js'

const MAX_EMPTY_REPLIES = 3
const MAX_CONTINUATIONS = 3
/** How often extensions may have the model go on after an answer, in one run. */
const MAX_CONTINUED_ANSWERS = 10
const MAY_HAVE_RUN =
  'This call was interrupted: it may have run, in part or in full. Check its effects before you repeat it.'
const NO_RESULT = 'This call has no result: the session was interrupted. Make it again if you still need it.'
const NEVER_RAN = 'This call was not run: the session was interrupted before it started.'
const EMPTY_NUDGE = 'Your last reply was empty. Go on with the task, or give your final answer.'
const CONTINUE_NUDGE = 'Your reply was cut off at the output limit. Go on exactly where it stopped; repeat nothing.'
const CUT_OFF_NUDGE = 'Your last reply was cut off. Go on exactly where it stopped; repeat nothing.'
const SUM_UP = 'sum up what was done, what was found and what is left to do.'
const ANSWER_NOW = 'give your answer now, in the form that was asked for, from what you know.'

/** Runs the loop to its end; never rejects. */
export async function run(context: RunContext, input: RunInput): Promise<RunResult> {
  const progress: Progress = { text: '', usage: noUsage }
  try {
    await checkDemands(context.demands)
    const isNew = await begin(context, input)
    if (!isNew) {
      const parked = await resumeOpenCalls(context)
      if (parked) return parked
      await appendMessage(context, input)
      const finished = await finishedBefore(context)
      if (finished) return finished
      progress.text = cutOffText(context.session.messages())
      if (endsCutOff(context.session.messages())) await nudge(context, CUT_OFF_NUDGE)
      await tellFormat(context)
    }
    return await loop(context, progress)
  } catch (error) {
    return failure(context, progress, error)
  }
}

interface Progress {
  text: string
  usage: RunResult['usage']
}

/** Whether something new is said. */
async function begin(context: RunContext, input: RunInput): Promise<boolean> {
  const { session, model } = context
  await beginSession(context)
  await observe(context.hooks.at('run-start'), 'run-start', hookEvent(context, {}))
  const entries: NewEntry[] = []
  const current = session.model()
  if (current?.provider !== model.provider || current.model !== model.model) {
    entries.push({ type: 'model', provider: model.provider, model: model.model })
    entries.push(...guidanceOfNewModel(context))
  }
  if (session.prompt()) {
    tellOfHiddenTools(context)
    entries.push(...newLocation(context))
  } else entries.push(await promptEntry(context))
  if (entries.length > 0) await session.append(...entries)
  if (!(await saysSomething(context, input))) return false
  await answerLeftOpen(context)
  await appendMessage(context, input)
  return true
}

/** The definitions of a session stay as they are for the sake of the cache; what is left out now is refused when it is called. */
function tellOfHiddenTools(context: RunContext): void {
  const visible = visibleTools(context)
  const hidden = (context.session.prompt()?.tools ?? []).map((tool) => tool.name).filter((name) => !visible.has(name))
  if (hidden.length === 0) return
  context.emit({ type: 'notice', level: 'info', text: `Not available in this session any more: ${hidden.join(', ')}.` })
}

async function answerLeftOpen(context: RunContext): Promise<void> {
  for (const { call, started } of context.session.openCalls())
    await answerCall(context, call, started ? MAY_HAVE_RUN : mayHaveLooked(context, call) ? NO_RESULT : NEVER_RAN)
}

/** The start of a call that changes nothing is not written down, so that nobody knows whether it ran. */
function mayHaveLooked({ registry }: RunContext, { name, args }: OpenCall['call']): boolean {
  const tool = registry.get(name)
  return tool !== null && args !== null && effectOf(tool, args) === 'read'
}

/** After a crash or a park: what had started is never repeated, what had not started runs now. */
async function resumeOpenCalls(context: RunContext): Promise<RunResult | null> {
  const open = context.session.openCalls()
  for (const { call, started } of open) if (started) await answerCall(context, call, MAY_HAVE_RUN)
  return runCalls(
    context,
    open.filter(({ started }) => !started).map(({ call }) => call),
    { text: '', usage: noUsage },
  )
}

/**
 * A crash may come after the answer was stored and before anybody saw it: then nothing is left to ask. One that is not as it is demanded
 * now, since it was stored before it was checked, is mended.
 */
async function finishedBefore(context: RunContext): Promise<RunResult | null> {
  const { session, demands } = context
  const last = session.entries.findLast((entry) => entry.type === 'message')
  if (!last) {
    throw new HermesError('This session has no message yet, so there is nothing to go on with. Give it a task.', {
      code: 'agent.nothing_to_resume',
    })
  }
  if (last.type !== 'message' || last.message.role !== 'assistant' || last.message.finishReason !== 'stop') return null
  const text = inDemandedForm(cutOffText(session.messages().slice(0, -1)) + messageText(last.message), demands)
  const called = sinceWords(context).flatMap((message) => toolCalls(message).map(({ name }) => name))
  const hasCalled = called.some((name) => demands.calls?.includes(name))
  const lack = await lackOf(text, demands, hasCalled)
  if (lack === null) return { status: 'completed', text, usage: noUsage }
  context.demandedCalls.made = hasCalled
  await nudge(context, repairWords(lack, 0))
  return null
}

/** The newest words of a person, and what came after them. */
function sinceWords({ session }: RunContext): readonly Message[] {
  const messages = session.messages()
  const isWords = ({ role, content }: Message) =>
    role === 'user' && content.some((part) => part.type !== 'text' || part.origin !== 'reminder')
  return messages.slice(Math.max(0, messages.findLastIndex(isWords)))
}

/** Who goes on with a message that was sent before may demand another form than was said with it. */
async function tellFormat(context: RunContext): Promise<void> {
  const demanded = demandText(context.demands)
  if (!demanded) return
  const isThere = ({ role, content }: Message) =>
    role === 'user' && content.some((part) => part.type === 'text' && part.text === demanded.text)
  if (!sinceWords(context).some(isThere)) await nudge(context, demanded.text)
}

async function runCalls(
  context: RunContext,
  calls: Parameters<typeof runToolCalls>[1],
  progress: Progress,
): Promise<RunResult | null> {
  const end = await runToolCalls(context, calls)
  const { requested } = context.ending
  if (requested !== null) return { status: 'stopped', ...progress, error: { ...requested, details: {} } }
  return end.type === 'parked' ? { status: 'parked', ...progress, pending: end.approvalIds } : null
}

async function loop(context: RunContext, progress: Progress): Promise<RunResult> {
  const budget = new StepBudget(context.maxSteps)
  let emptyReplies = 0
  let continuations = 0
  let continued = 0
  let unfit = 0
  /** The answer so far, where it comes in pieces. */
  let answered = progress.text
  while (budget.consume()) {
    context.signal.throwIfAborted()
    if (context.gate.isPaused) await waitWhilePaused(context)
    const warning = context.timeLimit.takeWarning()
    if (warning !== null) await nudge(context, warning)
    const step = await askWithinWindow(context)
    progress.usage = addUsage(progress.usage, step.usage)
    if (step.hasCalls) {
      emptyReplies = 0
      answered = ''
      progress.text = step.text
      const calls = context.session.openCalls().map(({ call }) => call)
      if (calls.some(({ name }) => context.demands.calls?.includes(name))) context.demandedCalls.made = true
      const parked = await runCalls(context, calls, progress)
      if (parked) return parked
      if (calls.every(({ name }) => context.registry.get(name)?.refundsStep)) budget.refundOnce()
    } else if (step.isEmpty) {
      if (++emptyReplies >= MAX_EMPTY_REPLIES) throw emptyReply(context)
      budget.refund()
      if (emptyReplies > 1) await nudge(context, EMPTY_NUDGE)
    } else if (step.finishReason === 'length' && continuations < MAX_CONTINUATIONS) {
      continuations++
      answered += step.text
      progress.text = answered
      await nudge(context, CONTINUE_NUDGE)
    } else {
      progress.text = inDemandedForm(answered + step.text, context.demands)
      const isOver = step.finishReason === 'content-filter'
      const lack = isOver ? null : await lackOf(progress.text, context.demands, context.demandedCalls.made)
      const more =
        lack === null
          ? isOver
            ? null
            : await wantedMore(context, progress.text, continued)
          : repairWords(lack, unfit++)
      if (more === null) return finished(progress, step)
      if (lack === null) continued++
      answered = ''
      await nudge(context, more)
    }
  }
  return grace(context, progress)
}

/** What an extension has the model go on with; `null` where the answer stands. */
async function wantedMore(context: RunContext, text: string, continued: number): Promise<string | null> {
  const hooks = context.hooks.at('answer')
  if (hooks.length === 0 || continued >= MAX_CONTINUED_ANSWERS) return null
  for await (const { result } of transformations(hooks, 'answer', () => hookEvent(context, { text, continued })))
    if (result.trim() !== '') return result
  return null
}

function finished(progress: Progress, step: ModelStep): RunResult {
  if (step.finishReason !== 'content-filter') return { status: 'completed', ...progress }
  const message = "The provider's content filter ended the reply. Rephrase the request or use another model."
  return { status: 'stopped', ...progress, error: { code: 'agent.content_filter', message, details: {} } }
}

function emptyReply(context: RunContext): HermesError {
  return new HermesError(
    `${context.model.model} gave ${MAX_EMPTY_REPLIES} empty replies in a row. Try again or use another model.`,
    {
      code: 'agent.empty_reply',
      retryable: true,
    },
  )
}

async function nudge(context: RunContext, text: string): Promise<void> {
  await context.session.append({ type: 'message', message: userText(text, 'reminder') })
}

/** Out of budget: the same tools stay defined, calls are forbidden, and the model sums up. If it does not, we do. */
async function grace(context: RunContext, progress: Progress): Promise<RunResult> {
  const message = `The limit of ${context.maxSteps} steps is reached.`
  const { format } = context.demands
  const wanted = format ? 'an answer' : 'a summary'
  context.emit({ type: 'notice', level: 'warning', text: `${message} Asking for ${wanted}.` })
  await nudge(context, `${message} Call no more tools: ${format ? ANSWER_NOW : SUM_UP}`)
  const step = await askWithinWindow(context, { toolChoice: 'none' })
  progress.usage = addUsage(progress.usage, step.usage)
  if (step.hasCalls)
    for (const { call } of context.session.openCalls())
      await answerCall(context, call, 'This call was not run: the step limit is reached.')
  if (format) {
    progress.text = inDemandedForm(step.text, { format })
    const lack = await lackOf(progress.text, { format }, true)
    // Who reads data would take a summary for it.
    if (lack !== null)
      throw new HermesError(`${message} The last answer is not of the form that was asked for. ${lack}`, {
        code: 'agent.unfit_answer',
      })
  } else progress.text = step.text.trim() === '' ? await finalSummary(context, message) : step.text
  return {
    status: 'stopped',
    ...progress,
    error: {
      code: 'agent.step_limit',
      message: `${message} Continue the session to go on.`,
      details: { limit: context.maxSteps },
    },
  }
}

async function finalSummary(context: RunContext, reason: string): Promise<string> {
  const calls = context.activity.current.toolCalls
  const answers = context.session.messages().filter(({ role }) => role === 'assistant')
  const last = answers.map((message) => messageText(message).trim()).findLast((text) => text !== '')
  const answered = last === undefined ? '' : `\nLast words: ${last}`
  const text = `${reason} ${calls} tool calls were made; the model gave no summary.${answered}`
  const message = { role: 'assistant', content: [{ type: 'text', text }], finishReason: 'stop' } as const
  const messageId = `${context.runId}.summary`
  const delivery = chatDelivery(context, message, messageId)
  const seq = await context.session.appendSending(delivery, { type: 'message', message })
  context.emit({ type: 'message-start', messageId })
  context.emit({ type: 'message-end', messageId, message }, seq)
  return text
}

/** A budget is a limit like that of steps: the session goes on once it allows it again. */
const SPENT: ReadonlySet<string> = new Set(['models.budget_spent', 'models.budget_unpriced', TIME_IS_OVER])

async function failure(context: RunContext, progress: Progress, error: unknown): Promise<RunResult> {
  if (context.signal.aborted && !HermesError.isInstance(context.signal.reason)) {
    await answerInterruptedQuietly(context)
    return { status: 'interrupted', ...progress }
  }
  // A gate before the call of the model asked a person, and nobody answered in time.
  if (error instanceof ParkedApproval) return { status: 'parked', ...progress, pending: [error.approvalId] }
  const { requested } = context.ending
  if (requested !== null) return { status: 'stopped', ...progress, error: { ...requested, details: {} } }
  const cause = context.signal.aborted && isAbort(error) ? context.signal.reason : error
  const known = HermesError.isInstance(cause)
  if (!known)
    context.logger.error('A run failed unexpectedly.', {
      error: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
    })
  return {
    status: known && SPENT.has(cause.code) ? 'stopped' : 'failed',
    ...progress,
    error: {
      code: known ? cause.code : 'agent.failed',
      message: context.session.redact(errorLine(cause)),
      details: known ? (redactData(cause.details as JsonObject, context.session.redact) as ErrorDetails) : {},
    },
  }
}

/** Between the model's message and its first call an interrupt leaves calls open; they get their answer here. */
async function answerInterruptedQuietly(context: RunContext): Promise<void> {
  try {
    await answerInterrupted(
      context,
      context.session.openCalls().map(({ call }) => call),
    )
  } catch (error) {
    context.logger.warn('Open calls could not be answered after an interrupt.', { error: errorLine(error) })
  }
}
