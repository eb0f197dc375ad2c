import { toPlain } from './typography.js'

/** Longer lines are alike only when they are equal. */
const MAX_COMPARED_CHARS = 2000
const MIN_SLIP_CHARS = 5
/** Punctuation of scripts that have their own: from Greek, Armenian, Hebrew, Arabic and the Indic ones on. */
const OF_SCRIPTS = String.raw`\u037e\u0387\u055a-\u055f\u0589-\u058a\u05be\u05c0\u05c3\u05c6\u05f3-\u05f4\u0609-\u060a\u060c-\u060d\u061b\u061d-\u061f\u066a-\u066d\u06d4\u0700-\u070d\u07f7-\u07f9\u0830-\u083e\u085e\u0964-\u0965\u0970\u09fd\u0a76\u0af0\u0c77\u0c84\u0df4\u0e4f\u0e5a-\u0e5b\u0f04-\u0f12\u0f14\u0f3a-\u0f3d\u0f85\u0fd0-\u0fd4\u0fd9-\u0fda\u104a-\u104f\u10fb\u1360-\u1368\u1400\u166e\u169b-\u169c\u16eb-\u16ed\u1735-\u1736\u17d4-\u17d6\u17d8-\u17da\u1800-\u180a\u1944-\u1945\u1a1e-\u1a1f\u1aa0-\u1aa6\u1aa8-\u1aad\u1b4e-\u1b4f\u1b5a-\u1b60\u1b7d-\u1b7f\u1bfc-\u1bff\u1c3b-\u1c3f\u1c7e-\u1c7f\u1cc0-\u1cc7\u1cd3\u207d-\u207e\u208d-\u208e\u2cf9-\u2cfc\u2cfe-\u2cff\u2d70\u2e00-\u2e2e\u2e30-\u2e4f\u2e52-\u2e5d\u303d\u30a0\u30fb\ua4fe-\ua4ff\ua60d-\ua60f\ua673\ua67e\ua6f2-\ua6f7\ua874-\ua877\ua8ce-\ua8cf\ua8f8-\ua8fa\ua8fc\ua92e-\ua92f\ua95f\ua9c1-\ua9cd\ua9de-\ua9df\uaa5c-\uaa5f\uaade-\uaadf\uaaf0-\uaaf1\uabeb\ufd3e-\ufd3f`
/** Signs that are no part of words, from all scripts. Ranges, because property classes are ten times slower on long texts. */
const SIGNS = String.raw`\x00-#%-/:-@\[-^\x60{-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030\ufe10-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\u{1f000}-\u{1faff}${OF_SCRIPTS}`
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
