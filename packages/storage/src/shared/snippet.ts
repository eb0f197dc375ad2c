import { withoutAccents } from './accents.js'
import { isUnspaced } from './index-text.js'
import type { SearchTerm } from './search-query.js'

const BEFORE_CHARS = 100
const AFTER_CHARS = 220
const MAX_MATCHES = 200
/** Of a word or phrase that is longer the beginning is shown. */
const MAX_MATCH_CHARS = 500

interface Match {
  readonly from: number
  readonly to: number
  readonly term: number
}

/**
 * The part of a text where most of `terms` stand close together, each between `>>>` and `<<<`. `texts` are tried in turn; where
 * none has a match, it is the beginning of the first.
 */
export function makeSnippet(texts: readonly (string | null)[], terms: readonly SearchTerm[]): string {
  const present = texts.filter((text): text is string => text !== null && text !== '')
  for (const isWhole of [true, false]) {
    for (const text of present) {
      const matches = findMatches(text, terms, isWhole)
      if (matches.length > 0) return mark(text, matches)
    }
  }
  const text = present[0] ?? ''
  const to = endOfWord(text, BEFORE_CHARS + AFTER_CHARS)
  return text.slice(0, to) + (to < text.length ? '…' : '')
}

/** `isWhole`: terms are whole words. Otherwise they may be parts of names. */
function findMatches(text: string, terms: readonly SearchTerm[], isWhole: boolean): readonly Match[] {
  const folded = withoutAccents(text)
  const matches: Match[] = []
  for (const [term, wanted] of terms.entries()) {
    for (const found of folded.matchAll(pattern(wanted, isWhole))) {
      matches.push({ from: found.index, to: found.index + found[0].length, term })
      if (matches.length >= MAX_MATCHES) break
    }
  }
  return matches.sort((left, right) => left.from - right.from || right.to - left.to)
}

/** The index knows words without their accents and in any case. */
function pattern({ text, isPrefix, isPart = false, forms = [] }: SearchTerm, isWhole: boolean): RegExp {
  const words = withoutAccents(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  const typed = words.join('[^\\p{L}\\p{N}]+')
  const body = isWhole && forms.length > 1 ? `(?:${[typed, ...forms].join('|')})` : typed
  if (!isWhole || isPart || isUnspaced(text)) return new RegExp(body, 'giu')
  return new RegExp(`(?<![\\p{L}\\p{N}])${body}${isPrefix ? '[\\p{L}\\p{N}]*' : '(?![\\p{L}\\p{N}])'}`, 'giu')
}

function mark(text: string, matches: readonly Match[]): string {
  const center = densest(matches)
  const from = startOfWord(text, center.from - BEFORE_CHARS)
  const to = endOfWord(text, Math.max(center.from + AFTER_CHARS, Math.min(center.to, center.from + MAX_MATCH_CHARS)))
  let snippet = from > 0 ? '…' : ''
  let at = from
  for (const match of matches) {
    const end = match === center ? Math.min(match.to, to) : match.to
    if (match.from < at || end > to) continue
    snippet += `${text.slice(at, match.from)}>>>${text.slice(match.from, end)}<<<`
    at = end
  }
  return snippet + text.slice(at, to) + (to < text.length ? '…' : '')
}

/** The first match with the most different terms after it. */
function densest(matches: readonly Match[]): Match {
  let best = matches[0]!
  let most = 0
  for (const match of matches) {
    const near = matches.filter(({ from, to }) => from >= match.from && to <= match.from + AFTER_CHARS)
    const count = new Set(near.map(({ term }) => term)).size
    if (count > most) [best, most] = [match, count]
  }
  return best
}

function startOfWord(text: string, at: number): number {
  if (at <= 0) return 0
  const blank = text.slice(at, at + 30).search(/\s/)
  return blank === -1 ? wholeCharacter(text, at) : at + blank + 1
}

function endOfWord(text: string, at: number): number {
  if (at >= text.length) return text.length
  const blank = text.slice(at, at + 30).search(/\s/)
  return blank === -1 ? wholeCharacter(text, at) : at + blank
}

/** Never between the halves of a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at
}
