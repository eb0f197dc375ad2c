import { isJsonObject, type JsonObject } from '@hermes/contracts'
import { type NewEntry, noUsage } from '@hermes/contracts/conversation'

/** What a line of a rescue file says. */
type RescuedLine = { readonly sessionId: string; readonly atMs: number } & (
  | { readonly type: 'entry'; readonly entry: NewEntry }
  /** A sound entry of a kind that does not come back, by its name. */
  | { readonly type: 'left-out'; readonly kind: string }
)

/** Kinds that runs make anew, or that an agent would obey unseen. */
const LEFT_OUT = new Set<unknown>(['prompt', 'model', 'compaction', 'undo'])

const PARTS: Readonly<Record<string, ReadonlySet<unknown>>> = {
  user: new Set(['text', 'image', 'audio', 'file']),
  assistant: new Set(['text', 'reasoning', 'tool-call']),
  tool: new Set(['text', 'image']),
}

/** `null` for a line that no store has written. */
export function readRescuedLine(line: string): RescuedLine | null {
  const value = parse(line)
  if (!isJsonObject(value)) return null
  const { sessionId, atMs, ...entry } = value
  if (typeof sessionId !== 'string' || typeof atMs !== 'number' || !Number.isFinite(atMs)) return null
  if (isTaken(entry)) return { sessionId, atMs, type: 'entry', entry: entry as unknown as NewEntry }
  const kind = leftOutKind(entry)
  return kind === null ? null : { sessionId, atMs, type: 'left-out', kind }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

/** Messages, what tells that a call may have run, and what the user said between runs with what took it. */
function isTaken(entry: JsonObject): boolean {
  switch (entry['type']) {
    case 'message':
      return isMessage(entry['message']) && isUsage(entry['usage'])
    case 'call-start':
      return hasTexts(entry, 'callId', 'toolName')
    case 'note': {
      const { kind, data } = entry
      if (!isJsonObject(data)) return false
      if (kind === 'steer.taken') return true
      return kind === 'steer.queued' && hasTexts(data, 'text') && data['origin'] === undefined
    }
    default:
      return false
  }
}

function leftOutKind(entry: JsonObject): string | null {
  const { type, kind, data, message } = entry
  if (LEFT_OUT.has(type)) return String(type)
  if (type === 'note' && typeof kind === 'string' && isJsonObject(data)) return `note ${kind}`
  return type === 'message' && isJsonObject(message) && message['role'] === 'system' ? 'system message' : null
}

function isMessage(message: unknown): boolean {
  if (!isJsonObject(message)) return false
  const { role, content } = message
  const types = PARTS[String(role)]
  if (!types || !Array.isArray(content)) return false
  if (role === 'tool' && !hasTexts(message, 'callId', 'toolName')) return false
  return content.every((part: unknown) => isJsonObject(part) && types.has(part['type']) && isPart(part))
}

function isPart(part: JsonObject): boolean {
  switch (part['type']) {
    case 'text':
    case 'reasoning':
      return hasTexts(part, 'text')
    case 'tool-call':
      return hasTexts(part, 'id', 'name', 'rawArgs') && (part['args'] === null || isJsonObject(part['args']))
    default:
      return hasTexts(part, 'mediaType', 'data')
  }
}

function isUsage(usage: unknown): boolean {
  if (usage === undefined) return true
  if (!isJsonObject(usage)) return false
  const isCount = (key: string) => typeof usage[key] === 'number'
  return Object.keys(noUsage).every((key) => isCount(key) || (key === 'costUsd' && usage[key] === 'unknown'))
}

function hasTexts(value: JsonObject, ...keys: readonly string[]): boolean {
  return keys.every((key) => typeof value[key] === 'string')
}
