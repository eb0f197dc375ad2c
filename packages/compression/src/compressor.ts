import type { Clock, Logger } from '@hermes/contracts'
import { silentLogger, systemClock } from '@hermes/contracts'
import type {
  CompactOutcome,
  CompactPlan,
  CompactRequest,
  ContextEngine,
  ContextState,
} from '@hermes/contracts/context'
import type { CompactionEntry, ToolMessage } from '@hermes/contracts/conversation'
import { estimateTokens, gainedLittle, latestCompaction, noUsage, project } from '@hermes/contracts/conversation'
import type { ModelClient } from '@hermes/contracts/model'
import { resultText } from './prune-result.js'
import type { Region, TranscriptEntry } from './region.js'
import { findRegion, isRequest, sum } from './region.js'
import type { Budgets, CompressionSettings } from './settings.js'
import { budgetsOf, summaryLength } from './settings.js'
import { cutToTokens } from './shrink.js'
import type { Summary } from './summarize.js'
import { Summarizer } from './summarize.js'
import { renderTranscript } from './transcript.js'
import { asBody, summaryBody, verbatimMessages } from './verbatim.js'

/** What a compressor is made of. */
interface CompressorOptions {
  /** The window of a model in tokens. */
  readonly windowOf: (model: { readonly provider: string; readonly model: string }) => number | Promise<number>
  /** Asked for summaries, in this order. None: a plain note stands for what goes. */
  readonly models: readonly ModelClient[]
  readonly settings?: CompressionSettings
  /** For one summary. Default 120,000. */
  readonly timeoutMs?: number
  readonly clock?: Clock
  readonly logger?: Logger
}

/** Makes the default context engine: it summarises the middle of a session and keeps beginning, end and the user's words. */
export function createContextCompressor(options: CompressorOptions): ContextEngine {
  return new Compressor(options)
}

const LEAST_GAIN = 0.1
const TRANSCRIPT_SHARE_OF_WINDOW = 0.6
// A window that a provider found too small is smaller than what it was sent.
const REFUSED_SHARE = 0.9
const REQUEST_SHARE = 0.25

class Compressor implements ContextEngine {
  readonly #options: CompressorOptions
  readonly #summarizer: Summarizer

  constructor(options: CompressorOptions) {
    const { clock = systemClock, logger = silentLogger, timeoutMs = 120_000 } = options
    this.#options = options
    this.#summarizer = new Summarizer(options.models, { clock, logger, timeoutMs })
  }

