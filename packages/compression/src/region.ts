import {
  type Entry,
  estimateTokens,
  latestCompaction,
  type Message,
  type MessageEntry,
} from '@hermes/contracts/conversation'
import type { Budgets, CompressionSettings } from './settings.js'

/** A message of the log with its size. */
export interface TranscriptEntry {
  readonly seq: number
  readonly message: Message
  readonly tokens: number
}

/** A session cut into what stays at the beginning, what goes, and what stays at the end. */
export interface Region {
  /** Every message of the session. */
  readonly all: readonly TranscriptEntry[]
  readonly head: readonly TranscriptEntry[]
  /** What no earlier compaction took out; may be empty. */
  readonly dropped: readonly TranscriptEntry[]
  readonly tail: readonly TranscriptEntry[]
  /** The newest request of the user where it is among the dropped ones: it is said again. */
  readonly request: TranscriptEntry | null
}

const LEAST_TAIL_MESSAGES = 3
const TAIL_CEILING = 1.5

/**
 * Where to cut. A call and its results stay together on one side. The head stays as an earlier compaction
 * chose it, so that it remains cached.
 */
export function findRegion(
  entries: readonly Entry[],
  budgets: Budgets,
  settings: CompressionSettings & { readonly keepTurns?: number | undefined } = {},
): Region {
  const earlier = latestCompaction(entries)
  const all = entries.filter(isTranscriptEntry).map(measure)
  const headLength = earlier
    ? all.filter(({ seq }) => seq <= (earlier.headUpToSeq ?? Number.NEGATIVE_INFINITY)).length
    : headLengthOf(all, budgets, settings.protectFirst ?? 3)
  const firstLive = earlier ? all.filter(({ seq }) => seq <= earlier.upToSeq).length : headLength
  const { keepTurns, protectLast = 20 } = settings
  const cut =
    keepTurns === undefined ? tailStart(all, firstLive, budgets, protectLast) : turnStart(all, firstLive, keepTurns)
  const requested = all.findLastIndex(isRequest)
  return {
    all,
    head: all.slice(0, headLength),
    dropped: all.slice(firstLive, cut),
    tail: all.slice(cut),
    request: requested >= headLength && requested < cut ? all[requested]! : null,
  }
}

/** Whether a person wrote it, not the program in their name. */
export function isRequest({ message }: Pick<TranscriptEntry, 'message'>): boolean {
  return message.role === 'user' && message.content.some((part) => (part.origin ?? 'user') === 'user')
}

function isTranscriptEntry(entry: Entry): entry is Entry & MessageEntry {
  return entry.type === 'message' && entry.message.role !== 'system'
}

function measure({ seq, message }: Entry & MessageEntry): TranscriptEntry {
  return { seq, message, tokens: estimateTokens(message) }
}

/** A beginning that would take as much as the tail is no beginning worth keeping. */
function headLengthOf(all: readonly TranscriptEntry[], budgets: Budgets, protectFirst: number): number {
  let length = Math.min(protectFirst, all.length)
  while (length > 0 && all[length]?.message.role === 'tool') length++
  return sum(all.slice(0, length)) > budgets.tail ? 0 : length
}

/** The index of the first message that stays: back from the end until the budget is used, never between a call and its results. */
function tailStart(all: readonly TranscriptEntry[], firstLive: number, budgets: Budgets, protectLast: number): number {
  let start = all.length
  let tokens = 0
  while (start > firstLive) {
    const next = all[start - 1]!
    const kept = all.length - start
    if (kept >= LEAST_TAIL_MESSAGES) {
      const after = tokens + next.tokens
      if (after > budgets.tail && (kept >= protectLast || after > budgets.tail * TAIL_CEILING)) break
    }
    tokens += next.tokens
    start--
  }
  while (start > firstLive && all[start]?.message.role === 'tool') start--
  return start
}

/** The index of the newest request but so many; a call and its results are never across it. */
function turnStart(all: readonly TranscriptEntry[], firstLive: number, turns: number): number {
  const requests = [...all.keys()].filter((index) => isRequest(all[index]!))
  return Math.max(firstLive, requests.at(-turns) ?? 0)
}

/** The tokens of all of them. */
export function sum(transcript: readonly TranscriptEntry[]): number {
  return transcript.reduce((total, { tokens }) => total + tokens, 0)
}
