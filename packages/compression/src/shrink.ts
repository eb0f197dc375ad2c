import type { JsonValue } from '@hermes/contracts'
import { estimateTokens } from '@hermes/contracts/conversation'

/** The beginning and the end of a text that is longer than `limit` characters, and how much is left out between them. */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const head = Math.ceil(limit * 0.7)
  const tail = limit - head
  const left = text.length - head - tail
  return `${text.slice(0, head).toWellFormed()} […${left} characters left out…] ${text.slice(text.length - tail).toWellFormed()}`
}

/** Like {@link cutMiddle}, to about so many tokens. */
export function cutToTokens(text: string, maxTokens: number): string {
  const tokens = estimateTokens(text)
  return tokens <= maxTokens ? text : cutMiddle(text, Math.floor((text.length * maxTokens) / tokens))
}

/** The same value with long texts in it cut, so that it stays what it was in form: arguments of calls stay valid JSON. */
export function shrinkValue(value: JsonValue, limit: number): JsonValue {
  if (typeof value === 'string') return cutMiddle(value, limit)
  if (Array.isArray(value)) return value.map((item: JsonValue) => shrinkValue(item, limit))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, item === undefined ? item : shrinkValue(item, limit)]),
  )
}
