import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeGlob, matchGlob } from './glob.js'
import { parseRules } from './index.js'

describe('parseRules', () => {
  it('reads both forms and reports the rest, a line each', () => {
    const record = {
      'terminal.*': 'ask',
      'file.write': 'allow',
      'terminal(git push*)': 'ask',
      'write_file(src/**)': 'deny',
      'terminal(echo (a))': 'allow',
      '*': 'ask',
      'browser.*': 'deny',
      'terminal(': 'allow',
      'file.read': 'sometimes',
      constructor: 'allow',
    }
    const { rules, problems } = parseRules(record)
    expect(rules.map(({ pattern, effect }) => `${pattern}: ${effect}`)).toEqual([
      'terminal.*: ask',
      'file.write: allow',
      'terminal(git push*): ask',
      'write_file(src/**): deny',
      'terminal(echo (a)): allow',
      '*: ask',
    ])
    expect(problems).toHaveLength(4)
    expect(problems[0]).toMatch(/^"browser\.\*" names nothing known; use one of \*, terminal, /)
    expect(problems[2]).toBe('"file.read" must be allow, ask or deny, not "sometimes".')
  })
})

describe('matchGlob', () => {
  it.each([
    ['a*c', 'abc', true],
    ['a*c', 'ac', true],
    ['a*c', 'abd', false],
    ['a?c', 'ac', false],
    ['*', '', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['git push*', 'git push', true],
    ['a.c', 'abc', false],
  ])('%s against %s is %s', (pattern, text, expected) => {
    expect(matchGlob(pattern, text)).toBe(expected)
  })

  it.each([
    ['src/*', 'src/a', true],
    ['src/*', 'src/a/b', false],
    ['src/**', 'src/a/b', true],
    ['**/x', 'x', true],
    ['**/x', 'a/b/x', true],
    ['a/?', 'a//', false],
  ])('as a path %s against %s is %s', (pattern, text, expected) => {
    expect(matchGlob(pattern, text, { path: true })).toBe(expected)
  })

  it('matches escaped text with itself only', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, other) => {
        expect(matchGlob(escapeGlob(text), other)).toBe(text === other)
        expect(matchGlob(escapeGlob(text), text)).toBe(true)
      }),
    )
  })

  it('stays fast on patterns made to backtrack', () => {
    expect(matchGlob('*a'.repeat(30), `${'a'.repeat(2000)}b`)).toBe(false)
  })
})
