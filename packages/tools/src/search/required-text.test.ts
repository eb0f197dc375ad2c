import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toRegExp } from './line-matcher.js'
import { requiredText } from './required-text.js'

const required = (pattern: string) => requiredText(toRegExp(pattern))

describe('text that every match holds', () => {
  it.each([
    ['needle', 'needle'],
    ['class \\w+Searcher\\b', 'Searcher'],
    ['^\\s*import .+ from', 'import '],
    ['a\\.b/c\\(', 'a.b/c('],
    ['colou?r', 'colo'],
    ['ab+c', 'ab'],
    ['ab{2,3}cd', 'cd'],
    ['(one|two) three', ' three'],
    ['x(?!y)needle', 'needle'],
    ['[a|b(]needle', 'needle'],
    ['über.*😀!', 'über'],
  ])('is found in %s: %s', (pattern, text) => expect(required(pattern)).toBe(text))

  it.each(['(?i)needle', 'one|two', 'a*', '(needle)?', '\\d+', '[abc]', '\\x41bc', '\\u0041', '(a)\\1'])(
    'is not looked for in %s',
    (pattern) => expect(required(pattern)).toBeNull(),
  )

  it('is in whatever any pattern matches', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      'é',
      '😀',
      '\\.',
      '\\w',
      '.',
      '^',
      '$',
      '[ab]',
      '[^)]',
      '(a|b)',
      '(?:b)',
      '(?=a)',
    )
    const repeat = fc.constantFrom('', '', '', '*', '+', '?', '{0,2}', '{2}', '+?')
    const part = fc.tuple(atom, repeat).map((parts) => parts.join(''))
    const pattern = fc.array(fc.oneof({ weight: 9, arbitrary: part }, { weight: 1, arbitrary: fc.constant('|') }))
    const line = fc.array(fc.constantFrom('a', 'b', 'é', '😀', '.', ')')).map((chars) => chars.join(''))
    const numRuns = Number(process.env['HERMES_TEST_RUNS'] ?? 500)
    fc.assert(
      fc.property(pattern, line, (parts, text) => {
        let regex: RegExp
        try {
          regex = toRegExp(parts.join(''))
        } catch {
          return true
        }
        return !regex.test(text) || text.includes(requiredText(regex) ?? '')
      }),
      { numRuns },
    )
  })
})
