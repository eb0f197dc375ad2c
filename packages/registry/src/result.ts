import type { ToolResultPart } from '@hermes/contracts/conversation'
import type { ToolOutcome, ToolResult } from '@hermes/contracts/tool'

const DEFAULT_MAX_CHARS = 100_000
const HEAD_SHARE = 0.4

/** A failed call with a line the model can act on. */
export function errorOutcome(message: string): ToolOutcome {
  return { content: [{ type: 'text', text: message }], isError: true }
}

/** A tool's return value, marked as text from outside. */
export function asExternal(result: ToolResult): ToolResult {
  return typeof result === 'string' ? { text: result, external: true } : { ...result, external: true }
}

/** Brings a tool's return value into one shape and cuts overlong text head and tail. */
export function toOutcome(result: ToolResult, maxResultChars = DEFAULT_MAX_CHARS): ToolOutcome {
  if (typeof result === 'string')
    return { content: [{ type: 'text', text: cut(result, maxResultChars) }], isError: false }
  const origin = result.external ? ({ origin: 'external' } as const) : {}
  const text = result.text ?? (result.data === undefined ? '' : JSON.stringify(result.data))
  const content: ToolResultPart[] = text === '' ? [] : [{ type: 'text', text: cut(text, maxResultChars), ...origin }]
  for (const part of result.parts ?? [])
    content.push(part.type === 'text' ? { ...part, text: cut(part.text, maxResultChars) } : part)
  if (content.length === 0) content.push({ type: 'text', text: '(no output)' })
  return { content, isError: result.isError ?? false, ...(result.data === undefined ? {} : { data: result.data }) }
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const head = text.slice(0, Math.floor(maxChars * HEAD_SHARE)).toWellFormed()
  const tail = text.slice(text.length - (maxChars - head.length)).toWellFormed()
  return `${head}\n\n[… ${text.length - head.length - tail.length} characters left out here …]\n\n${tail}`
}
