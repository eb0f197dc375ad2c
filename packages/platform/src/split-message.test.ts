import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sizeIn, splitMessage } from './split-message.js'

const small = { unit: 'utf16', limit: 60 } as const

describe('splitMessage', () => {
  it('leaves what fits as it is, and says nothing of nothing', () => {
    expect(splitMessage('Hello.\n\n  there ', small)).toEqual(['Hello.\n\n  there '])
    expect(splitMessage('', small)).toEqual([])
    expect(splitMessage(' \n\n ', small)).toEqual([])
  })

  it('cuts between paragraphs, lines and words, in that order', () => {
    expect(splitMessage(`${'a '.repeat(20)}end\n\n${'b '.repeat(20)}end`, small)).toEqual([
      `${'a '.repeat(20)}end`,
      `${'b '.repeat(20)}end`,
    ])
    expect(splitMessage(`${'a'.repeat(40)}\n${'b'.repeat(40)}`, small)).toEqual(['a'.repeat(40), 'b'.repeat(40)])
    expect(splitMessage(`${'word '.repeat(11)}longer word`, small)).toEqual([
      `${'word '.repeat(11)}`.trim(),
      'longer word',
    ])
  })

  it('closes a code block that it cuts, and opens it again', () => {
    const parts = splitMessage(`Look:\n\`\`\`ts\n${'const a = 1\n'.repeat(8)}\`\`\`\nDone.`, small)
    expect(parts.length).toBeGreaterThan(1)
    for (const part of parts.slice(0, -1)) expect(part.endsWith('\n```')).toBe(true)
    for (const part of parts.slice(1)) expect(part.startsWith('```ts\n')).toBe(true)
    expect(parts.at(-1)).toMatch(/```\nDone\.$/)
  })

  it('keeps links, addresses and inline code whole', () => {
    const link = '[the manual of it](https://docs.test/a/b)'
    const parts = splitMessage(
      `${'word '.repeat(8)}${link} ${'word '.repeat(4)}\`rm -rf build\` ${'x'.repeat(30)} https://a.test/${'y'.repeat(20)}`,
      small,
    )
    expect(parts.some((part) => part.includes(link))).toBe(true)
    expect(parts.some((part) => part.includes('`rm -rf build`'))).toBe(true)
    expect(parts.some((part) => part.includes(`https://a.test/${'y'.repeat(20)}`))).toBe(true)
  })

  it('takes a word of a megabyte, and brackets without end, in linear time', () => {
    for (const text of ['x'.repeat(1_000_000), '['.repeat(200_000), '\u{1f600}'.repeat(100_000), '`'.repeat(100_000)]) {
      const parts = splitMessage(text, { unit: 'utf16', limit: 4096 })
      expect(parts.every((part) => part.length <= 4096 && part.isWellFormed())).toBe(true)
    }
  })

  it.each(['utf16', 'bytes', 'code-points'] as const)(
    'keeps every part within %s, and loses nothing but white space',
    (unit) => {
      const piece = fc.oneof(
        fc.constantFrom(
          '```\n',
          '```js\n',
          '~~~\n',
          '\n',
          '\n\n',
          ' ',
          '`a b`',
          '[l](https://x.test/y)',
          '# h\n',
          '\u{1f468}‍\u{1f469}',
          'ß',
          '\ud83d',
        ),
        fc.string({ unit: 'binary', maxLength: 30 }),
      )
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 40, max: 200 }), (pieces, limit) => {
          const text = pieces.join('')
          const parts = splitMessage(text, { unit, limit })
          for (const part of parts) expect(sizeIn(part, unit)).toBeLessThanOrEqual(limit)
          if (text.isWellFormed()) for (const part of parts) expect(part.isWellFormed()).toBe(true)
          if (!/```|~~~/.test(text)) expect(parts.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''))
        }),
        { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 150) },
      )
    },
  )
})
