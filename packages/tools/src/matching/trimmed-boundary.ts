import { findExact } from './exact.js'
import type { Range, Strategy } from './strategy.js'

const WORD = /[\p{L}\p{N}_$]/u

/** Blank lines or spaces too many around a text that is there otherwise letter by letter. */
export const trimmedBoundary: Strategy = {
  name: 'trimmed-boundary',
  find(text, search) {
    const core = search.trim()
    if (core === search) return []
    return findExact(text, core)
      .filter((range) => !cutsWord(text, range))
      .map((range) => (search.includes('\n') ? wholeLines(text, range) : range))
  },
  adapt({ region, search, replacement }) {
    if (replacement.trim() === '') return ''
    const core = search.trim()
    const at = region.indexOf(core)
    const before = without(replacement, search.slice(0, search.indexOf(core)), 'start')
    const middle = before === null ? null : without(before, search.slice(search.indexOf(core) + core.length), 'end')
    return middle === null ? null : region.slice(0, at) + middle + region.slice(at + core.length)
  },
  singleOnly: true,
}

function cutsWord(text: string, { start, end }: Range): boolean {
  const joins = (left: string | undefined, right: string | undefined) => WORD.test(left ?? '') && WORD.test(right ?? '')
  return joins(text[start - 1], text[start]) || joins(text[end - 1], text[end])
}

/** The range with the rest of its lines where that is blank, so that taking the text away leaves no empty line behind. */
function wholeLines(text: string, range: Range): Range {
  const lineStart = text.lastIndexOf('\n', range.start - 1) + 1
  const lineEnd = text.indexOf('\n', range.end)
  const end = lineEnd === -1 ? text.length : lineEnd + 1
  const rest = text.slice(lineStart, range.start) + text.slice(range.end, end)
  return rest.trim() === '' ? { start: lineStart, end } : range
}

/** `text` without `space` at one side, or as it is where it has no space there; `null` when it has another one. */
function without(text: string, space: string, side: 'start' | 'end'): string | null {
  const trimmed = side === 'start' ? text.trimStart() : text.trimEnd()
  const own = side === 'start' ? text.slice(0, text.length - trimmed.length) : text.slice(trimmed.length)
  return own === '' || own === space ? trimmed : null
}
