import { adaptSimilar } from './adapt-similar.js'
import { translateIndentation } from './indentation.js'
import { adaptLines, body, findLines, findRuns } from './lines.js'
import { bare, isSlip, loadSimilarity, wordsOf } from './similarity.js'
import type { Edit, Range, Strategy } from './strategy.js'
import type { LongDashes } from './typography.js'
import { toPlain, withPlainOf } from './typography.js'

const ESCAPE = /\\(n|t|r|"|'|`|\\)/g
const CONTROL: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }
const meaning = (letter: string): string => CONTROL[letter] ?? letter

/** Whether `text` holds plainly what `sample` has escaped. */
function isMixed(text: string, sample: string): boolean {
  const plain = text.replace(ESCAPE, '')
  return [...sample.matchAll(ESCAPE)].some(([, letter]) => plain.includes(meaning(letter!)))
}

const INDENTATION = /^(?:[\t ]|\\t)+/gm

/** `text` with tabs in place of each `\t` that a line begins with. */
const unescapeIndentation = (text: string): string =>
  text.replace(INDENTATION, (indentation) => indentation.replaceAll('\\t', '\t'))

/** Whether nothing but indentation is escaped. */
const isIndentation = (text: string): boolean => unescapeIndentation(text).search(ESCAPE) === -1

/**
 * Text whose tabs at the beginning of lines were sent as `\t`, whatever the rest of the lines holds. Not where a line of the file begins
 * so, as in TeX.
 */
const indentationEscaped: Strategy = {
  name: 'indentation-escaped',
  find(text, search) {
    const plain = unescapeIndentation(search)
    return plain === search || unescapeIndentation(text) !== text ? [] : findExact(text, plain)
  },
  adapt: ({ replacement }) => unescapeIndentation(replacement),
  singleOnly: true,
}

/**
 * Text that was escaped once too often, as `\t` or `\"`. Both strings must be escaped throughout. A line end is never made from `\n`
 * in the replacement, where it may as well belong to a string of the program.
 */
export const escapeNormalised: Strategy = {
  name: 'escape-normalised',
  find(text, search) {
    const plain = search.replace(ESCAPE, (_, letter: string) => meaning(letter))
    return plain === search || plain.trim() === '' || isMixed(search, search) ? [] : findExact(text, plain)
  },
  adapt({ region, search, replacement }) {
    if (isMixed(replacement, search) || isMixed(replacement, replacement))
      return isIndentation(search) ? unescapeIndentation(replacement) : null
    const letters = [...replacement.matchAll(ESCAPE)].map(([, letter]) => letter!)
    if (letters.includes('n')) return null
    return replacement.replace(ESCAPE, (escaped, letter: string) =>
      letter in CONTROL && !region.includes(meaning(letter)) ? escaped : meaning(letter),
    )
  },
  singleOnly: true,
}

function find(text: string, search: string): readonly Range[] {
  for (const long of search.includes('--') ? LONG_DASHES : (['none'] as const)) {
    const plain = toPlain(text, long)
    const found = findExact(plain.text, toPlain(search, long).text)
    if (found.length === 0) continue
    const { origin } = plain
    const ranges = found
      .map(({ start, end }) => ({ start: origin[start]!, end: origin[end]! }))
      .filter(({ start, end }) => start !== -1 && end !== -1)
    if (ranges.length > 0) return ranges
  }
  return []
}

const LONG_DASHES: readonly LongDashes[] = ['none', 'em', 'all']

/** Words that stay are taken from the file with their own typography; words that change come from the replacement, without what drifted. */
async function adapt({ region, search, replacement }: Edit): Promise<string | null> {
  const { diffWordsWithSpace } = await import('diff')
  const long = LONG_DASHES.find((one) => toPlain(region, one).text === toPlain(search, one).text) ?? 'none'
  const { origin } = toPlain(region, long)
  let position = 0
  let result = ''
  for (const part of diffWordsWithSpace(search, replacement)) {
    if (part.added) {
      result += withPlainOf(part.value, { requested: search, found: region })
      continue
    }
    const end = position + toPlain(part.value, long).text.length
    if (!part.removed) {
      const [from, to] = [origin[position] ?? -1, origin[end] ?? -1]
      if (from === -1 || to === -1) return null
      result += region.slice(from, to)
    }
    position = end
  }
  return result
}

/** Smart quotes, dashes, ellipses and special spaces taken for their plain forms, `--` for a dash too. */
const unicodeNormalised: Strategy = { name: 'unicode-normalised', find, adapt }

const WORD = /[\p{L}\p{N}_$]/u

