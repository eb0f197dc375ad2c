import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import type { AssistantPart, Usage, UserPart } from '@hermes/contracts/conversation'
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

/** A session as all stores of opencode have it: facts, and messages with their parts. */
export interface OpencodeSession {
  readonly info: JsonObject
  readonly messages: readonly { readonly info: JsonObject; readonly parts: readonly JsonObject[] }[]
}

/**
 * A session of opencode. `null` when nothing was said.
 * @see https://github.com/sst/opencode/blob/dev/packages/opencode/src/session/message-v2.ts
 */
export function readOpencode({ info, messages }: OpencodeSession): Transcript | null {
  const time = object(info['time'])
  const startedAtMs = toMs(time['created'], 0)
  const entries = messages.flatMap(({ info: message, parts }) => toEntries(message, parts, startedAtMs))
  if (entries.length === 0) return null
  const answers = messages.map((message) => message.info).filter((message) => message['role'] === 'assistant')
  return {
    id: `opencode-${text(info['id'])}`,
    source: 'opencode',
    title: optional(info['title']),
    cwd: optional(info['directory']),
    model: answers.map((answer) => optional(answer['modelID'])).findLast(Boolean),
    provider: answers.map((answer) => optional(answer['providerID'])).findLast(Boolean),
    parentId: optional(info['parentID']) && `opencode-${text(info['parentID'])}`,
    startedAtMs,
    entries,
  }
}

/** The sessions under `storage/` of versions before 1.2: `session/PROJECT/ID.json`, `message/SESSION/ID.json`, `part/MESSAGE/ID.json`. */
export function* opencodeFolder(storage: string): Generator<OpencodeSession> {
  for (const project of names(join(storage, 'session'))) {
    for (const file of names(join(storage, 'session', project))) {
      const info = json(join(storage, 'session', project, file))
      if (info === null) continue
      const folder = join(storage, 'message', text(info['id']))
      const messages = names(folder).flatMap((name) => {
        const message = json(join(folder, name))
        if (message === null) return []
        const parts = join(storage, 'part', text(message['id']))
        return [
          {
            info: message,
            parts: names(parts)
              .map((part) => json(join(parts, part)))
              .filter(isPresent),
          },
        ]
      })
      yield { info, messages }
    }
  }
}

/** The sessions in `opencode.db` of version 1.2 and later: facts in columns, messages and parts as JSON in `data`. */
export async function* opencodeDatabase(path: string): AsyncGenerator<OpencodeSession> {
  const { default: Database } = await import('better-sqlite3')
  const database = new Database(path, { readonly: true, fileMustExist: true })
  try {
    const messages = database.prepare('SELECT id, data FROM message WHERE session_id = ? ORDER BY id')
    const parts = database.prepare('SELECT data FROM part WHERE message_id = ? ORDER BY id')
    for (const row of database.prepare('SELECT * FROM session ORDER BY time_created').all() as Row[]) {
      const info = {
        id: row['id'],
        title: row['title'],
        directory: row['directory'],
        parentID: row['parent_id'],
        time: { created: row['time_created'] },
      } as JsonObject
      const found = (messages.all(row['id']) as Row[]).map((message) => ({
        info: parse(text(message['data'])) ?? {},
        parts: (parts.all(message['id']) as Row[]).map((part) => parse(text(part['data']))).filter(isPresent),
      }))
      yield { info, messages: found }
    }
  } finally {
    database.close()
  }
}

type Row = Readonly<Record<string, unknown>>

/** A file of `opencode export`. */
export function opencodeExport(file: JsonObject): OpencodeSession {
  const messages = objects(file['messages']).map((message) => ({
    info: object(message['info']),
    parts: objects(message['parts']),
  }))
  return { info: object(file['info']), messages }
}

function toEntries(info: JsonObject, parts: readonly JsonObject[], startedAtMs: number): readonly DatedEntry[] {
  const atMs = toMs(object(info['time'])['created'], startedAtMs)
  if (info['role'] === 'user') {
    const content = parts.flatMap(toUserPart)
    return content.length === 0 ? [] : [messageEntry(atMs, { role: 'user', content })]
  }
  const content = parts.flatMap(toAnswerPart)
  if (content.length === 0) return []
  const results = parts.filter(({ type }) => type === 'tool').map((part) => result(part, atMs))
  return [messageEntry(atMs, { role: 'assistant', content }, usageOf(info)), ...results]
}

function toUserPart(part: JsonObject): UserPart[] {
  if (part['type'] !== 'text' || text(part['text']) === '') return []
  return [{ type: 'text', text: text(part['text']), ...(part['synthetic'] === true ? { origin: 'reminder' } : {}) }]
}

function toAnswerPart(part: JsonObject): AssistantPart[] {
  switch (part['type']) {
    case 'text':
      return text(part['text']) === '' ? [] : [{ type: 'text', text: text(part['text']) }]
    case 'reasoning':
      return text(part['text']) === '' ? [] : [{ type: 'reasoning', text: text(part['text']) }]
    case 'tool':
      return [toolCall(text(part['callID']), text(part['tool']), object(part['state'])['input'])]
    default:
      return []
  }
}

function result(part: JsonObject, atMs: number): DatedEntry {
  const state = object(part['state'])
  const isError = state['status'] === 'error'
  const content = [{ type: 'text' as const, text: text(isError ? state['error'] : state['output']) }]
  const message = { role: 'tool' as const, callId: text(part['callID']), toolName: text(part['tool']), content }
  return messageEntry(toMs(object(state['time'])['end'], atMs), isError ? { ...message, isError } : message)
}

function usageOf(info: JsonObject): Usage | undefined {
  const tokens = object(info['tokens'])
  if (typeof tokens['output'] !== 'number') return undefined
  const cache = object(tokens['cache'])
  const count = (value: unknown) => (typeof value === 'number' ? value : 0)
  const [read, written] = [count(cache['read']), count(cache['write'])]
  return {
    inputTokens: count(tokens['input']) + read + written,
    outputTokens: count(tokens['output']) + count(tokens['reasoning']),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    reasoningTokens: count(tokens['reasoning']),
    costUsd: typeof info['cost'] === 'number' ? info['cost'] : 'unknown',
  }
}

function isPresent(found: JsonObject | null): found is JsonObject {
  return found !== null
}

/** Names in order, which is that of time. */
function names(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

function json(path: string): JsonObject | null {
  try {
    return parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

function parse(content: string): JsonObject | null {
  try {
    return object(JSON.parse(content))
  } catch {
    return null
  }
}
