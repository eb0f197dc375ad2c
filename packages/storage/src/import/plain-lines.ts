import { isJsonObject, type JsonObject } from '@hermes/contracts'
import type { AssistantPart, NewEntry } from '@hermes/contracts/conversation'
import {
  type DatedEntry,
  messageEntry,
  object,
  objects,
  optional,
  type Transcript,
  text,
  toMs,
  toolCall,
} from './transcript.js'

const ROLES = /^(user|assistant|tool|system|session_meta)$/

/** Whether a line is a chat message, as older versions of Hermes wrote them (`sessions/ID.jsonl`). */
export function isChatLine(line: JsonObject): boolean {
  return ROLES.test(text(line['role']))
}

/** What is known of a transcript beside its messages. */
interface ChatFacts {
  /** Its id: the name of its file. */
  readonly name: string
  readonly facts?: JsonObject
  /** For messages without a date of their own. */
  readonly atMs: number
}

/** Chat messages in the form of the chat completions API. Facts may stand in a first line of the role `session_meta`. */
export function readChat(lines: readonly JsonObject[], { name, facts = {}, atMs }: ChatFacts): Transcript | null {
  const meta = { ...object(lines.find((line) => line['role'] === 'session_meta')), ...facts }
  const startedAtMs = startOf(name) ?? toMs(meta['session_start'] ?? meta['timestamp'] ?? lines[0]?.['timestamp'], atMs)
  const names = new Map<string, string>()
  const entries = lines.flatMap((line, index) => toEntry(line, names, toMs(line['timestamp'], startedAtMs + index)))
  if (entries.length === 0) return null
  return {
    id: optional(meta['session_id']) ?? name,
    source: optional(meta['platform']) ?? optional(meta['source']) ?? 'import',
    model: optional(meta['model']),
    startedAtMs,
    entries,
  }
}

/** Whether a line is one of ours: of `hermes sessions export`, or kept when the disk was full. */
export function isOwnLine(line: JsonObject): boolean {
  if (line['type'] === 'session') return typeof object(line['session'])['id'] === 'string'
  return typeof line['atMs'] === 'number' && typeof line['type'] === 'string'
}

/** Sessions we wrote ourselves, parents before their children; entries that name none belong to the one in front of them. */
export function readOwn(lines: readonly JsonObject[]): readonly Transcript[] {
  const sessions = new Map<string, { info: JsonObject; entries: DatedEntry[] }>()
  let current = ''
  for (const line of lines) {
    const { session, sessionId, seq, atMs, ...entry } = line
    if (line['type'] === 'session') current = text(object(session)['id'])
    const id = optional(sessionId) ?? current
    if (!sessions.has(id)) sessions.set(id, { info: line['type'] === 'session' ? object(session) : {}, entries: [] })
    if (!isEntry(entry)) continue
    const dated = { atMs: typeof atMs === 'number' ? atMs : 0, entry }
    sessions.get(id)!.entries.push(typeof seq === 'number' ? { ...dated, seq } : dated)
  }
  const transcripts = [...sessions].map(([id, { info, entries }]) => ({
    id,
    source: optional(info['source']) ?? 'import',
    person: optional(info['person']),
    title: optional(info['title']),
    cwd: optional(info['cwd']),
    model: optional(info['model']),
    provider: optional(info['provider']),
    parentId: optional(info['parentSessionId']),
    startedAtMs: typeof info['startedAtMs'] === 'number' ? info['startedAtMs'] : (entries[0]?.atMs ?? 0),
    tags: list(info['tags']),
    isRest: !('id' in info),
    entries,
  }))
  return transcripts.sort((left, right) => left.startedAtMs - right.startedAtMs)
}

function list(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** Whether it can be in a log: another program may have had the file. */
function isEntry(entry: unknown): entry is NewEntry {
  const { type, message, data, system, upToSeq, fromSeq, callId, model } = object(entry)
  switch (type) {
    case 'message':
      return isChatLine(object(message)) && Array.isArray(object(message)['content'])
    case 'note':
      return isJsonObject(data)
    case 'prompt':
      return typeof system === 'string'
    case 'compaction':
      return typeof upToSeq === 'number'
    case 'undo':
      return typeof fromSeq === 'number'
    case 'call-start':
      return typeof callId === 'string'
    case 'model':
      return typeof model === 'string'
    default:
      return false
  }
}

/** `20260301_123000_…` says when it began. */
function startOf(name: string): number | null {
  const [, date, time] = /^(\d{8})_(\d{6})/.exec(name) ?? []
  if (date === undefined || time === undefined) return null
  const ms = Date.parse(`${date}T${time}Z`.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)/, '$1-$2-$3T$4:$5:'))
  return Number.isNaN(ms) ? null : ms
}

function toEntry(line: JsonObject, names: Map<string, string>, atMs: number): DatedEntry[] {
  const content = contentOf(line['content'])
  switch (line['role']) {
    case 'user':
      return content === '' ? [] : [messageEntry(atMs, { role: 'user', content: [{ type: 'text', text: content }] })]
    case 'assistant': {
      const calls = objects(line['tool_calls']).map((call) => {
        const called = object(call['function'])
        names.set(text(call['id']), text(called['name']))
        return toolCall(text(call['id']), text(called['name']), called['arguments'])
      })
      const thoughts = text(line['reasoning']) || text(line['reasoning_content'])
      const parts: AssistantPart[] = [
        ...(thoughts === '' ? [] : [{ type: 'reasoning' as const, text: thoughts }]),
        ...(content === '' ? [] : [{ type: 'text' as const, text: content }]),
        ...calls,
      ]
      return parts.length === 0 ? [] : [messageEntry(atMs, { role: 'assistant', content: parts })]
    }
    case 'tool': {
      const callId = text(line['tool_call_id'])
      const toolName = optional(line['tool_name']) ?? optional(line['name']) ?? names.get(callId) ?? 'unknown'
      return [messageEntry(atMs, { role: 'tool', callId, toolName, content: [{ type: 'text', text: content }] })]
    }
    default:
      return []
  }
}

function contentOf(content: unknown): string {
  return typeof content === 'string'
    ? content
    : objects(content)
        .map((part) => text(part['text']))
        .join('')
}
