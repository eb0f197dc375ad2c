import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cleanOutput } from './clean-output.js'

it.each([
  ['colours', '\x1b[1;31merror\x1b[0m: no', 'error: no'],
  ['titles and links', '\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\', 'alink'],
  ['cursor movement and modes', '\x1b[?25l\x1b[2K\x1b[1Gdone\x1b[?25h\x1b(B\x1b7', 'done'],
  ['other control characters', 'a\x00b\x07c\x0bd\x7fe', 'abcde'],
  ['a cut-off escape', 'end\x1b[', 'end'],
])('removes %s', (_what, raw, clean) => {
  expect(cleanOutput(raw)).toBe(clean)
})

it.each([
  ['a progress line as it ended up', ' 10%\r 50%\r100%\ndone\n', '100%\ndone\n'],
  ['what a shorter rewrite leaves', 'abcdef\rxy\n', 'xycdef\n'],
  ['overstruck characters', 'N\bNA\bAM\bM', 'NAM'],
  ['Windows line ends as plain ones', 'a\r\nb\r\n', 'a\nb\n'],
  ['a last line that was only returned from', 'working\r', 'working'],
])('shows %s', (_what, raw, clean) => {
  expect(cleanOutput(raw)).toBe(clean)
})

it('keeps newlines, tabs and text in any language', () => {
  const text = 'één\tzwei\n三 🙂\n'
  expect(cleanOutput(text)).toBe(text)
})

it('leaves no control characters, and nothing to do for a second pass', () => {
  const piece = fc.constantFrom(
    '\x1b',
    '[',
    ']',
    '0',
    'm',
    ';',
    '\r',
    '\n',
    '\b',
    '\t',
    '\x07',
    '\\',
    'a',
    'é',
    '\x9b',
    '?',
  )
  fc.assert(
    fc.property(fc.string({ unit: piece, maxLength: 40 }), (text) => {
      const clean = cleanOutput(text)
      expect(clean).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/)
      expect(cleanOutput(clean)).toBe(clean)
    }),
  )
})
