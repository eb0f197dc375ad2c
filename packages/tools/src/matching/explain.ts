import type { EditOutcome } from './apply-edit.js'
import { lineOf } from './apply-edit.js'
import { toLf } from './line-ends.js'

const LOCATIONS = 5
const SNIPPET_CHARS = 80
/** Lines shown before and after a place that may be meant: by them the model tells places apart. */
const LINES_AROUND = 2

/** The edit that came to nothing, as the model knows it. */
interface Requested {
  readonly path: string
  readonly text: string
  readonly search: string
  /** What the call names the searched text: `old_string`, or a hunk. */
  readonly name: string
}

/** Says why nothing was changed, and what to do next. */
export async function explainOutcome(
  outcome: Exclude<EditOutcome, { type: 'edited' | 'already-applied' }>,
  requested: Requested,
): Promise<string> {
  switch (outcome.type) {
    case 'ambiguous':
      return explainAmbiguity(outcome, requested)
    case 'not-found':
      return explainMiss(requested)
    case 'unsure':
      return `${requested.name} matches ${requested.path} at line ${outcome.line} only loosely (${outcome.strategy}), and what to write there is not certain; nothing was changed. Read those lines and copy them exactly.`
    default:
      return outcome satisfies never
  }
}

function explainAmbiguity(outcome: Extract<EditOutcome, { type: 'ambiguous' }>, { path, name }: Requested): string {
  const { ranges, lfText } = outcome
  const places = ranges.slice(0, LOCATIONS).map((range) => {
    const snippet = lfText.slice(range.start, range.end).trim().split('\n', 1)[0]!
    return `  line ${lineOf(lfText, range)}: ${snippet.slice(0, SNIPPET_CHARS)}`
  })
  const more = ranges.length > LOCATIONS ? [`  and ${ranges.length - LOCATIONS} more`] : []
  const how = outcome.strategy === 'exact' ? '' : ` (${outcome.strategy})`
  const canTakeAll = outcome.strategy === 'exact' && name === 'old_string'
  const all = canTakeAll ? ', or set replace_all=true to change every one' : ''
  const head = `${name} matches ${ranges.length} places in ${path}${how}; nothing was changed. Add surrounding lines until it is unique${all}:`
  return [head, ...places, ...more].join('\n')
}

async function explainMiss(requested: Requested): Promise<string> {
  const search = toLf(requested.search).text
  const text = toLf(requested.text).text
  const regions = await closestRegions(text, search)
  const head = `${requested.name} is not in ${requested.path}; nothing was changed.`
  if (regions.length === 0) return `${head} Nothing in the file is like it: read the file before editing.`
  return `${head} Did you mean:\n${regions.map((region) => drawRegion(region, text, search)).join('\n--\n')}`
}

function drawRegion({ firstLine, lines }: Region, text: string, search: string): string {
  const requested = search.replace(/\n$/, '')
  if (differsInWhitespace(lines.join('\n'), requested))
    return `${draw(lines.map(visibleWhitespace), firstLine).join('\n')}\nonly whitespace differs (· space, → tab); you sent:\n${visibleWhitespace(requested)}`
  const all = text.replace(/\n$/, '').split('\n')
  const from = Math.max(0, firstLine - 1 - LINES_AROUND)
  const end = firstLine - 1 + lines.length
  return [
    ...draw(all.slice(from, firstLine - 1), from + 1, '-'),
    ...draw(lines, firstLine),
    ...draw(all.slice(end, end + LINES_AROUND), end + 1, '-'),
  ].join('\n')
}

/** Lines with their numbers; `-` behind the number marks one that only surrounds a place. */
const draw = (lines: readonly string[], firstLine: number, mark = '|'): readonly string[] =>
  lines.map((line, index) => `${firstLine + index}${mark}${line.slice(0, 200)}`)

/** Lines of a file that are like a text that was not found. */
interface Region {
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
async function closestRegions(text: string, search: string): Promise<readonly Region[]> {
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
const differsInWhitespace = (a: string, b: string): boolean => a !== b && a.replace(/\s/g, '') === b.replace(/\s/g, '')

/** `text` with spaces as `·`, tabs as `→` and carriage returns as `␍`. */
const visibleWhitespace = (text: string): string => text.replace(/ /g, '·').replace(/\t/g, '→').replace(/\r/g, '␍')