/** Blank lines or spaces too many around a text that is there otherwise letter by letter. */
const trimmedBoundary: Strategy = {
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

const LEAST = 0.8
/** In larger files this would take long. */
const MAX_LINES = 50_000

/** A block every line of which is like the one asked for, the same but for spelling, spacing and quotes. */
const contextAware: Strategy = {
  name: 'context-aware',
  async find(text, search) {
    const lines = text.split('\n')
    if (lines.length > MAX_LINES) return []
    const wanted = body(search).split('\n')
    const [plainLines, plainWanted] = [lines.map(bare), wanted.map(bare)]
    const similarity = await loadSimilarity()
    const known = wordsOf(text)
    const isLike = (at: number, index: number) => {
      const [found, requested] = [plainLines[at]!, plainWanted[index]!]
      if (found === requested) return true
      return similarity(found, requested) >= LEAST && isSlip(lines[at]!, wanted[index]!, known)
    }
    return findRuns(text, search, (first) => wanted.every((_, index) => isLike(first + index, index)))
  },
  adapt: adaptSimilar,
  singleOnly: true,
}

const SINGLE = 0.5
const SEVERAL = 0.7
const MIN_LINES = 3
/** A shorter line, or the end of another block, may be the only one of its kind by accident. */
const MIN_ANCHOR_CHARS = 9

/**
 * A block by its first and last line; what is between them may have changed. Where the first line does not tell one block from
 * others, the lines between may differ in spelling only.
 */
const blockAnchor: Strategy = {
  name: 'block-anchor',
  async find(text, search) {
    const wanted = body(search).split('\n')
    const [first, last] = [wanted[0]!.trim(), wanted.at(-1)!.trim()]
    if (wanted.length < MIN_LINES || first === '' || last === '') return []
    const lines = text.split('\n')
    const candidates = findRuns(
      text,
      search,
      (at) => lines[at]!.trim() === first && lines[at + wanted.length - 1]!.trim() === last,
    )
    const similarity = await loadSimilarity()
    const middle = wanted.slice(1, -1).map(bare).join('\n')
    const middleOf = (range: Range) => linesOf(text, range).slice(1, -1).map(bare).join('\n')
    const least = candidates.length === 1 ? SINGLE : SEVERAL
    const similar = candidates.filter((range) => similarity(middleOf(range), middle) >= least)
    const isTelling =
      first.length >= MIN_ANCHOR_CHARS &&
      !first.startsWith('}') &&
      lines.filter((line) => line.trim() === first).length === 1
    if (isTelling) return similar
    const known = wordsOf(text)
    return similar.filter((range) => linesOf(text, range).every((line, index) => isSlip(line, wanted[index]!, known)))
  },
  adapt: adaptSimilar,
  singleOnly: true,
}

const linesOf = (text: string, range: Range): readonly string[] => body(text.slice(range.start, range.end)).split('\n')

/** Whole lines, with any run of spaces and tabs taken for one space. */
const whitespaceNormalised: Strategy = {
  name: 'whitespace-normalised',
  find: (text, search) => findLines(text, search, (line) => line.trim().replace(/[ \t]+/g, ' ')),
  adapt: (edit) => adaptLines(edit, translateIndentation),
  singleOnly: true,
}

/** Whole lines, however they are indented; the replacement gets the indentation of the file. */
const indentationFlexible: Strategy = {
  name: 'indentation-flexible',
  find: (text, search) => findLines(text, search, (line) => line.trim()),
  adapt: (edit) => adaptLines(edit, translateIndentation),
}

/** Whole lines, whatever whitespace they end in. */
const lineTrimmed: Strategy = {
  name: 'line-trimmed',
  find: (text, search) => findLines(text, search, (line) => line.trimEnd()),
  adapt: (edit) => adaptLines(edit, (lines) => lines),
}

/** All places of `search`, not overlapping. */
export function findExact(text: string, search: string): readonly Range[] {
  const ranges: Range[] = []
  for (let start = text.indexOf(search); start !== -1; start = text.indexOf(search, start + search.length))
    ranges.push({ start, end: start + search.length })
  return ranges
}

/** Letter by letter. */
const exact: Strategy = { name: 'exact', find: findExact, adapt: ({ replacement }) => replacement }

/**
 * The text is there, but for characters that carry no meaning or were written in another way. Strictest first: the first one that finds
 * anything decides.
 */
export const LITERAL: readonly Strategy[] = [
  exact,
  lineTrimmed,
  indentationFlexible,
  whitespaceNormalised,
  escapeNormalised,
  indentationEscaped,
  trimmedBoundary,
  unicodeNormalised,
]

/** Something like the text is there, which is a hint rather than a find. Not asked when the new text is there already. */
export const SIMILAR: readonly Strategy[] = [blockAnchor, contextAware]
