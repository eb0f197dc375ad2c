/** Lines of a file that are like a text that was not found. */
export interface Region {
  /** From 1. */
  readonly firstLine: number
  readonly lines: readonly string[]
  /** 0 to 1. */
  readonly similarity: number
}

const REGIONS = 3
const CANDIDATES = 24
const MIN_SIMILARITY = 0.5
const MAX_LINES = 20_000
const MAX_COMPARED_CHARS = 300
const MAX_SHOWN_LINES = 20

/** Up to three places that are most like `search`, best first. */
export async function closestRegions(text: string, search: string): Promise<readonly Region[]> {
  const { distance } = await import('fastest-levenshtein')
  const similarity = (a: string, b: string): number => {
    const [left, right] = [clip(a), clip(b)]
    return left === right ? 1 : 1 - distance(left, right) / Math.max(left.length, right.length)
  }
  const lines = text.split('\n').slice(0, MAX_LINES)
  const wanted = search.replace(/\n$/, '').split('\n').slice(0, MAX_SHOWN_LINES)
  const anchor = wanted.findIndex((line) => line.trim() !== '')
  const regions = lines
    .map((line, index) => ({ first: index - anchor, score: similarity(line, wanted[anchor]!) }))
    .filter(({ first, score }) => first >= 0 && score >= MIN_SIMILARITY)
    .sort((a, b) => b.score - a.score)
    .slice(0, CANDIDATES)
    .map(({ first }) => {
      const found = lines.slice(first, first + wanted.length)
      const scores = wanted.map((line, index) => similarity(line, found[index] ?? ''))
      return { firstLine: first + 1, lines: found, similarity: scores.reduce((a, b) => a + b, 0) / scores.length }
    })
    .filter((region) => region.similarity >= MIN_SIMILARITY)
    .sort((a, b) => b.similarity - a.similarity || a.firstLine - b.firstLine)
  return regions
    .filter((region, index) => regions.slice(0, index).every((other) => !overlap(region, other)))
    .slice(0, REGIONS)
}

const clip = (line: string): string => line.trim().slice(0, MAX_COMPARED_CHARS)

const overlap = (a: Region, b: Region): boolean =>
  a.firstLine < b.firstLine + b.lines.length && b.firstLine < a.firstLine + a.lines.length

/** Whether two texts differ in whitespace alone. */
export const differsInWhitespace = (a: string, b: string): boolean =>
  a !== b && a.replace(/\s/g, '') === b.replace(/\s/g, '')

/** `text` with spaces as `·`, tabs as `→` and carriage returns as `␍`. */
export const visibleWhitespace = (text: string): string =>
  text.replace(/ /g, '·').replace(/\t/g, '→').replace(/\r/g, '␍')
