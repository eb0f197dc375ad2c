import type { JsonObject } from '../json.js'
import type { ToolDefinition } from '../tool.js'
import type { Message, SystemMessage, UserMessage } from './message.js'
import type { Provenance } from './text-source.js'
import type { Usage } from './usage.js'

/** A message of the conversation; `usage` belongs to assistant messages. */
export interface MessageEntry {
  readonly type: 'message'
  readonly message: Message
  readonly usage?: Usage
}

/** Written before a call that may change something runs. Without a result after it, the call "may have run". */
export interface CallStartEntry {
  readonly type: 'call-start'
  readonly callId: string
  readonly toolName: string
}

/** In the projection `summary` stands for all messages up to and including `upToSeq`, but for those named here. */
export interface CompactionEntry {
  readonly type: 'compaction'
  readonly upToSeq: number
  readonly summary: string
  /** The beginning of the session stays before the summary: messages up to and including this one. Default none. */
  readonly headUpToSeq?: number
  /** Messages of the user that come again, whole, after the summary: the request under way. */
  readonly repeatedSeqs?: readonly number[]
  /** Results of tools after `upToSeq` that models see shortened. */
  readonly shortened?: readonly { readonly seq: number; readonly text: string }[]
  /** Made without a model, after the summaries that one request may take. */
  readonly isTruncation?: true
  /** Estimated size of the conversation in tokens. */
  readonly tokensBefore?: number
  readonly tokensAfter?: number
}

/** How much a model thinks before it answers; each wire has its own way to ask for it. */
export type ReasoningEffort = 'minimal' | 'low' | 'medium' | 'high'

/** How soon an answer is made: as usual, sooner at a higher price, or when there is room for it at a lower one. */
export type ServiceTier = 'standard' | 'fast' | 'flex'

/** How each answer of a model is made; what is left out is as its provider has it. */
export interface Sampling {
  /** Models that do not think are not asked to. */
  readonly reasoningEffort?: ReasoningEffort
  /** 0 to 2. */
  readonly temperature?: number
  /** Tokens of one answer. */
  readonly maxOutputTokens?: number
  /** Endpoints that have no such tiers are not asked for one. */
  readonly serviceTier?: ServiceTier
}

/** What of {@link Sampling} is chosen anew; `null`: as configured again. What is left out stays as it is. */
export type SamplingChange = { readonly [Name in keyof Sampling]?: Sampling[Name] | null }

/** Which model answers from here on, and how. */
export interface ModelEntry extends SamplingChange {
  readonly type: 'model'
  readonly provider: string
  readonly model: string
  /** The key or login of this provider that is used alone, by its label; `null`: what the project or the home uses. Left out: as before. */
  readonly account?: string | null
}

/** The account that a session chose at a provider, by whatever name it was asked there; `null` for none. Entries in order of `seq`. */
export function accountIn(entries: readonly Entry[], isProvider: (name: string) => boolean): string | null {
  const isChoice = (entry: Entry) => entry.type === 'model' && entry.account !== undefined && isProvider(entry.provider)
  const entry = entries.findLast(isChoice)
  return entry?.type === 'model' ? (entry.account ?? null) : null
}

/** System text and tool definitions, frozen at the first request and replayed on resume. */
export interface PromptEntry {
  readonly type: 'prompt'
  readonly system: string
  readonly tools: readonly ToolDefinition[]
  /** What `system` is made of, in order, with a blank line between the parts. Default: not known. */
  readonly layers?: readonly PromptLayerSize[]
}

/** One part of a stored system text. */
export interface PromptLayerSize extends Provenance {
  readonly name: string
  /** Where it came from, for a person. */
  readonly source: string
  /** UTF-16 code units. */
  readonly chars: number
}

/** Something worth keeping that no model sees. */
export interface NoteEntry {
  readonly type: 'note'
  /** Dotted name, for example `run.end` or `steer.queued`. */
  readonly kind: string
  readonly data: JsonObject
}

/** Takes back the conversation from an entry on; the entries themselves stay in the log. */
export interface UndoEntry {
  readonly type: 'undo'
  /** Messages, call starts and compactions from here up to this entry no longer count. */
  readonly fromSeq: number
}

/** What is appended to a session. */
export type NewEntry =
  | MessageEntry
  | CallStartEntry
  | CompactionEntry
  | ModelEntry
  | PromptEntry
  | NoteEntry
  | UndoEntry

/** What a session's log holds: `seq` grows strictly within a session, gaps allowed; `atMs` is Unix time in milliseconds. */
export type Entry = NewEntry & { readonly seq: number; readonly atMs: number }

