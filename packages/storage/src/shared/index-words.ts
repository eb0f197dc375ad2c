import { normalized, withoutAccents } from './accents.js'

/** Longer words are found by their beginnings. */
const MAX_WORD_CHARS = 200
const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu

/** The words of a text as the index has them: in lower case and without accents. They consist of letters, digits and marks, so nothing in them is syntax. */
export function indexWords(text: string): readonly string[] {
  const folded = withoutAccents(normalized(text, 'NFC')).toLowerCase()
  return (folded.match(WORD) ?? []).map((word) => word.slice(0, MAX_WORD_CHARS).toWellFormed())
}