  async isDue(state: ContextState): Promise<boolean | 'in vain'> {
    const { threshold } = budgetsOf(await this.#options.windowOf(state), this.#options.settings)
    if (state.tokens < threshold) return false
    if (wasInVain(state, threshold)) return 'in vain'
    const cut = await this.#cut({ ...state, cause: 'threshold', carry: [] })
    if (cut && gainOf(cut) >= LEAST_GAIN * threshold) return true
    // More will come that can go, unless what is sent besides the messages is too much by itself.
    return fixedTokens(state) >= threshold ? 'in vain' : false
  }

  async plan(request: CompactRequest): Promise<CompactPlan | null> {
    const cut = await this.#cut(request)
    if (!cut) return null
    const { dropped } = cut.region
    const tokensAfter = cut.tokensWithout + summaryLength(sum(dropped), cut.budgets)
    const [first, last] = [dropped[0], dropped.at(-1)]
    const place = first && last ? { fromSeq: first.seq, upToSeq: last.seq } : {}
    return { messages: dropped.length, ...place, tokensBefore: request.tokens, tokensAfter }
  }

  async compact(request: CompactRequest, { signal }: { readonly signal: AbortSignal }): Promise<CompactOutcome> {
    const cut = await this.#cut(request)
    if (!cut) return { type: 'unchanged', reason: 'There is nothing yet that could be left out.' }
    if (request.cause === 'threshold' && gainOf(cut) < LEAST_GAIN * cut.budgets.threshold)
      return { type: 'unchanged', reason: 'What could be left out now is too little to make room.' }
    const { region } = cut
    const summary = await this.#summarize(request, cut, signal)
    const text = [summaryText(summary, cut), cut.verbatim].filter((part) => part !== '').join('\n\n')
    const tokensAfter = cut.tokensWithout + estimateTokens(text) - estimateTokens(cut.verbatim)
    if (tokensAfter >= request.tokens) {
      const requested = summary.type === 'written' && region.dropped.length > 0 ? { usage: summary.usage } : {}
      return { type: 'unchanged', reason: 'A summary would not be shorter than what it stands for.', ...requested }
    }
    return {
      type: 'compacted',
      entry: toEntry(cut, { summary: text, tokensBefore: request.tokens, tokensAfter }),
      isSummarized: summary.type === 'written',
      ...(summary.type === 'failed' ? { problem: summary.problem } : {}),
      usage: summary.type === 'written' ? summary.usage : noUsage,
    }
  }

  async #cut(request: CompactRequest): Promise<Cut | null> {
    const { entries, tokens, cause, carry } = request
    const window = await this.#options.windowOf(request)
    const usual = budgetsOf(
      cause === 'overflow' || cause === 'truncate' ? Math.min(window, tokens * REFUSED_SHARE) : window,
      this.#options.settings,
    )
    // A person who asks for it wants more gone than what is too much.
    const isRequested = cause === 'asked'
    const budgets = isRequested ? { ...usual, tail: Math.floor(Math.min(usual.tail, tokens * REQUEST_SHARE)) } : usual
    const { keepTurns } = request
    const settings = { ...this.#options.settings, keepTurns, ...(isRequested ? { protectLast: 0 } : {}) }
    const region = findRegion(entries, budgets, settings)
    const shortened = shortenTail(region.tail, budgets.threshold / 2)
    if (region.dropped.length === 0 && shortened.length === 0) return null
    const earlier = latestCompaction(entries)
    const gone = goneOf(region)
    const keepFirst = !region.head.some(isRequest)
    const verbatim = verbatimMessages(gone, { carry, maxTokens: budgets.words, keepFirst })
    const kept = sum(region.head) + sum(region.tail) + (region.request?.tokens ?? 0) + estimateTokens(verbatim)
    const saved = shortened.reduce((total, item) => total + item.saved, 0)
    return { budgets, region, shortened, earlier, verbatim, tokensWithout: fixedTokens(request) + kept - saved }
  }

  async #summarize(request: CompactRequest, cut: Cut, signal: AbortSignal): Promise<Summary> {
    const { region, budgets } = cut
    if (region.dropped.length === 0) return { type: 'written', text: earlierBody(cut) ?? '', usage: noUsage }
    if (request.cause === 'truncate') return { type: 'failed', problem: 'the last summaries gained little' }
    const transcript = renderTranscript(region.dropped, Math.floor(budgets.window * TRANSCRIPT_SHARE_OF_WINDOW))
    const task = {
      transcript,
      earlier: earlierBody(cut),
      focus: request.focus?.trim() || null,
      maxTokens: summaryLength(sum(region.dropped), budgets),
      mostTokens: this.#options.settings?.maxOutputTokens ?? Number.POSITIVE_INFINITY,
    }
    return this.#summarizer.summarize(task, { signal, insist: request.cause === 'asked' })
  }
}

/** A decided cut and what it leaves, before the summary is known. */
interface Cut {
  readonly budgets: Budgets
  readonly region: Region
  readonly shortened: readonly Shortened[]
  readonly earlier: (CompactionEntry & { readonly seq: number }) | null
  /** What goes with the summary unchanged. */
  readonly verbatim: string
  /** Tokens of the next request but for the summary. */
  readonly tokensWithout: number
}

/** What an earlier summary said, if there is one. */
function earlierBody({ earlier }: Cut): string | null {
  return (earlier && summaryBody(earlier.summary)) || null
}

/** What is sent besides the messages, and how far the estimate is off: taken to stay the same. */
function fixedTokens({ entries, tokens }: ContextState): number {
  return Math.max(0, tokens - estimateTokens(project(entries).filter(({ role }) => role !== 'system')))
}

