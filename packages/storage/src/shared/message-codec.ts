import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type {
  AssistantPart,
  FinishReason,
  Message,
  MessageEntry,
  ToolCallPart,
  Usage,
} from '@hermes/contracts/conversation'

/** The columns of `messages` that an entry is written to and read from. */
export interface MessageColumns {
  readonly role: string
  readonly content: string | null
  readonly tool_call_id: string | null
  readonly tool_calls: string | null
  readonly tool_name: string | null
  readonly finish_reason: string | null
  readonly reasoning: string | null
}

/** What the columns cannot hold. Each field is there only when the columns alone would give something else back. */
interface Payload {
  /** The whole entry: a text is one that no column can hold. */
  readonly whole?: MessageEntry
  readonly usage?: Usage
  /** The parts in order; a text kept in a column is replaced by its length, a call by what its column lacks. */
  readonly parts?: readonly StoredPart[]
  /** Further fields of the message. */
  readonly rest?: JsonObject
  /** `data` is the content, parsed. */
  readonly dataInContent?: true
}

type Part = Message['content'][number]
type StoredPart = Omit<Part, 'text'> & { readonly text?: string | number; readonly args?: JsonValue }

const TO_COLUMN: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'content-filter': 'content_filter',
  unknown: 'unknown',
}
const FROM_COLUMN = new Map(Object.entries(TO_COLUMN).map(([ours, theirs]) => [theirs, ours as FinishReason]))

/**
 * The columns of a message and the JSON of what they cannot hold; `null` when they hold all of it. `holds` tells whether a column gives a
 * text back as it is; by default all but half surrogate pairs.
 */
export function encodeMessage(
  entry: MessageEntry,
  holds: (text: string) => boolean = (text) => text.isWellFormed(),
): { columns: MessageColumns; payload: string | null } {
  const columns = toColumns(entry.message)
  const payload = Object.values(columns).every((value) => value === null || holds(value))
    ? missingFrom(columns, entry)
    : { whole: entry }
  return { columns, payload: Object.keys(payload).length === 0 ? null : JSON.stringify(payload) }
}

/** The entry again, exactly. Rows that another program wrote have no payload and are read as far as their columns go. */
export function decodeMessage(columns: MessageColumns, payloadText: string | null): MessageEntry {
  const payload = payloadText === null ? {} : (JSON.parse(payloadText) as Payload)
  if (payload.whole) return payload.whole
  const message = {
    ...fromColumns(columns),
    ...payload.rest,
    ...(payload.dataInContent ? { data: JSON.parse(columns.content ?? 'null') } : {}),
    ...(payload.parts ? { content: restoreParts(payload.parts, columns) } : {}),
  } as Message
  return { type: 'message', message, ...(payload.usage ? { usage: payload.usage } : {}) }
}

function toColumns(message: Message): MessageColumns {
  const calls = (message.content as readonly Part[]).filter((part) => part.type === 'tool-call')
  const isTool = message.role === 'tool'
  return {
    role: message.role,
    content: joinTexts(message, 'text'),
    tool_call_id: isTool ? message.callId : null,
    tool_name: isTool ? message.toolName : null,
    tool_calls: calls.length === 0 ? null : JSON.stringify(calls.map(toColumnCall)),
    finish_reason:
      message.role === 'assistant' && message.finishReason !== undefined ? TO_COLUMN[message.finishReason] : null,
    reasoning: joinTexts(message, 'reasoning'),
  }
}

/** What the program put into a user message for the model's eyes stays out of the columns: they are shown and searched. */
function isInColumn(message: Message, part: Part): part is Part & { readonly text: string } {
  if (part.type === 'reasoning') return true
  if (part.type !== 'text') return false
  return message.role !== 'user' || (part.origin ?? 'user') === 'user' || part.withFencedInput === true
}

function joinTexts(message: Message, type: 'text' | 'reasoning'): string | null {
  let joined: string | null = null
  for (const part of message.content) {
    if (part.type === type && isInColumn(message, part)) joined = (joined ?? '') + part.text
  }
  return joined
}

function toColumnCall(call: ToolCallPart): JsonObject {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.rawArgs } }
}

