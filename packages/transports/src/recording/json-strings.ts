import type { JsonValue } from '@hermes/contracts'

/** `value` with `change` applied to each string in it; names of fields stay. */
export function mapStrings(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, change)]))
}

const EVENT = /^((?:event: .*\r?\n)?data: )([\s\S]*)$/

/** The parts of a server-sent event: what stands before its data, and the data; `null` for anything else. */
export function splitEvent(block: string): { readonly head: string; readonly data: string } | null {
  const found = EVENT.exec(block)
  return found ? { head: found[1]!, data: found[2]!.trimEnd() } : null
}

/** Applies `change` to the strings inside a piece of an answer: of a server-sent event, of a JSON body, or to the text itself. */
export function mapChunk(chunk: string, change: (text: string) => string): string {
  const event = splitEvent(chunk)
  try {
    const mapped = JSON.stringify(mapStrings(JSON.parse(event?.data ?? chunk) as JsonValue, change))
    return event ? `${event.head}${mapped}\n\n` : mapped
  } catch {
    return change(chunk)
  }
}

/** A body as JSON, or as the text it is; `null` when there is none. */
export function readBody(text: string): JsonValue {
  if (text === '') return null
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return text
  }
}
