import { findExact } from './exact.js'
import type { Strategy } from './strategy.js'

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
export const indentationEscaped: Strategy = {
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