function missingFrom(columns: MessageColumns, { message, usage }: MessageEntry): Payload {
  const plain = fromColumns(columns) as unknown as Record<string, unknown>
  const rest: Record<string, JsonValue> = {}
  for (const [key, value] of Object.entries(message)) {
    if (key === 'content' || value === undefined || value === plain[key]) continue
    if (!isDeepStrictEqual(plain[key], value)) rest[key] = value as JsonValue
  }
  const dataInContent = rest['data'] !== undefined && JSON.stringify(rest['data']) === columns.content
  if (dataInContent) delete rest['data']
  const sameParts = hasSameParts(plain['content'] as readonly Part[], message.content)
  return {
    ...(usage ? { usage } : {}),
    ...(sameParts ? {} : { parts: message.content.map((part) => storePart(message, part)) }),
    ...(Object.keys(rest).length === 0 ? {} : { rest }),
    ...(dataInContent ? { dataInContent } : {}),
  }
}

/** Keys of call arguments must come back in their order too: what is sent again has to keep its bytes. */
function hasSameParts(left: readonly Part[], right: readonly Part[]): boolean {
  if (left.length !== right.length) return false
  return left.every((part, index) => {
    const other = right[index]!
    if (part.type === 'tool-call') return JSON.stringify(part) === JSON.stringify(other)
    if (part.type === 'text' && other.type === 'text' && Object.keys(other).length === 2)
      return part.text === other.text
    return isDeepStrictEqual(part, other)
  })
}

function storePart(message: Message, part: Part): StoredPart {
  if (part.type === 'tool-call') {
    const { id: _id, name: _name, rawArgs, args, ...others } = part
    return JSON.stringify(parseArgs(rawArgs)) === JSON.stringify(args) ? others : { ...others, args }
  }
  return isInColumn(message, part) ? { ...part, text: part.text.length } : part
}

function restoreParts(parts: readonly StoredPart[], columns: MessageColumns): unknown[] {
  const calls = readCalls(columns.tool_calls)
  const taken = { text: 0, reasoning: 0, calls: 0 }
  return parts.map((part) => {
    if (part.type === 'tool-call') return { ...calls[taken.calls++], ...part }
    if ((part.type !== 'text' && part.type !== 'reasoning') || typeof part.text !== 'number') return part
    const from = taken[part.type]
    taken[part.type] += part.text
    const column = part.type === 'text' ? columns.content : columns.reasoning
    return { ...part, text: (column ?? '').slice(from, taken[part.type]) }
  })
}

function fromColumns(columns: MessageColumns): Message {
  const text = columns.content === null ? [] : [{ type: 'text' as const, text: columns.content }]
  switch (columns.role) {
    case 'assistant':
      return { role: 'assistant', content: assistantParts(columns, text), ...finishReason(columns.finish_reason) }
    case 'tool':
      return {
        role: 'tool',
        callId: columns.tool_call_id ?? '',
        toolName: columns.tool_name ?? 'unknown',
        content: text,
      }
    default:
      return { role: columns.role as 'user' | 'system', content: text }
  }
}

function assistantParts(columns: MessageColumns, text: readonly AssistantPart[]): readonly AssistantPart[] {
  const reasoning = columns.reasoning === null ? [] : [{ type: 'reasoning' as const, text: columns.reasoning }]
  return [...reasoning, ...text, ...readCalls(columns.tool_calls)]
}

function finishReason(column: string | null): { readonly finishReason?: FinishReason } {
  return column === null ? {} : { finishReason: FROM_COLUMN.get(column) ?? 'unknown' }
}

/** Calls as other programs write them may lack fields, or hold their arguments unserialised. */
function readCalls(column: string | null): ToolCallPart[] {
  const calls = column === null ? null : parseJson(column)
  if (!Array.isArray(calls)) return []
  return calls.filter(isJsonObject).map((call) => {
    const called = isJsonObject(call['function']) ? call['function'] : {}
    const input = called['arguments'] ?? ''
    const rawArgs = typeof input === 'string' ? input : JSON.stringify(input)
    return {
      type: 'tool-call',
      id: String(call['id'] ?? ''),
      name: String(called['name'] ?? ''),
      args: parseArgs(rawArgs),
      rawArgs,
    }
  })
}

function parseArgs(rawArgs: string): JsonObject | null {
  const parsed = parseJson(rawArgs)
  return isJsonObject(parsed) ? parsed : null
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
