import fc from 'fast-check'
import { expect, it } from 'vitest'
import { matchGlob } from './glob.js'

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 500)

/** The same in other words. */
function toPattern(glob: string): RegExp {
  const parts = glob.match(/\\[\s\S]|\*+|[\s\S]/gu) ?? []
  const source = parts.map((part) => {
    if (part.startsWith('*')) return '.*'
    if (part === '?') return '.'
    const literal = part.length > 1 && part.startsWith('\\') ? part.slice(1) : part
    return literal.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  })
  return new RegExp(`^(?:${source.join('')})$`, 'su')
}

it('matches what a regular expression made of it matches', () => {
  const text = (...more: readonly string[]) =>
    fc.array(fc.constantFrom('a', 'b', '/', '.', '\u{1F600}', ...more), { maxLength: 8 }).map((all) => all.join(''))
  fc.assert(
    fc.property(text('*', '?', '\\*', '\\?'), text('*', '?'), (glob, input) => {
      expect(matchGlob(glob, input), `${glob} of ${input}`).toBe(toPattern(glob).test(input))
    }),
    { numRuns: RUNS },
  )
})

it.each([
  ['rm *', 'rm -rf dist', true],
  ['*://bad.example/*', 'curl https://bad.example/x', true],
  ['*://bad.example/*', '/work/a.ts', false],
  ['a\\*b', 'a*b', true],
  ['a\\*b', 'axb', false],
  ['', '', true],
  ['*', '', true],
])('%j of %j: %s', (glob, text, expected) => {
  expect(matchGlob(glob, text)).toBe(expected)
})
