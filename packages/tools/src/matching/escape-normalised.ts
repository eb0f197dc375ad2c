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
    if (isMixed(replacement, search) || isMixed(replacement, replacement)) return null
    const letters = [...replacement.matchAll(ESCAPE)].map(([, letter]) => letter!)
    if (letters.includes('n')) return null
    return replacement.replace(ESCAPE, (escaped, letter: string) =>
      letter in CONTROL && !region.includes(meaning(letter)) ? escaped : meaning(letter),
    )
  },
  singleOnly: true,
}
