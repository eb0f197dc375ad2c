import { HermesError, isAbort } from '@hermes/contracts'
import { addUsage, messageText, toolCalls } from '@hermes/contracts/conversation'
import type { ModelCallEvent } from '@hermes/contracts/extension'
import type { ModelFinish, ModelRequest } from '@hermes/contracts/model'
import { type RecallFence, recallFences } from '@hermes/safety'
import { interruptedMessage, PartialAnswer } from '../answers/partial-answer.js'
import { askGate, observe } from '../hooks/dispatch.js'
import { hookEvent } from '../hooks/run-hook-event.js'
import { endRun } from '../hooks/tool-call-hooks.js'
import {
  createRecallScrubber,
  type RecallScrubber,
  scrubMessage,
  scrubRecalled,
} from '../outside-text/recall-scrubber.js'
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
  const request = buildRequest(context, options.toolChoice)
  context.session.watchPrefix(request)
  context.activity.set('model', asking(context))
  await gateModelCall(context, request)
  const stream = new StreamedMessage(context)
  let finish: ModelFinish
  try {
    finish = await stream.read(request)
  } catch (error) {
    if ((isAbort(error) || context.signal.aborted) && stream.text.trim() !== '') await storeInterrupted(context, stream)
    else await stream.partial.drop()
    throw error
  } finally {
    stream.partial.stop()
  }
  const observers = context.hooks.at('after-model-call')
  if (observers.length > 0) await observe(observers, 'after-model-call', hookEvent(context, { finish }))
  return storeAnswer(context, stream, finish)
}

/** Nothing is asked of the model when a gate objects. */
async function gateModelCall(context: RunContext, request: ModelCallEvent['request']): Promise<void> {
  const hooks = context.hooks.at('before-model-call')
  if (hooks.length === 0) return
  // Long, so the lists alone are copied.
  const shown = { ...request, messages: Object.freeze([...request.messages]), tools: Object.freeze([...request.tools]) }
  for (const hook of hooks) {
    const objection = await askGate(hook, 'before-model-call', hookEvent(context, { request: shown }), GATE_FAILED)
    if (!objection) continue
    endRun(context, objection)
    throw new HermesError(objection.message, { code: objection.code })
  }
}

const asking = ({ model }: RunContext): string => `asking ${model.model}`

function buildRequest(context: RunContext, toolChoice: 'none' | undefined): Omit<ModelRequest, 'model'> {
  return {
    ...context.sampling,
    messages: context.session.messages(),
    tools: context.session.prompt()?.tools ?? [],
    ...(toolChoice ? { toolChoice } : {}),
  }
}

class StreamedMessage {
  readonly #context: RunContext
  #messageId: string
  #attempt = 0
  #open = false
  /** Around what was recalled in this session: none of it is shown again. */
  readonly fences: readonly RecallFence[]
  readonly #scrubbers: Record<'message-delta' | 'reasoning-delta', RecallScrubber | null>
  text = ''
  /** For the case that the process ends before the answer does. */
  readonly partial: PartialAnswer

  constructor(context: RunContext) {
    this.#context = context
    const { session, logger } = context
    this.partial = new PartialAnswer({ session, logger, text: () => scrubRecalled(this.text, this.fences) })
    this.#messageId = this.#nextId()
    const fences = recallFences(context.session.entries)
    const scrubber = () => (fences.length === 0 ? null : createRecallScrubber(fences))
    this.fences = fences
    this.#scrubbers = { 'message-delta': scrubber(), 'reasoning-delta': scrubber() }
  }

  get messageId(): string {
    return this.#messageId
  }

  #nextId(): string {
    return `${this.#context.runId}.${this.#context.activity.current.modelCalls}.${++this.#attempt}`
  }

  begin(): void {
    if (this.#open) return
    this.#open = true
    this.#context.emit({ type: 'message-start', messageId: this.#messageId })
  }

  async read(request: Omit<ModelRequest, 'model'>): Promise<ModelFinish> {
    const { model, signal, emit, session, runId, activity } = this.#context
    const scope = { purpose: 'turn', sessionId: session.id, turnId: runId }
    for await (const event of model.stream(request, { signal, ...scope })) {
      // A server that says to wait is there; one that said nothing made no progress.
      if (event.type !== 'retry-wait') this.#progress()
      else if (event.reason !== 'timeout') activity.progress()
      switch (event.type) {
        case 'text-delta':
          this.begin()
          this.text += event.text
          this.#show('message-delta', event.text)
          break
        case 'reasoning-delta':
          this.begin()
          this.#show('reasoning-delta', event.text)
          break
        case 'tool-call-delta':
          break
        case 'retry-wait': {
          const { discard, ...wait } = event
          const discarded = discard && this.#open ? { discardedMessageId: this.#messageId } : {}
          // What a provider says may repeat the key it was given.
          emit({ ...wait, message: this.#context.session.redact(wait.message), ...discarded })
          if (discard) await this.#restart()
          activity.retrying(wait.message, wait.delayMs)
          break
        }
        case 'finish':
          this.#emit('reasoning-delta', this.#scrubbers['reasoning-delta']?.flush() ?? '')
          this.#emit('message-delta', this.#scrubbers['message-delta']?.flush() ?? '')
          return event
        default:
          event satisfies never
      }
    }
    throw new Error('The model client ended without a final message.')
  }

  #progress(): void {
    const { activity } = this.#context
    if (activity.current.state === 'retrying') activity.answered(asking(this.#context))
    else activity.progress()
  }

  #show(type: 'message-delta' | 'reasoning-delta', text: string): void {
    this.#emit(type, this.#scrubbers[type]?.feed(text) ?? text)
  }

  #emit(type: 'message-delta' | 'reasoning-delta', text: string): void {
    if (text === '') return
    this.#context.emit({ type, messageId: this.#messageId, text })
    if (type === 'message-delta') this.partial.grew()
  }

  async #restart(): Promise<void> {
    for (const scrubber of Object.values(this.#scrubbers)) scrubber?.flush()
    this.#messageId = this.#nextId()
    this.#open = false
    this.text = ''
    await this.partial.drop()
  }
}

async function storeAnswer(context: RunContext, stream: StreamedMessage, finish: ModelFinish): Promise<ModelStep> {
  const { usage } = finish
  const message = scrubMessage(finish.message, stream.fences)
  const calls = toolCalls(message)
  const text = messageText(message)
  const isEmpty = calls.length === 0 && text.trim() === ''
  const seq = isEmpty ? undefined : await context.session.append({ type: 'message', message, usage })
  if (seq !== undefined) {
    stream.begin()
    context.emit({ type: 'message-end', messageId: stream.messageId, message }, seq)
  }
  const total = isEmpty ? addUsage(context.session.usage(), usage) : context.session.usage()
  context.emit({ type: 'usage-update', usage, total })
  return { text, finishReason: message.finishReason ?? 'unknown', hasCalls: calls.length > 0, isEmpty, usage }
}

async function storeInterrupted(context: RunContext, stream: StreamedMessage): Promise<void> {
  const message = interruptedMessage(scrubRecalled(stream.text, stream.fences), INTERRUPTED_NOTE)
  const seq = await context.session.append({ type: 'message', message })
  context.emit({ type: 'message-end', messageId: stream.messageId, message }, seq)
}
