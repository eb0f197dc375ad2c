import type { Entry, Message } from '@hermes/contracts/conversation'
import { toolCalls } from '@hermes/contracts/conversation'
import type { SessionInfo } from '@hermes/contracts/store'
import type { SearchHit } from '../storage.js'

const MESSAGE_CHARS = 1_500

/** `id  2026-03-01 12:30  cli  Title`. */
export function sessionLine({ id, startedAtMs, source, title, messageCount }: SessionInfo): string {
  return `${id}  ${minute(startedAtMs)}  ${source}  ${messageCount} ${messageCount === 1 ? 'message' : 'messages'}${title === null ? '' : `  ${title}`}`
}

/** A hit between its neighbours, the number of each message in front. */
export function hitLines(hit: SearchHit): string {
  const head = `${hit.sessionId}  ${minute(hit.atMs)}  ${hit.source}${hit.title === null ? '' : `  ${hit.title}`}`
  const context = (message: SearchHit['before']) =>
    message === null || message.text === '' ? [] : [`  #${message.seq} ${message.role}: ${oneLine(message.text)}`]
  return [
    head,
    ...context(hit.before),
    `  #${hit.seq} ${hit.role}: ${oneLine(hit.snippet)}`,
    ...context(hit.after),
  ].join('\n')
}

/** A message as it is read again; `null` for entries that are no messages and for those without a word. */
export function messageText(entry: Entry): string | null {
  if (entry.type !== 'message') return null
  const { message } = entry
  const calls = toolCalls(message).map(({ name, rawArgs }) => `[${name} ${rawArgs.slice(0, 200)}]`)
  const text = [wordsOf(message), ...calls].filter(Boolean).join('\n')
  if (text === '') return null
  const cut = text.length > MESSAGE_CHARS ? `${text.slice(0, MESSAGE_CHARS).toWellFormed()}…` : text
  return `#${entry.seq} ${message.role}: ${cut}`
}

function wordsOf(message: Message): string {
  const parts: readonly { readonly type: string; readonly text?: string; readonly origin?: string }[] = message.content
  return parts
    .filter((part) => part.type === 'text' && (message.role !== 'user' || (part.origin ?? 'user') === 'user'))
    .map((part) => part.text)
    .join('')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function minute(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
}
