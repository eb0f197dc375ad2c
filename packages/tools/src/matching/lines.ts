import type { Edit, Range } from './strategy.js'

/** Runs of whole lines that are equal to those of `search` once both went through `normalise`; blank runs are never found. */
export function findLines(text: string, search: string, normalise: (line: string) => string): readonly Range[] {
  const wanted = body(search).split('\n').map(normalise)
  if (wanted.every((line) => line.trim() === '')) return []
  const lines = text.split('\n')
  const normalised = lines.map(normalise)
  const starts = lineStarts(lines)
  const ranges: Range[] = []
  for (let first = 0; first + wanted.length <= lines.length; first++) {
    if (!wanted.every((line, index) => line === normalised[first + index])) continue
    const last = first + wanted.length - 1
    const end = starts[last]! + lines[last]!.length
    ranges.push({ start: starts[first]!, end: search.endsWith('\n') && end < text.length ? end + 1 : end })
    first = last
  }
  return ranges
}

function lineStarts(lines: readonly string[]): readonly number[] {
  let position = 0
  return lines.map((line) => {
    const start = position
    position += line.length + 1
    return start
  })
}

const body = (text: string): string => (text.endsWith('\n') ? text.slice(0, -1) : text)

/**
 * The replacement for whole lines: lines that `search` and `replacement` share at start and end stay as the file has them, those
 * between go through `indent`. `null` when `indent` gives up.
 */
export function adaptLines(
  { region, search, replacement }: Edit,
  indent: (lines: readonly string[], from: readonly string[], to: readonly string[]) => readonly string[] | null,
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
  const middle = indent(lines.slice(head, lines.length - tail), from, to)
  if (!middle) return null
  const result = [...to.slice(0, head), ...middle, ...to.slice(to.length - tail)].join('\n')
  return whole && replacement.endsWith('\n') && region.endsWith('\n') ? `${result}\n` : result
}
