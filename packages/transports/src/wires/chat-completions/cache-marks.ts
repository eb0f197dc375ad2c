import type { CacheControl, WireMessage, WirePart } from './wire-types.js'

const MARKED_MESSAGES = 3

/**
 * The messages with marks for the provider's cache: one after the system text and one at the end of each of the last three messages
 * that have content. A mark stands on a part, so all text goes out as parts: a message keeps its form when the mark moves on.
 */
export function markCache(messages: readonly WireMessage[], ttl: '5m' | '1h'): WireMessage[] {
  const cache_control: CacheControl = ttl === '1h' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' }
  const listed = messages.map(asList)
  const marked = new Set<number>()
  if (isSystem(listed[0])) marked.add(0)
  for (let index = listed.length - 1, left = MARKED_MESSAGES; index >= 0 && left > 0; index--) {
    if (isSystem(listed[index]) || !hasParts(listed[index]!)) continue
    marked.add(index)
    left--
  }
  return listed.map((message, index) => (marked.has(index) ? mark(message, cache_control) : message))
}

function isSystem(message: WireMessage | undefined): boolean {
  return message?.role === 'system' || message?.role === 'developer'
}

/** A message with its text as a list of one part; one without text stays as it is. */
export function asList(message: WireMessage): WireMessage {
  if (typeof message.content !== 'string' || message.content === '') return message
  return { ...message, content: [{ type: 'text', text: message.content }] } as WireMessage
}

function hasParts(message: WireMessage): boolean {
  return Array.isArray(message.content) && message.content.length > 0
}

function mark(message: WireMessage, cache_control: CacheControl): WireMessage {
  if (!hasParts(message)) return message
  const parts = message.content as readonly WirePart[]
  const content = parts.map((part, index) => (index === parts.length - 1 ? { ...part, cache_control } : part))
  return { ...message, content } as WireMessage
}
