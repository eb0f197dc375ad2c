import type { Edit, Range } from './strategy.js'

/** Runs of whole lines that are equal to those of `search` once both went through `normalise`; blank runs are never found. */
export function findLines(text: string, search: string, normalise: (line: string) => string): readonly Range[] {
  const wanted = body(search).split('\n').map(normalise)
  if (wanted.every((line) => line.trim() === '')) return []
  const normalised = text.split('\n').map(normalise)
  return findRuns(text, search, (first) => wanted.every((line, index) => line === normalised[first + index]))
}

/** Runs of as many whole lines as `search` has, not overlapping, for whose first line (from 0) `matches` is true. */
export function findRuns(text: string, search: string, matches: (first: number) => boolean): readonly Range[] {
  const count = body(search).split('\n').length
  const lines = text.split('\n')
  const ranges: Range[] = []
  let at = 0
  for (let first = 0; first + count <= lines.length; first++) {
    const start = at
    at += lines[first]!.length + 1
    if (!matches(first)) continue
    for (const last = first + count - 1; first < last; ) at += lines[++first]!.length + 1
    const end = at - 1
    ranges.push({ start, end: search.endsWith('\n') && end < text.length ? end + 1 : end })
  }
  return ranges
}

/** `text` without the line end at its end. */
export const body = (text: string): string => (text.endsWith('\n') ? text.slice(0, -1) : text)

/** How many lines at the start and at the end of a place an edit leaves as they are. */
interface Kept {
  readonly head: number
  readonly tail: number
}

/**
 * The replacement for whole lines: lines that `search` and `replacement` share at start and end stay as the file has them, those
 * between go through `rewrite`. `null` when `rewrite` gives up.
 */
export function adaptLines(
  { region, search, replacement }: Edit,
  rewrite: (
    lines: readonly string[],
    from: readonly string[],
    to: readonly string[],
    at: Kept,
  ) => readonly string[] | null,
): string | null {
  if (replacement === '') return ''
  const whole = search.endsWith('\n')
  const from = (whole ? body(search) : search).split('\n')
  const to = (whole ? body(region) : region).split('\n')
  const lines = (whole ? body(replacement) : replacement).split('\n')
  const limit = Math.min(from.length, lines.length)
  let head = 0
  while (head < limit && from[head] === lines[head]) head++
  let tail = 0
  while (tail < limit - head && from[from.length - 1 - tail] === lines[lines.length - 1 - tail]) tail++
  const middle = rewrite(lines.slice(head, lines.length - tail), from, to, { head, tail })
  if (!middle) return null
  const result = [...to.slice(0, head), ...middle, ...to.slice(to.length - tail)].join('\n')
  return whole && replacement.endsWith('\n') && region.endsWith('\n') ? `${result}\n` : result
}