/** The newest prompt entry, or `null` before the first request. */
export function latestPrompt(entries: readonly Entry[]): PromptEntry | null {
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index]!
    if (entry.type === 'prompt') return entry
  }
  return null
}

/**
 * The entries that still count, undo entries left out. The prompt, models and notes stay whatever was undone: the prompt is frozen for
 * the session, the others tell of things outside the conversation. Pure and idempotent; entries must be in order of `seq`.
 */
export function liveEntries(entries: readonly Entry[]): readonly Entry[] {
  if (!entries.some((entry) => entry.type === 'undo')) return entries
  let live: Entry[] = []
  for (const entry of entries) {
    if (entry.type === 'undo') live = live.filter((earlier) => earlier.seq < entry.fromSeq || outlivesUndo(earlier))
    else live.push(entry)
  }
  return live
}

function outlivesUndo({ type }: Entry): boolean {
  return type === 'prompt' || type === 'model' || type === 'note'
}

const SUMMARY_NOTE =
  'Earlier turns of this conversation were condensed into the summary below. It is background: act on the messages after it. The system text, memory included, holds as before.'
const SUMMARY_END = '[End of the summary. Go on with what follows it.]'

/**
 * The conversation a request is made of: system text first, then what stands for the compacted part, then the messages after it.
 * Pure. Entries must be in order of `seq`. Nothing that is not in `log`, or was undone in it, appears in the result.
 */
export function project(log: readonly Entry[]): Message[] {
  const entries = liveEntries(log)
  const prompt = latestPrompt(entries)
  const system = prompt && prompt.system !== '' ? [systemMessage(prompt)] : []
  const compaction = latestCompaction(entries)
  if (!compaction) {
    // Before each request, hence a plain loop.
    const messages: Message[] = system
    for (let index = 0; index < entries.length; index++) {
      const entry = entries[index]!
      if (isTranscriptEntry(entry)) messages.push(entry.message)
    }
    return messages
  }
  const entry = entries.filter(isTranscriptEntry)
  const { upToSeq, headUpToSeq = Number.NEGATIVE_INFINITY, repeatedSeqs = [], shortened = [] } = compaction
  const short = new Map(shortened.map(({ seq, text }) => [seq, text]))
  return [
    ...system,
    ...entry.filter(({ seq }) => seq <= headUpToSeq).map(({ message }) => message),
    ...(compaction.summary === '' ? [] : [summaryMessage(compaction)]),
    ...entry.filter(({ seq }) => repeatedSeqs.includes(seq) && seq > headUpToSeq).map(({ message }) => message),
    ...entry.filter(({ seq }) => seq > upToSeq).map(({ seq, message }) => shorten(message, short.get(seq))),
  ]
}

/** The newest compaction entry, or `null`. */
export function latestCompaction(entries: readonly Entry[]): (CompactionEntry & { readonly seq: number }) | null {
  const entry = entries.findLast((candidate) => candidate.type === 'compaction')
  return entry ?? null
}

const LEAST_GAIN = 0.1

/** Whether a compaction made less than a tenth shorter what it was made of; one that does not tell its sizes counts as such. */
export function gainedLittle({ tokensBefore = 0, tokensAfter = 0 }: CompactionEntry): boolean {
  return tokensBefore - tokensAfter <= 0 || tokensBefore - tokensAfter < LEAST_GAIN * tokensBefore
}

/** The same object for as long as the prompt lives, so that what is made of it for a wire is made once. */
const systemMessages = new WeakMap<PromptEntry, SystemMessage>()

function systemMessage(prompt: PromptEntry): SystemMessage {
  let message = systemMessages.get(prompt)
  if (!message)
    systemMessages.set(prompt, (message = { role: 'system', content: [{ type: 'text', text: prompt.system }] }))
  return message
}

function isTranscriptEntry(entry: Entry): entry is Entry & MessageEntry {
  return entry.type === 'message' && entry.message.role !== 'system'
}

function summaryMessage({ summary }: CompactionEntry): UserMessage {
  const text = `${SUMMARY_NOTE}\n\n${summary}\n\n${SUMMARY_END}`
  return { role: 'user', content: [{ type: 'text', text, origin: 'reminder' }] }
}

/** Text from outside stays marked as such. */
function shorten(message: Message, text: string | undefined): Message {
  if (text === undefined || message.role !== 'tool') return message
  const isExternal = message.content.some((part) => part.type === 'text' && part.origin === 'external')
  return { ...message, content: [{ type: 'text', text, ...(isExternal ? { origin: 'external' } : {}) }] }
}
