import measure from 'fast-string-truncated-width'
import { describe, expect, it } from 'vitest'
import { width } from '../editor/graphemes.js'
import { clip, PrintableStream, printable, wrap } from './style.js'

describe('clip', () => {
  it('cuts what is far longer than a row', () => {
    expect(clip('ab '.repeat(1_000_000), 6)).toBe('ab ab…')
    expect(clip('ไทย'.repeat(1_000_000), 4)).toBe('ไทย…')
  })

  it.each([
    ['plain text', 10, 'plain text'],
    ['plain text!', 10, 'plain tex…'],
    ['two\n  lines\tand a tab', 40, 'two lines  and a tab'],
    ['日本語のファイル', 8, '日本語…'],
    ['📖 read', 7, '📖 read'],
    ['📖 reads', 7, '📖 rea…'],
    ['👩‍👩‍👧 family', 5, '👩‍👩‍👧 f…'],
    ['é́é́é́', 2, 'é́…'],
    ['anything', 0, ''],
  ])('brings %j into %i columns as %j', (text, columns, clipped) => {
    expect(clip(text, columns)).toBe(clipped)
  })
})

describe('wrap', () => {
  it('breaks between words, keeps lines and indents, and leaves long words whole', () => {
    expect(wrap('one two three four', 9)).toBe('one two\nthree\nfour')
    expect(wrap('日本 語 a', 7)).toBe('日本 語\na')
    expect(wrap('a\n  b  c', 40)).toBe('a\n  b  c')
    expect(wrap('unbreakable word', 4)).toBe('unbreakable\nword')
  })
})

it('clip never gives more columns than there are, whatever signs stand together', () => {
  const line = '╰ claude-opus · 12% of 200k · 日本 · e\u0301 👩‍💻 · end'
  for (let columns = 1; columns < 50; columns++) expect(width(clip(line, columns))).toBeLessThanOrEqual(columns)
})

describe('printable', () => {
  it('takes out what would move the cursor, change the title or ring the bell, and keeps lines', () => {
    expect(printable('a\u001B[2Jb\u001B]0;title\u0007c\u0007\rd\n\te\u009B1A')).toBe('abcd\n\te')
    expect(printable('half an escape \u001B')).toBe('half an escape ')
  })

  it('shows what would turn the order of letters around', () => {
    expect(printable('safe\u202Egnp.exe\u2066 and \u05D0\u200F1')).toBe('safe\\u202egnp.exe\\u2066 and \u05D0\u200F1')
  })
})

describe('PrintableStream', () => {
  it('takes out escape sequences wherever a piece ends', () => {
    const text = 'a\u001B[31mb\u001B]0;title\u0007c\u001B]8;;https://x\u001B\\d\u009B1Ae\u001B(Bf\n'
    for (let first = 0; first <= text.length; first++)
      for (let second = first; second <= text.length; second++) {
        const stream = new PrintableStream()
        const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)]
        expect(pieces.map((piece) => stream.add(piece)).join('') + stream.end()).toBe('abcdef\n')
      }
  })

  it('keeps back no more than an escape sequence has', () => {
    const stream = new PrintableStream()
    expect(stream.add(`\u001B]${'x'.repeat(5000)}`)).toContain('xxx')
    expect(stream.add('shown')).toBe('shown')
  })
})

it('knows the columns of usual letters and signs as the library does that measures all others', () => {
  const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code))
  expect(all.filter((sign) => !/\p{C}/u.test(sign) && width(sign) !== measure(sign).width)).toEqual([])
})