/** Tokens that a compaction with a summary of full length would gain at least. */
function gainOf({ budgets, region, shortened, earlier }: Cut): number {
  const dropped = sum(region.dropped)
  const summary = dropped === 0 ? 0 : summaryLength(dropped, budgets) - estimateTokens(earlier?.summary ?? '')
  const saved = shortened.reduce((total, item) => total + item.saved, 0)
  return dropped + saved - summary - (region.request?.tokens ?? 0)
}

function summaryText(summary: Summary, cut: Cut): string {
  if (summary.type === 'written') return asBody(summary.text)
  return plainNote(earlierBody(cut), cut.region.dropped.length)
}

function toEntry(
  { region, shortened, earlier }: Cut,
  facts: { readonly summary: string; readonly tokensBefore: number; readonly tokensAfter: number },
): CompactionEntry {
  const head = region.head.at(-1)?.seq
  return {
    type: 'compaction',
    upToSeq: region.dropped.at(-1)?.seq ?? earlier?.upToSeq ?? head ?? 0,
    ...(head === undefined ? {} : { headUpToSeq: head }),
    ...(region.request ? { repeatedSeqs: [region.request.seq] } : {}),
    ...(shortened.length === 0 ? {} : { shortened: shortened.map(({ seq, text }) => ({ seq, text })) }),
    ...facts,
  }
}

/** All messages that the next request will not show as they are, those of earlier compactions included. */
function goneOf({ all, head, tail, request }: Region): readonly TranscriptEntry[] {
  const end = tail.length === 0 ? all.length : all.indexOf(tail[0]!)
  return all.slice(head.length, end).filter((entry) => entry !== request)
}

/** Two compactions in a row that gained next to nothing, and little was added since: another one would gain as little. */
function wasInVain({ entries, tokens }: ContextState, threshold: number): boolean {
  const switchedAt = entries.findLastIndex((entry) => entry.type === 'model')
  const latest = entries
    .slice(switchedAt + 1)
    .filter((entry) => entry.type === 'compaction')
    .slice(-2)
  if (latest.length < 2) return false
  const grown = tokens - (latest.at(-1)?.tokensAfter ?? 0)
  return latest.every(gainedLittle) && grown < LEAST_GAIN * threshold
}

const ENDING =
  'messages were left out here to make room, and no summary of them could be made. ' +
  'They are kept in the session. Go by the messages that follow and by how files and other things stand now; look before you act.'
const NOTE = new RegExp(`(?:^|\\n\\n)(\\d+) ${ENDING.replaceAll('.', '\\.')}(?=\\n\\n|$)`, 'g')

/** Stands for messages that went without a summary, behind what earlier summaries say. Notes of before become one with it. */
function plainNote(earlier: string | null, messages: number): string {
  let all = messages
  const text = (earlier ?? '')
    .replace(NOTE, (_, count: string) => {
      all += Number(count)
      return ''
    })
    .trim()
  const note = `${all} ${ENDING}`
  return text === '' ? note : `${text}\n\n${note}`
}

const LEAST_TOKENS = 200

/** A result of a tool that is shown shorter. */
interface Shortened {
  readonly seq: number
  readonly text: string
  /** Tokens it takes less. */
  readonly saved: number
}

/**
 * Which results among the newest messages to show shorter, so that all of them fit `maxTokens`: the longest ones first, each to no
 * less than a few lines. Nothing when they fit.
 */
function shortenTail(tail: readonly TranscriptEntry[], maxTokens: number): readonly Shortened[] {
  const excess = sum(tail) - maxTokens
  if (excess <= 0) return []
  const results = tail
    .filter((entry): entry is TranscriptEntry & { readonly message: ToolMessage } => entry.message.role === 'tool')
    .toSorted((left, right) => right.tokens - left.tokens)
  const shortened: Shortened[] = []
  let left = excess
  for (const { seq, message, tokens } of results) {
    if (left <= 0) break
    const whole = resultText(message)
    const text = cutToTokens(whole, Math.max(LEAST_TOKENS, tokens - left))
    const saved = tokens - estimateTokens(text)
    if (text === whole || saved <= 0) continue
    shortened.push({ seq, text, saved })
    left -= saved
  }
  return shortened
}
