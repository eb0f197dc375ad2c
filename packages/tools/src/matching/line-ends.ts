/** A text with CRLF taken for LF, and the way back. */
export interface LfText {
  readonly text: string
  /** The position in the original; a position at a line end is the one before its CR. */
  toOriginal(position: number): number
}

/** Takes the CR of each CRLF away. */
export function toLf(original: string): LfText {
  const removed: number[] = []
  for (let at = original.indexOf('\r\n'); at !== -1; at = original.indexOf('\r\n', at + 2))
    removed.push(at - removed.length)
  const text = removed.length === 0 ? original : original.replaceAll('\r\n', '\n')
  return { text, toOriginal: (position) => position + countBelow(removed, position) }
}

function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < limit) low = middle + 1
    else high = middle
  }
  return low
}

/** `text` with every line end as CRLF, or as it is. */
export const withLineEnds = (text: string, crlf: boolean): string => (crlf ? text.replace(/\r?\n/g, '\r\n') : text)
