import { noUsage } from '@hermes/contracts/conversation'
import type { ModelFinish, ModelRequest } from '@hermes/contracts/model'
import { type RecallFence, recallFences } from '@hermes/safety'
import type { RunContext } from '../loop/run-context.js'
import { createRecallScrubber, type RecallScrubber, scrubRecalled } from '../outside-text/recall-scrubber.js'
import { goesOn } from './demands.js'
import { PartialAnswer } from './partial-answer.js'
import { StopCutter } from './stop-sequences.js'

/** What the agent does meanwhile, for a person. */
export const asking = ({ model }: Pick<RunContext, 'model'>): string => `asking ${model.model}`

/** What the calls of a run belong to. */
export const turnScope = ({ session, runId }: Pick<RunContext, 'session' | 'runId'>) =>
  ({ purpose: 'turn', sessionId: session.id, turnId: runId }) as const

/** An answer as it comes in: shown piece by piece, and kept for the case that the process ends before it does. */
export class StreamedMessage {
  readonly #context: RunContext
  #messageId: string
  #attempt = 0
  #open = false
  /** Around what was recalled in this session: none of it is shown again. */
  readonly fences: readonly RecallFence[]
  readonly #scrubbers: Record<'message-delta' | 'reasoning-delta', RecallScrubber | null>
  #cutter: StopCutter | null
  text = ''
  /** For the case that the process ends before the answer does. */
  readonly partial: PartialAnswer

  constructor(context: RunContext) {
    this.#context = context
    const { session, logger } = context
    this.partial = new PartialAnswer({ session, logger, text: () => scrubRecalled(this.text, this.fences) })
    this.#messageId = this.#nextId()
    this.#cutter = this.#newCutter()
    const fences = recallFences(context.session.entries)
    const scrubber = () => (fences.length === 0 ? null : createRecallScrubber(fences))
    this.fences = fences
    this.#scrubbers = { 'message-delta': scrubber(), 'reasoning-delta': scrubber() }
  }

  #newCutter(): StopCutter | null {
    const { stop = [] } = this.#context.demands
    return stop.length === 0 ? null : new StopCutter(stop)
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
    const { model, signal, emit, activity } = this.#context
    for await (const event of model.stream(request, { signal, ...turnScope(this.#context) })) {
      // A server that says to wait is there; one that said nothing made no progress.
      if (event.type !== 'retry-wait') this.#progress()
      else if (event.reason !== 'timeout') activity.progress()
      switch (event.type) {
        case 'text-delta':
          this.begin()
          this.#say(this.#cutter?.feed(event.text) ?? event.text)
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
          if (!goesOn(event.message)) this.#say(this.#cutter?.end() ?? '')
          this.#emit('reasoning-delta', this.#scrubbers['reasoning-delta']?.flush() ?? '')
          this.#emit('message-delta', this.#scrubbers['message-delta']?.flush() ?? '')
          return event
        default:
          event satisfies never
      }
    }
    throw new Error('The model client ended without a final message.')
  }

  /** An answer in the place of the model's, from an extension. */
  give(owner: string, text: string): ModelFinish {
    this.begin()
    this.#say(this.#cutter?.feed(text) ?? text)
    this.#say(this.#cutter?.end() ?? '')
    this.#emit('message-delta', this.#scrubbers['message-delta']?.flush() ?? '')
    const message = { role: 'assistant', content: [{ type: 'text', text }], finishReason: 'stop' } as const
    return { type: 'finish', message, usage: noUsage, stamp: { provider: owner, endpoint: '', model: owner } }
  }

  #progress(): void {
    const { activity } = this.#context
    if (activity.current.state === 'retrying') activity.answered(asking(this.#context))
    else activity.progress()
  }

  #say(text: string): void {
    this.text += text
    this.#show('message-delta', text)
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
    this.#cutter = this.#newCutter()
    await this.partial.drop()
  }
}
