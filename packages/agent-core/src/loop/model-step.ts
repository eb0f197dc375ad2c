import { HermesError, isAbort } from '@hermes/contracts'
import { addUsage, messageText, toolCalls } from '@hermes/contracts/conversation'
import type { ModelCallEvent } from '@hermes/contracts/extension'
import type { ModelFinish } from '@hermes/contracts/model'
import { chatDelivery } from '../answers/chat-delivery.js'
import { asDemanded, demandedChoice } from '../answers/demands.js'
import { interruptedMessage } from '../answers/partial-answer.js'
import { asking, StreamedMessage, turnScope } from '../answers/streamed-message.js'
import { around, askGate, observe, transformations } from '../hooks/dispatch.js'
import { hookEvent, wrappingEvent } from '../hooks/run-hook-event.js'
import { endRun } from '../hooks/tool-call-hooks.js'
import { scrubMessage, scrubRecalled } from '../outside-text/recall-scrubber.js'
import type { ModelStep, RunContext } from './run-context.js'

const GATE_FAILED = {
  type: 'end-run',
  code: 'agent.hook_failed',
  message: 'A check before the call of the model failed, so the run was ended. The log names it.',
} as const
const INTERRUPTED_NOTE = '[The user interrupted this reply here.]'

/** Options of one model call. */
export interface StepOptions {
  /** `none`: the tools stay defined and may not be called. */
  readonly toolChoice?: 'none'
}

/**
 * Asks the model once and makes its answer durable. On abort, what had been streamed is stored as an interrupted reply, then the
 * abort goes on. An empty answer is not stored.
 */
export async function modelStep(context: RunContext, options: StepOptions = {}): Promise<ModelStep> {
  if (!WATCHING.some((point) => context.hooks.at(point).length > 0)) return step(context, options)
  const { StreamWatch } = await import('../answers/stream-watch.js')
  const watch = new StreamWatch(context)
  try {
    const done = await step(watch.context, options)
    watch.close()
    return done
  } catch (error) {
    watch.close(error)
    throw error
  }
}

/** Points of an answer that comes; what tells of them is loaded for those who want to know. */
const WATCHING = ['stream-start', 'stream-delta', 'stream-end', 'model-error', 'interim-message'] as const

async function step(context: RunContext, options: StepOptions): Promise<ModelStep> {
  const request = await settledRequest(context, buildRequest(context, options.toolChoice))
  await context.session.watchPrefix(request)
  context.activity.set('model', asking(context))
  await gateModelCall(context, request)
  const stream = new StreamedMessage(context)
  let finish: ModelFinish
  try {
    finish = await askWrapped(context, request, stream)
  } catch (error) {
    if ((isAbort(error) || context.signal.aborted) && stream.text.trim() !== '') await storeInterrupted(context, stream)
    else await stream.partial.drop()
    throw error
  } finally {
    stream.partial.stop()
  }
  const observers = context.hooks.at('after-model-call')
  if (observers.length > 0) {
    const prefixCache = async () =>
      (await context.model.prefixCache?.(request, finish.usage, turnScope(context))) ?? null
    await observe(observers, 'after-model-call', hookEvent(context, { finish, prefixCache }))
  }
  return storeAnswer(context, stream, finish)
}

/** Nothing is asked of the model when a gate objects. */
async function gateModelCall(context: RunContext, request: ModelCallEvent['request']): Promise<void> {
  const hooks = context.hooks.at('before-model-call')
  if (hooks.length === 0) return
  const shown = frozenRequest(request)
  for (const hook of hooks) {
    const objection = await askGate(hook, 'before-model-call', hookEvent(context, { request: shown }), GATE_FAILED)
    if (!objection) continue
    endRun(context, objection)
    throw new HermesError(objection.message, { code: objection.code })
  }
}

type Request = ModelCallEvent['request']

/** Long, so the lists alone are copied. */
const frozenRequest = (request: Request): Request => ({
  ...request,
  messages: Object.freeze([...request.messages]),
  tools: Object.freeze([...request.tools]),
})

/** The request, made as extensions say that it is made. */
async function settledRequest(context: RunContext, request: Request): Promise<Request> {
  const hooks = context.hooks.at('model-request')
  if (hooks.length === 0) return request
  let settled = request
  const eventNow = () => hookEvent(context, { request: frozenRequest(settled) })
  for await (const { result } of transformations(hooks, 'model-request', eventNow)) settled = { ...settled, ...result }
  return settled
}

/** Asks the model inside of what stands around that; once. */
function askWrapped(context: RunContext, request: Request, stream: StreamedMessage): Promise<ModelFinish> {
  const hooks = context.hooks.at('model-execution')
  if (hooks.length === 0) return stream.read(request)
  const own = { request: frozenRequest(request) }
  return around(hooks, 'model-execution', {
    event: (proceed) => wrappingEvent(context, own, { proceed }),
    work: () => stream.read(request),
    inPlace: (owner, { text }, finish) => finish ?? stream.give(owner, text),
  })
}

function buildRequest(context: RunContext, toolChoice: 'none' | undefined): Request {
  const tools = context.session.prompt()?.tools ?? []
  const choice = toolChoice ?? demandedChoice(context.demands, context.demandedCalls.made, tools)
  return {
    ...context.sampling,
    ...context.session.sampling(),
    messages: context.session.messages(),
    tools,
    ...(choice ? { toolChoice: choice } : {}),
    ...(context.demands.format ? { answerFormat: context.demands.format } : {}),
  }
}

async function storeAnswer(context: RunContext, stream: StreamedMessage, finish: ModelFinish): Promise<ModelStep> {
  const { usage } = finish
  const message = asDemanded(scrubMessage(finish.message, stream.fences), context.demands)
  const calls = toolCalls(message)
  const text = messageText(message)
  const isEmpty = calls.length === 0 && text.trim() === ''
  const seq = isEmpty
    ? undefined
    : await context.session.appendSending(chatDelivery(context, message, stream.messageId), {
        type: 'message',
        message,
        usage,
      })
  if (seq !== undefined) {
    stream.begin()
    context.emit({ type: 'message-end', messageId: stream.messageId, message }, seq)
  }
  const total = isEmpty ? addUsage(context.session.usage(), usage) : context.session.usage()
  context.emit({ type: 'usage-update', usage, total })
  // A reply that is a stop at once says nothing, and that is the answer.
  const isSilent = isEmpty && messageText(finish.message).trim() === ''
  return { text, finishReason: message.finishReason ?? 'unknown', hasCalls: calls.length > 0, isEmpty: isSilent, usage }
}

async function storeInterrupted(context: RunContext, stream: StreamedMessage): Promise<void> {
  const message = interruptedMessage(scrubRecalled(stream.text, stream.fences), INTERRUPTED_NOTE)
  const seq = await context.session.append({ type: 'message', message })
  context.emit({ type: 'message-end', messageId: stream.messageId, message }, seq)
}
