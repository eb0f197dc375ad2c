import { findExact } from './exact.js'
import type { Strategy } from './strategy.js'

const ESCAPE = /\\(n|t|r|"|'|`|\\)/g
const MEANING: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }
const meaning = (letter: string): string => MEANING[letter] ?? letter

/** Whether `text` holds plainly what `sample` has escaped. */
function isMixed(text: string, sample: string): boolean {
  const plain = text.replace(ESCAPE, '')
  return [...sample.matchAll(ESCAPE)].some(([, letter]) => plain.includes(meaning(letter!)))
}

const unescaped = (text: string): string => text.replace(ESCAPE, (_, letter: string) => meaning(letter))

/** Text that was escaped once too often, as `\n` or `\"`. Both strings must be escaped throughout. */
export const escapeNormalised: Strategy = {
  name: 'escape-normalised',
  find(text, search) {
    const plain = unescaped(search)
    return plain === search || plain.trim() === '' || isMixed(search, search) ? [] : findExact(text, plain)
  },
  adapt: ({ search, replacement }) =>
    isMixed(replacement, search) || isMixed(replacement, replacement) ? null : unescaped(replacement),
  singleOnly: true,
}
