import { expect, it } from 'vitest'
import { isSlip, wordsOf } from './similarity.js'

it('knows the punctuation of every script for no part of a word, but what names of programs have', () => {
  const signs = Array.from({ length: 0xffff }, (_, at) => String.fromCharCode(at)).filter((sign) => /\p{P}/u.test(sign))
  expect(signs.length).toBeGreaterThan(500)
  expect(signs.filter((sign) => wordsOf(`a${sign}b`).size !== 2)).toEqual(['_'])
})

it.each([
  ['Arabic', 'قال الرجل، ثم ذهب؟', 'قال الرجل؛ ثم ذهب؟'],
  ['Hebrew', 'אמר אליו\u05c3 הלך', 'אמר אליו\u05f4 הלך'],
  ['Devanagari', 'राम घर गया। सीता', 'राम घर गया॥ सीता'],
])('does not take another sign of %s for a slip within a word', (_, found, requested) => {
  expect(isSlip(found, requested, new Set())).toBe(false)
  expect(isSlip(found, found, new Set())).toBe(true)
})
