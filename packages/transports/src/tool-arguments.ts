import { isJsonObject, isValueTooDeep, type JsonObject, type JsonValue } from '@hermes/contracts'

/** What became of a tool call's argument text. */
interface ParsedToolArguments {
  /** `null` when the text is cut off, beyond repair, or not an object. */
  readonly args: JsonObject | null
  /** Whether syntax had to be repaired. */
  readonly repaired: boolean
  /** Present when `args` is `null`: one line saying what is wrong and where. */
  readonly problem?: string
}

const SHOWN_CHARS = 60

/** Text that is no object is repaired up to here: the library takes time with the square of its length. */
const MAX_PROSE_CHARS = 10_000

/**
 * Reads the arguments a model wrote. Slips of syntax (trailing commas, single quotes, raw control characters, surplus closing
 * brackets, a code fence) are repaired; a missing end is not invented. Empty text means no arguments, and so do `null` and `None`.
 */
export async function parseToolArguments(text: string): Promise<ParsedToolArguments> {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed === 'null' || trimmed === 'None') return { args: {}, repaired: false }
  const strict = parse(trimmed)
  if (strict !== undefined) return asObject(strict, false)
  const candidate = unfence(trimmed)
  const scan = scanStructure(candidate)
  if (scan.openAt !== null) return { args: null, repaired: false, problem: cutLine(candidate, scan) }
  const body = candidate.slice(0, scan.end)
  const plain = parse(body)
  if (plain !== undefined && isSurplus(candidate.slice(scan.end))) return asObject(plain, true)
  if (!candidate.startsWith('{') && candidate.length > MAX_PROSE_CHARS)
    return { args: null, repaired: false, problem: 'The arguments must be a JSON object, which begins with {.' }
  const { jsonrepair } = await import('jsonrepair')
  try {
    return asObject(JSON.parse(jsonrepair(isSurplus(candidate.slice(scan.end)) ? body : candidate)) as JsonValue, true)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { args: null, repaired: false, problem: `The arguments are not valid JSON: ${reason}.` }
  }
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

function asObject(value: JsonValue, repaired: boolean): ParsedToolArguments {
  if (isJsonObject(value)) {
    if (!isValueTooDeep(value)) return { args: value, repaired }
    return { args: null, repaired: false, problem: 'The arguments are nested more than 200 deep; make them flatter.' }
  }
  const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`
  return { args: null, repaired: false, problem: `The arguments must be a JSON object, not ${kind}.` }
}

function unfence(text: string): string {
  return /^```(?:json)?[^\S\n]*\n([\s\S]*?)\n?```$/.exec(text)?.[1]?.trim() ?? text
}

function isSurplus(rest: string): boolean {
  return /^[\s}\],;]*$/.test(rest)
}

interface Structure {
  /** Where the outermost value ends, or the length of the text. */
  readonly end: number
  /** Where the innermost unclosed string, object or array begins; `null` when all are closed. */
  readonly openAt: number | null
  readonly openKind: string
}

/**
 * Finds the end of the outermost value, or what is still open. A quote opens a string only where a string may begin, so that an
 * apostrophe inside text is not taken for one.
 */
function scanStructure(text: string): Structure {
  const stack: number[] = []
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!
    if (character === '{' || character === '[') stack.push(index)
    else if (character === '}' || character === ']') {
      stack.pop()
      if (stack.length === 0) return { end: index + 1, openAt: null, openKind: '' }
    } else if ((character === '"' || character === "'") && startsString(text, index)) {
      const close = closingQuote(text, index)
      if (close < 0) return { end: text.length, openAt: index, openKind: 'string' }
      index = close
    }
  }
  const openAt = stack.at(-1) ?? null
  const openKind = openAt === null ? '' : text[openAt] === '{' ? 'object' : 'array'
  return { end: text.length, openAt, openKind }
}

function startsString(text: string, index: number): boolean {
  const before = text.slice(0, index).trimEnd().at(-1)
  return before === undefined || '{[,:'.includes(before)
}

function closingQuote(text: string, open: number): number {
  const quote = text[open]!
  for (let index = open + 1; index < text.length; index++) {
    if (text[index] === '\\') index++
    else if (text[index] === quote && endsString(text, index)) return index
  }
  return -1
}

/** An unescaped quote inside text is followed by more text; one that ends a string by punctuation of JSON or the end. */
function endsString(text: string, index: number): boolean {
  const rest = /\S/.exec(text.slice(index + 1))?.[0]
  return rest === undefined || ',:}]'.includes(rest)
}

function cutLine(text: string, { openAt, openKind }: Structure): string {
  const tail = text.slice(-SHOWN_CHARS)
  return (
    `The arguments were cut off after ${text.length} characters, inside the ${openKind} that begins at character ${openAt}; ` +
    `they end with ${JSON.stringify(tail)}.`
  )
}
