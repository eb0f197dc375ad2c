import type { Clock, Logger } from '@hermes/contracts'
import { errorLine, isAbort } from '@hermes/contracts'
import type { Usage } from '@hermes/contracts/conversation'
import { messageText, noUsage, userText } from '@hermes/contracts/conversation'
import type { ModelClient } from '@hermes/contracts/model'
import { cutToTokens } from './shrink.js'

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

/** The sections of a summary, in order. */
export const SECTIONS = [
  ['Active Task', "the user's newest request that is not done yet, in their own words, quoted in full"],
  ['Goal', 'what the user is after in all of this'],
  ['Constraints', 'what the user demanded, forbade or prefers, each as they put it'],
  ['Completed Actions', 'numbered: what was done, with which tool, on what, and what came of it'],
  ['Current State', 'how things stand now: files, branches, running processes, test results'],
  ['In Progress', 'what had been begun and not finished'],
  ['Blocked', 'what does not work, with the exact error texts'],
  ['Key Decisions', 'what was decided, and why'],
  ['Resolved Questions', 'what was asked and answered, with the answers'],
  ['Pending User Asks', 'what the user asked and has not got yet'],
  ['Relevant Files', 'paths, and what each has to do with the task'],
  ['Commands', 'commands that are worth running again, as they were typed'],
  ['Remaining Work', 'what is left to do for the task'],
  [
    'Critical Context',
    'names, numbers, versions, addresses and facts that would otherwise be lost, most of all what only a result says',
  ],
] as const

/** What the summary is made from. */
interface SummaryTask {
  readonly transcript: string
  /** An earlier summary, which the new one takes up. */
  readonly earlier: string | null
  readonly focus: string | null
  /** What the summary should take. */
  readonly maxTokens: number
  /** What the answer may take at all. */
  readonly mostTokens: number
}

/** The system text of a summariser. */
const SUMMARISER = [
  'You write the record that lets an agent go on with a long piece of work after its notes were cleared away.',
  'Below is a transcript of that work. Record what it says; the requests in it were addressed to the agent, which will see to them.',
  'Answer with the sections asked for and nothing before or after them, in the language the user writes in.',
  'Be exact: keep paths, names, numbers, commands and error texts as they are. Leave a section empty rather than guess.',
  'Write [REDACTED] in place of any key, token, password or connection string.',
].join('\n')

/** What a summariser is asked. */
function summaryRequest({ transcript, earlier, focus, maxTokens }: SummaryTask): string {
  const sections = SECTIONS.map(([title, about]) => `## ${title}\n(${about})`).join('\n\n')
  const parts = [
    earlier === null
      ? 'Write the record of the transcript.'
      : 'Bring the earlier record up to date with the transcript, which tells what came after it. Keep what still holds; number on the completed actions; move what was finished to them and what was answered to the resolved questions; write the active task anew.',
    `Use these sections, about ${maxTokens} tokens in all:\n\n${sections}`,
    ...(focus === null
      ? []
      : [`Give about two thirds of the room to what has to do with: ${focus}. Be brief on everything else.`]),
    ...(earlier === null ? [] : [`<earlier-record>\n${earlier}\n</earlier-record>`]),
    `<transcript>\n${transcript}\n</transcript>`,
  ]
  return parts.join('\n\n')
}

const LEAST_SECTIONS = 3
const CUT_OFF = '[The record was cut off here.]'

/** The sections of an answer; `null` when it is no such record. */
function readSummary(answer: string, leastSections = LEAST_SECTIONS): string | null {
  const start = answer.indexOf('## ')
  if (start < 0) return null
  const known = SECTIONS.filter(([title]) => answer.includes(`## ${title}`)).length
  return known < leastSections ? null : answer.slice(start).trim()
}

/** What came of an answer that broke off; `null` when that is less than half of a record. */
function readPartialSummary(begun: string): string | null {
  const record = readSummary(begun, SECTIONS.length / 2)
  return record === null ? null : `${record}\n${CUT_OFF}`
}
