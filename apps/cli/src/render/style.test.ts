import { describe, expect, it } from 'vitest'
import { clip, printable, wrap } from './style.js'

describe('clip', () => {
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

describe('printable', () => {
  it('takes out what would move the cursor, change the title or ring the bell, and keeps lines', () => {
    expect(printable('a\u001B[2Jb\u001B]0;title\u0007c\u0007\rd\n\te\u009B1A')).toBe('abcd\n\te')
    expect(printable('half an escape \u001B')).toBe('half an escape ')
  })
})
