import type { TextSource, ToolResultPart } from '@hermes/contracts/conversation'
import type { ToolOutcome, ToolResult } from '@hermes/contracts/tool'

const DEFAULT_MAX_CHARS = 100_000
const HEAD_SHARE = 0.4

/** A failed call with a line the model can act on. */
export function errorOutcome(message: string, isOutside = false): ToolOutcome {
  const origin = isOutside ? ({ origin: 'external' } as const) : {}
  return { content: [{ type: 'text', text: message, ...origin }], isError: true }
}

/** A tool's return value, marked as text from outside; `sources` say where it came from unless it does so itself. */
export function asExternal(result: ToolResult, sources: readonly TextSource[] | undefined): ToolResult {
  const known = sources ? { sources } : {}
  return typeof result === 'string'
    ? { text: result, external: true, ...known }
    : { ...known, ...result, external: true }
}

/** The text of a result that is too long to be shown whole, one value a line where it is plain data; `null` for one that is not. */
export function overlongText(result: ToolResult, maxResultChars = DEFAULT_MAX_CHARS): string | null {
  const text = textOf(result)
  if (text.length <= maxResultChars) return null
  return typeof result !== 'string' && result.text === undefined ? JSON.stringify(result.data, null, 2) : text
}

/** Brings a tool's return value into one shape and cuts overlong text head and tail; `path` is where all of it is. */
export function toOutcome(
  result: ToolResult,
  maxResultChars = DEFAULT_MAX_CHARS,
  path: string | null = null,
): ToolOutcome {
  if (typeof result === 'string')
    return { content: [{ type: 'text', text: cut(result, maxResultChars, path) }], isError: false }
  const known = result.sources ? { sources: result.sources } : {}
  const origin = result.external ? ({ origin: 'external', ...known } as const) : {}
  const text = textOf(result)
  const content: ToolResultPart[] =
    text === '' ? [] : [{ type: 'text', text: cut(text, maxResultChars, path), ...origin }]
  for (const part of result.parts ?? [])
    content.push(
      part.type === 'text'
        ? { ...origin, ...part, ...(result.external ? known : {}), text: cut(part.text, maxResultChars, null) }
        : { ...part, ...(part.origin === 'external' ? known : {}) },
    )
  if (content.length === 0) content.push({ type: 'text', text: '(no output)' })
  return { content, isError: result.isError ?? false, ...(result.data === undefined ? {} : { data: result.data }) }
}

function textOf(result: ToolResult): string {
  if (typeof result === 'string') return result
  return result.text ?? (result.data === undefined ? '' : JSON.stringify(result.data))
}

function cut(text: string, maxChars: number, path: string | null): string {
  if (text.length <= maxChars) return text
  const head = text.slice(0, Math.floor(maxChars * HEAD_SHARE)).toWellFormed()
  const tail = text.slice(text.length - (maxChars - head.length)).toWellFormed()
  const whole = path === null ? '' : `; all of it is in ${path}: read_file gives it page by page`
  return `${head}\n\n[… ${text.length - head.length - tail.length} characters left out here${whole} …]\n\n${tail}`
}
