import type { JsonObject } from '@hermes/contracts'
import { isJsonObject } from '@hermes/contracts'
import type {
  AssistantPart,
  Message,
  NewEntry,
  ToolCallPart,
  ToolResultPart,
  Usage,
} from '@hermes/contracts/conversation'

/** Something of a log, and when it came about. */
export interface DatedEntry {
  readonly atMs: number
  readonly entry: NewEntry
  /** Its number in the log it comes from, for entries that refer to others. */
  readonly seq?: number
}

/** A conversation of another program, in our terms. */
export interface Transcript {
  /** Unique among all programs: where it comes from and its id there. */
  readonly id: string
  readonly source: string
  /** Whose it is; default the owner's. */
  readonly person?: string | null | undefined
  readonly title?: string | undefined
  readonly cwd?: string | undefined
  readonly model?: string | undefined
  readonly provider?: string | undefined
  /** {@link Transcript.id} of the one it belongs to. */
  readonly parentId?: string | undefined
  readonly startedAtMs: number
  readonly tags?: readonly string[]
  /** It is the rest of a session that may be here already. */
  readonly isRest?: boolean
  readonly entries: readonly DatedEntry[]
}

/** A date of any usual form in Unix milliseconds; `fallback` for what is none. Numbers below 1e11 are seconds. */
export function toMs(value: unknown, fallback: number): number {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.round(value < 1e11 ? value * 1000 : value)
  const parsed = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(parsed) ? fallback : parsed
}

/** A text field; no text for anything else. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A text field that is there, or nothing. */
export function optional(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The objects of a list; none when it is no list. */
export function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** An object, empty when it is none. */
export function object(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** A call whose arguments are given parsed or as text. */
export function toolCall(id: string, name: string, input: unknown): ToolCallPart {
  const rawArgs = typeof input === 'string' ? input : JSON.stringify(input ?? {})
  return { type: 'tool-call', id, name, args: parseObject(rawArgs), rawArgs }
}

/** A message as an entry, with its usage where that is known. What a tool gave is text from outside, as it is where tools of ours gave it. */
export function messageEntry(atMs: number, message: Message, usage?: Usage): DatedEntry {
  const marked = message.role === 'tool' ? { ...message, content: message.content.map(fromOutside) } : message
  return { atMs, entry: { type: 'message', message: marked, ...(usage ? { usage } : {}) } }
}

function fromOutside(part: ToolResultPart): ToolResultPart {
  return part.type === 'text' ? { ...part, origin: 'external' } : part
}

/** Parts of one answer that came in pieces, put together: neighbouring answers become one. */
export function joinAnswers(entries: readonly DatedEntry[]): readonly DatedEntry[] {
  const joined: DatedEntry[] = []
  for (const next of entries) {
    const last = joined.at(-1)
    if (!last || !isAnswer(last.entry) || !isAnswer(next.entry)) joined.push(next)
    else
      joined[joined.length - 1] = {
        atMs: last.atMs,
        entry: { ...last.entry, ...next.entry, message: both(last.entry, next.entry) },
      }
  }
  return joined
}

type Answer = Extract<NewEntry, { type: 'message' }> & { readonly message: Extract<Message, { role: 'assistant' }> }

function isAnswer(entry: NewEntry): entry is Answer {
  return entry.type === 'message' && entry.message.role === 'assistant'
}

function both(first: Answer, second: Answer): Answer['message'] {
  const content: readonly AssistantPart[] = [...first.message.content, ...second.message.content]
  return { ...second.message, content }
}

function parseObject(json: string): JsonObject | null {
  try {
    const parsed: unknown = JSON.parse(json)
    return isJsonObject(parsed) ? parsed : null
  } catch {
    return null
  }
}
