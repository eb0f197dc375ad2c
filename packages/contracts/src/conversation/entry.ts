import type { JsonObject } from '../json.js'
import type { ToolDefinition } from '../tool.js'
import type { Message, TextPart, UserMessage } from './message.js'
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

/** Everything up to and including `upToSeq` is replaced by `summary` in the projection. */
export interface CompactionEntry {
  readonly type: 'compaction'
  readonly upToSeq: number
  readonly summary: string
}

/** Which model answers from here on. */
export interface ModelEntry {
  readonly type: 'model'
  readonly provider: string
  readonly model: string
}

/** System text and tool definitions, frozen at the first request and replayed on resume. */
export interface PromptEntry {
  readonly type: 'prompt'
  readonly system: string
  readonly tools: readonly ToolDefinition[]
}

/** Something worth keeping that no model sees. */
export interface NoteEntry {
  readonly type: 'note'
  /** Dotted name, for example `run.end` or `steer.queued`. */
  readonly kind: string
  readonly data: JsonObject
}

/** What is appended to a session. */
export type NewEntry = MessageEntry | CallStartEntry | CompactionEntry | ModelEntry | PromptEntry | NoteEntry

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

const SUMMARY_NOTE =
  'Earlier turns of this conversation were condensed into the summary below. It is background: act on the messages after it.'

/**
 * The conversation a request is made of: system text first, then the summary of what was compacted, then the messages.
 * Pure. Entries must be in order of `seq`. Nothing that is not in `entries` appears in the result.
 */
export function project(entries: readonly Entry[]): Message[] {
  const messages: Message[] = []
  const prompt = latestPrompt(entries)
  if (prompt && prompt.system !== '')
    messages.push({ role: 'system', content: [{ type: 'text', text: prompt.system }] })
  let compaction: CompactionEntry | null = null
  for (const entry of entries) if (entry.type === 'compaction') compaction = entry
  if (compaction) messages.push(summaryMessage(compaction))
  const afterSeq = compaction ? compaction.upToSeq : Number.NEGATIVE_INFINITY
  for (const entry of entries) {
    if (entry.type !== 'message' || entry.seq <= afterSeq || entry.message.role === 'system') continue
    messages.push(entry.message)
  }
  return messages
}

function summaryMessage(compaction: CompactionEntry): UserMessage {
  const part: TextPart = { type: 'text', text: `${SUMMARY_NOTE}\n\n${compaction.summary}`, origin: 'reminder' }
  return { role: 'user', content: [part] }
}
