import { escapeNormalised } from './escape-normalised.js'
import { exact, findExact } from './exact.js'
import { indentationFlexible } from './indentation-flexible.js'
import { toLf, withLineEnds } from './line-ends.js'
import { lineTrimmed } from './line-trimmed.js'
import type { Range, Strategy } from './strategy.js'
import { unicodeNormalised } from './unicode-normalised.js'
import { whitespaceNormalised } from './whitespace-normalised.js'

/** Strictest first: the first one that finds anything decides. */
export const STRATEGIES: readonly Strategy[] = Object.freeze([
  exact,
  lineTrimmed,
  indentationFlexible,
  whitespaceNormalised,
  unicodeNormalised,
  escapeNormalised,
])

/** An edit by content. */
export interface EditRequest {
  readonly oldString: string
  readonly newString: string
  readonly replaceAll: boolean
}

/** What an edit came to; only `edited` changes anything. */
export type EditOutcome =
  | { readonly type: 'edited'; readonly text: string; readonly replacements: number; readonly strategy: string }
  | { readonly type: 'already-applied'; readonly line: number }
  | { readonly type: 'not-found' }
  | {
      readonly type: 'ambiguous'
      readonly strategy: string
      readonly ranges: readonly Range[]
      readonly lfText: string
    }
  | { readonly type: 'unsure'; readonly strategy: string; readonly line: number }

/** From here on a text is too long to stand in a file twice by accident. */
const TELLING_CHARS = 8

/** Applies an edit to a text. Everything outside the places found keeps its characters, line ends included. */
export async function applyEdit(original: string, request: EditRequest): Promise<EditOutcome> {
  const lf = toLf(original)
  const search = toLf(request.oldString).text
  const replacement = toLf(request.newString).text
  for (const strategy of STRATEGIES) {
    const ranges = strategy.find(lf.text, search)
    if (ranges.length === 0) continue
    const first = ranges[0]!
    if (ranges.length > 1 && (!request.replaceAll || strategy.singleOnly))
      return { type: 'ambiguous', strategy: strategy.name, ranges, lfText: lf.text }
    if (ranges.every((range) => standsThere(lf.text, range, search, replacement)))
      return { type: 'already-applied', line: lineOf(lf.text, first) }
    const parts: { readonly range: Range; readonly text: string }[] = []
    for (const range of ranges) {
      const text = await strategy.adapt({ region: lf.text.slice(range.start, range.end), search, replacement })
      if (text === null) return { type: 'unsure', strategy: strategy.name, line: lineOf(lf.text, range) }
      parts.push({ range: { start: lf.toOriginal(range.start), end: lf.toOriginal(range.end) }, text })
    }
    const text = splice(original, parts)
    return text === original
      ? { type: 'unsure', strategy: strategy.name, line: lineOf(lf.text, first) }
      : { type: 'edited', text, replacements: ranges.length, strategy: strategy.name }
  }
  const there = replacement.length >= TELLING_CHARS ? findExact(lf.text, replacement) : []
  return there.length === 1 ? { type: 'already-applied', line: lineOf(lf.text, there[0]!) } : { type: 'not-found' }
}

/** The number, from 1, of the line a range begins in. */
export const lineOf = (text: string, range: Range): number => text.slice(0, range.start).split('\n').length

/** Whether `range` lies within the new text already, as after the same edit a moment ago. */
function standsThere(text: string, range: Range, search: string, replacement: string): boolean {
  if (replacement.length < TELLING_CHARS) return false
  return findExact(replacement, search).some(({ start }) => text.startsWith(replacement, range.start - start))
}

function splice(original: string, parts: readonly { readonly range: Range; readonly text: string }[]): string {
  let result = ''
  let position = 0
  for (const { range, text } of parts) {
    result += original.slice(position, range.start) + withLineEnds(text, usesCrlf(original, range))
    position = range.end
  }
  return result + original.slice(position)
}

/** The line ends of the place itself; of the nearest line end after or before it when it has none. */
function usesCrlf(original: string, range: Range): boolean {
  const after = original.indexOf('\n', range.start)
  const lineEnd = after === -1 ? original.lastIndexOf('\n', range.start) : after
  return lineEnd > 0 && original[lineEnd - 1] === '\r'
}
