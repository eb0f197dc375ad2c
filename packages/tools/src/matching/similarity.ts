import { toPlain } from './typography.js'

/** Longer lines are alike only when they are equal. */
const MAX_COMPARED_CHARS = 2000
const MIN_SLIP_CHARS = 5
/** Signs that are no part of words, from all scripts. Ranges, because property classes are ten times slower on long texts. */
const SIGNS = String.raw`\x00-#%-/:-@\[-^\x60{-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030\ufe10-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\u{1f000}-\u{1faff}`
const NAMES = new RegExp(`[^\\s${SIGNS}]+`, 'gu')
const TOKEN = new RegExp(`${NAMES.source}|\\S`, 'gu')
const WORD = /[\p{L}\p{N}_$]/u

/** A line without what slips when it is copied: spacing, typography, the kind of quote, the separator at its end. */
export const bare = (line: string): string =>
  toPlain(line).text.trim().replace(/\s+/g, ' ').replace(/["`]/g, "'").replace(/[;,]$/, '').trimEnd()

/** How alike two bare lines are, 0 to 1. */
type Similarity = (a: string, b: string) => number

/** Loads the measure: 1 minus the edit distance over the longer length. */
export async function loadSimilarity(): Promise<Similarity> {
  const { distance } = await import('fastest-levenshtein')
  return (a, b) => {
    if (a === b) return 1
    const longer = Math.max(a.length, b.length)
    return longer > MAX_COMPARED_CHARS ? 0 : 1 - distance(a, b) / longer
  }
}

/**
 * Whether a line of a file is what `requested` was meant to be: the same but for the spelling of words. Other numbers and operators make
 * another line, and so does a word that `known` has elsewhere: it names something else.
 */
export function isSlip(found: string, requested: string, known: ReadonlySet<string>): boolean {
  if (found === requested) return true
  if (Math.max(found.length, requested.length) > MAX_COMPARED_CHARS) return false
  const [bareFound, bareRequested] = [bare(found), bare(requested)]
  if (bareFound === bareRequested) return true
  const [left, right] = [bareFound.match(TOKEN) ?? [], bareRequested.match(TOKEN) ?? []]
  return (
    left.length === right.length &&
    left.every(
      (token, index) => token === right[index] || (!known.has(right[index]!) && isMisspelt(token, right[index]!)),
    )
  )
}

/** The words of a text. */
export const wordsOf = (text: string): ReadonlySet<string> => new Set(text.match(NAMES) ?? [])

function isMisspelt(found: string, requested: string): boolean {
  if (!WORD.test(found) || !WORD.test(requested) || /\d/.test(found + requested)) return false
  const plain = (word: string) => word.toLowerCase().replaceAll('_', '')
  if (plain(found) === plain(requested)) return true
  if (Math.min(found.length, requested.length) < MIN_SLIP_CHARS) return false
  // The end of a name is what tells two of a kind apart: left and right, item and items, case_a and case_b.
  return found.at(-1) === requested.at(-1) && isOneStepAway(found, requested)
}

/** One letter more, less, other, or two neighbours swapped. */
function isOneStepAway(a: string, b: string): boolean {
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  return (left.length <= 1 && right.length <= 1) || (left.length === 2 && left === [...right].reverse().join(''))
}
