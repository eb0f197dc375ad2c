import { isJsonObject, type JsonValue } from '@hermes/contracts'
import { departure, type Placeholder } from './placeholders.js'

const SHOWN_BEFORE = 20
const SHOWN_AFTER = 60

/** Where and how `got` departs from what was recorded, as one line such as `messages[4].content: expected "…", got "…"`. */
export function compareBodies(
  recorded: JsonValue | undefined,
  got: JsonValue | undefined,
  placeholders: readonly Placeholder[],
  path = '',
): string | null {
  if (typeof recorded === 'string' && typeof got === 'string') {
    const found = departure(recorded, got, placeholders)
    if (!found) return null
    return `${path || 'body'}: expected ${show(recorded, found.templateAt)}, got ${show(got, found.textAt)}`
  }
  if (Array.isArray(recorded) && Array.isArray(got)) return compareLists(recorded, got, placeholders, path)
  if (isJsonObject(recorded) && isJsonObject(got)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(got)])) {
      const inner = path === '' ? key : `${path}.${key}`
      const problem = compareBodies(recorded[key], got[key], placeholders, inner)
      if (problem) return problem
    }
    return null
  }
  if (recorded === got) return null
  return `${path || 'body'}: expected ${brief(recorded)}, got ${brief(got)}`
}

function compareLists(
  recorded: readonly JsonValue[],
  got: readonly JsonValue[],
  placeholders: readonly Placeholder[],
  path: string,
): string | null {
  for (let index = 0; index < Math.max(recorded.length, got.length); index++) {
    const problem = compareBodies(recorded[index], got[index], placeholders, `${path}[${index}]`)
    if (problem) return problem
  }
  return null
}

function show(text: string, at: number): string {
  const from = Math.max(0, at - SHOWN_BEFORE)
  const to = at + SHOWN_AFTER
  return `${from > 0 ? '…' : ''}${JSON.stringify(text.slice(from, to))}${to < text.length ? '…' : ''}`
}

function brief(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > SHOWN_AFTER ? `${text.slice(0, SHOWN_AFTER)}…` : text
}
