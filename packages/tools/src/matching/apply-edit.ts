import type { LfText } from './line-ends.js'
import { toLf, withLineEnds } from './line-ends.js'
import { escapeNormalised, findExact, LITERAL, SIMILAR } from './strategies.js'
import type { Range, Strategy } from './strategy.js'

/** An edit by content. */
interface EditRequest {
  readonly oldString: string
  readonly newString: string
  readonly replaceAll: boolean
  /** Only places this is true for count; positions are in `text`, which has LF line ends. Default: all. */
  readonly accepts?: (range: Range, text: string) => boolean
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

/** One edit with every line end as LF. */
interface LfEdit {
  readonly original: string
  readonly lf: LfText
  readonly search: string
  readonly replacement: string
  readonly replaceAll: boolean
  readonly accepts: (range: Range) => boolean
}

/** Applies an edit to a text. Everything outside the places found keeps its characters, line ends included. */
export async function applyEdit(original: string, request: EditRequest): Promise<EditOutcome> {
  const lf = toLf(original)
  const edit: LfEdit = {
    original,
    lf,
    search: toLf(request.oldString).text,
    replacement: toLf(request.newString).text,
    replaceAll: request.replaceAll,
    accepts: (range) => request.accepts?.(range, lf.text) ?? true,
  }
  const outcome = (await tryEach(LITERAL, edit)) ?? findApplied(edit) ?? (await tryEach(SIMILAR, edit))
  return outcome ?? { type: 'not-found' }
}

async function tryEach(strategies: readonly Strategy[], edit: LfEdit): Promise<EditOutcome | null> {
  for (const strategy of strategies) {
    const ranges = (await strategy.find(edit.lf.text, edit.search)).filter(edit.accepts)
    if (ranges.length === 0) continue
    const outcome = await applyAt(ranges, strategy, edit)
    if (outcome.type !== 'unsure' || strategies === LITERAL) return outcome
  }
  return null
}

async function applyAt(ranges: readonly Range[], strategy: Strategy, edit: LfEdit): Promise<EditOutcome> {
  const { original, lf, search, replacement } = edit
  const [at] = ranges
  if (ranges.length > 1 && (!edit.replaceAll || strategy.singleOnly))
    return { type: 'ambiguous', strategy: strategy.name, ranges, lfText: lf.text }
  if (ranges.every((range) => standsThere(lf.text, range, search, replacement)))
    return { type: 'already-applied', line: lineOf(lf.text, at!) }
  const parts: { readonly range: Range; readonly text: string }[] = []
  for (const range of ranges) {
    const region = lf.text.slice(range.start, range.end)
    const text = hasEscapeDrift(strategy, region, edit) ? null : await strategy.adapt({ region, search, replacement })
    if (text === null) return { type: 'unsure', strategy: strategy.name, line: lineOf(lf.text, range) }
    parts.push({ range: { start: lf.toOriginal(range.start), end: lf.toOriginal(range.end) }, text })
  }
  const text = splice(original, parts)
  return text === original
    ? { type: 'unsure', strategy: strategy.name, line: lineOf(lf.text, at!) }
    : { type: 'edited', text, replacements: ranges.length, strategy: strategy.name }
}

/** Whether both strings escape quotes that the file does not: the backslashes come from the call, not from the file. */
function hasEscapeDrift(strategy: Strategy, region: string, { search, replacement }: LfEdit): boolean {
  if (strategy === escapeNormalised) return false
  return [`\\'`, '\\"'].some(
    (quote) => search.includes(quote) && replacement.includes(quote) && !region.includes(quote),
  )
}

function findApplied({ lf, replacement, accepts }: LfEdit): EditOutcome | null {
  if (replacement.length < TELLING_CHARS) return null
  const there = findExact(lf.text, replacement).filter(accepts)
  return there.length === 1 ? { type: 'already-applied', line: lineOf(lf.text, there[0]!) } : null
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
