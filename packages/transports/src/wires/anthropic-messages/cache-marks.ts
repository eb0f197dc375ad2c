import type { CacheControl, WireBlock, WireMessage, WireRequest } from './wire-types.js'

/** How long the provider keeps a prefix: five minutes, or an hour at a higher price for writing. */
export type CacheTtl = '5m' | '1h'

const MARKED_MESSAGES = 3

/**
 * The request with marks for the provider's cache: one after the system text, which tool definitions precede (without system text
 * after the definitions), and one at the end of each of the last three messages. Four is what the provider allows.
 */
export function markCache(request: WireRequest, ttl: CacheTtl): WireRequest {
  const cache_control: CacheControl = ttl === '1h' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' }
  const { system, tools, messages } = request
  const firstMarked = messages.length - MARKED_MESSAGES
  return {
    ...request,
    ...(system ? { system: markAt(system, system.length - 1, cache_control) } : {}),
    ...(tools && !system ? { tools: markAt(tools, tools.length - 1, cache_control) } : {}),
    messages: messages.map((message, index) => (index < firstMarked ? message : markMessage(message, cache_control))),
  }
}

function markMessage(message: WireMessage, mark: CacheControl): WireMessage {
  return { ...message, content: markAt(message.content, message.content.findLastIndex(isMarkable), mark) }
}

function isMarkable({ type }: WireBlock): boolean {
  return type !== 'thinking' && type !== 'redacted_thinking'
}

function markAt<Item extends object>(items: readonly Item[], at: number, cache_control: CacheControl): Item[] {
  return items.map((item, index) => (index === at ? { ...item, cache_control } : item))
}
