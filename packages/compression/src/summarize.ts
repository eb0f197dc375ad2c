import { type Clock, errorLine, isAbort, type Logger } from '@hermes/contracts'
import { messageText, noUsage, type Usage, userText } from '@hermes/contracts/conversation'
import type { ModelClient } from '@hermes/contracts/model'
import { cutToTokens } from './shrink.js'
import { readPartialSummary, readSummary, SUMMARISER, type SummaryTask, summaryRequest } from './summary-prompt.js'

/** What a summary came to. */
export type Summary =
  | { readonly type: 'written'; readonly text: string; readonly usage: Usage }
  | { readonly type: 'failed'; readonly problem: string }

const PAUSE_AFTER_FAILURE_MS = 600_000
const ROOM_FACTOR = 1.5

/**
 * Asks models for summaries, one after the other until one gives a usable one; of an answer that breaks off or takes too long half of the
 * sections will do. One that failed is left alone for ten minutes.
 */
export class Summarizer {
  readonly #models: readonly ModelClient[]
  readonly #options: { readonly clock: Clock; readonly logger: Logger; readonly timeoutMs: number }
  readonly #pausedUntilMs = new Map<ModelClient, number>()

  constructor(
    models: readonly ModelClient[],
    options: { readonly clock: Clock; readonly logger: Logger; readonly timeoutMs: number },
  ) {
    this.#models = models
    this.#options = options
  }

  /** Rejects with an `AbortError` only. `insist` also asks a model that is left alone. */
  async summarize(
    task: SummaryTask,
    { signal, insist }: { readonly signal: AbortSignal; readonly insist: boolean },
  ): Promise<Summary> {
    const { clock, logger } = this.#options
    let problem = 'no model is set for summaries'
    for (const model of this.#models) {
      if (!insist && clock.now() < (this.#pausedUntilMs.get(model) ?? 0)) {
        problem = `${model.model} failed a short while ago`
        continue
      }
      try {
        const { answer, usage } = await this.#ask(model, task, signal)
        const text = readSummary(answer)
        if (text !== null) return { type: 'written', text: cutToTokens(text, task.maxTokens * ROOM_FACTOR), usage }
        problem = `${model.model} answered with something that is no summary`
      } catch (error) {
        signal.throwIfAborted()
        problem = isTimeout(error) ? `${model.model} took too long` : errorLine(error)
      }
      this.#pausedUntilMs.set(model, clock.now() + PAUSE_AFTER_FAILURE_MS)
      logger.warn('A summary could not be made.', { model: model.model, problem })
    }
    return { type: 'failed', problem }
  }

  async #ask(model: ModelClient, task: SummaryTask, signal: AbortSignal): Promise<{ answer: string; usage: Usage }> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#options.timeoutMs)])
    const request = {
      messages: [
        { role: 'system', content: [{ type: 'text', text: SUMMARISER }] },
        userText(summaryRequest(task)),
      ] as const,
      tools: [],
      maxOutputTokens: Math.min(Math.ceil(task.maxTokens * ROOM_FACTOR), task.mostTokens),
    }
    let begun = ''
    let longest = ''
    try {
      for await (const event of model.stream(request, { signal: limit, purpose: 'summary' })) {
        // What came before another attempt is void; the longest of all may still be of use.
        if (event.type === 'retry-wait' && event.discard) begun = ''
        if (event.type === 'text-delta') begun += event.text
        if (begun.length > longest.length) longest = begun
        if (event.type === 'finish') return { answer: messageText(event.message), usage: event.usage }
      }
    } catch (error) {
      const partial = signal.aborted ? null : readPartialSummary(longest)
      if (partial === null) throw error
      return { answer: partial, usage: noUsage }
    }
    return { answer: '', usage: noUsage }
  }
}

/** Whoever watches a signal rejects with an abort, or with what the signal says. */
function isTimeout(error: unknown): boolean {
  return isAbort(error) || (error instanceof DOMException && error.name === 'TimeoutError')
}
