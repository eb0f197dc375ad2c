import type { ConverseFamily } from './model-families.js'
import type { WireBlock, WireMessage, WireRequest } from './wire-types.js'

const MARKED_MESSAGES = 3

/**
 * The request with marks for the provider's cache: one after the system text, which tool definitions precede, and one at the end of each
 * of the last three messages. Four is what the provider allows. Unchanged for a model that takes none; an hour becomes five minutes for
 * one that keeps nothing longer.
 */
export function markCache(request: WireRequest, family: ConverseFamily, requested: '5m' | '1h'): WireRequest {
  if (!family.cacheTtl) return request
  const isLong = requested === '1h' && family.cacheTtl === '1h'
  const point = { cachePoint: { type: 'default' as const, ...(isLong ? { ttl: '1h' as const } : {}) } }
  const { system, messages = [] } = request
  const firstMarked = messages.length - MARKED_MESSAGES
  return {
    ...request,
    ...(system ? { system: [...system, point] } : {}),
    messages: messages.map((message, index) => (index < firstMarked ? message : markMessage(message, point))),
  }
}

/** A mark stands right after what it marks, and thoughts take none. */
function markMessage(message: NonNullable<WireRequest['messages']>[number], point: WireBlock) {
  const content = message.content ?? []
  const at = content.findLastIndex((block) => !('reasoningContent' in block))
  return at < 0 ? message : ({ ...message, content: content.toSpliced(at + 1, 0, point) } satisfies WireMessage)
}
