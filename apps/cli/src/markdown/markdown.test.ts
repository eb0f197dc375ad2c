import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { width } from '../editor/graphemes.js'
import { createStyle } from '../render/style.js'
import { createMarkdownStream } from './markdown.js'

const coloured = createStyle({ colors: true })

function show(
  source: string,
  { columns = 40, pieces = [source], style = createStyle({ colors: false }) } = {},
): string {
  const stream = createMarkdownStream({ columns: () => columns, style })
  return pieces.map((piece) => stream.add(piece)).join('') + stream.end()
}

/** `text` cut at the given places. */
function cut(text: string, places: readonly number[]): readonly string[] {
  const at = [0, ...places.map((place) => place % (text.length + 1)).toSorted((a, b) => a - b), text.length]
  return at.slice(1).map((end, index) => text.slice(at[index], end))
}

const ANSWER = `# What changed

The **parser that reads lines** is \`linear\` now, see [the log](https://example.com/log) and https://example.com.

1. First a step that is longer than one row of this screen.
   - nested, with *emphasis*
   \`\`\`ts
   const x = 1 // one
   \`\`\`
2. Second

> quoted **words** that go on for more than a row

| Name | Size |
|------|-----:|
| a | 1 |
| \`b\\|c\` | 22 |

- [ ] open
- [x] done
---
日本語のテキストは単語の間に空白がないのでどこでも改行できます。
`

it('shows headings, lists, quotes, tables and code without their signs', () => {
  expect(show(ANSWER)).toBe(`What changed

The parser that reads lines is linear
now, see the log
(https://example.com/log) and
https://example.com.

1. First a step that is longer than one
   row of this screen.
   • nested, with emphasis
   ── ts
   const x = 1 // one
   ──
2. Second

│ quoted words that go on for more than
│ a row

Name │ Size
─────┼─────
a    │    1
b|c  │   22

☐ open
☑ done
${'─'.repeat(38)}
日本語のテキストは単語の間に空白がない
のでどこでも改行できます。
`)
})

it('shows the same in whatever pieces the text comes, and never takes anything back', () => {
  const places = fc.array(fc.nat(ANSWER.length), { maxLength: 60 })
  fc.assert(
    fc.property(places, fc.integer({ min: 20, max: 100 }), (at, columns) => {
      expect(show(ANSWER, { columns, style: coloured, pieces: [...cut(ANSWER, at)] })).toBe(
        show(ANSWER, { columns, style: coloured }),
      )
    }),
  )
})

it('shows the same in whatever pieces hostile text comes, with every letter of it', () => {
  const signs = [
    '*',
    '**',
    '_',
    '`',
    '```',
    '~~~',
    '[',
    ']',
    '(',
    ')',
    '<',
    '>',
    '|',
    '|-|',
    '#',
    '- ',
    '1. ',
    '\n',
    '\n\n',
    ' ',
    'a',
    'word',
    '語',
    '\\',
    '&lt;',
    '!',
    '👩‍👩‍👧',
    'é',
  ]
  const text = fc.array(fc.constantFrom(...signs), { maxLength: 60 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.array(fc.nat(300), { maxLength: 20 }), (source, at) => {
      const whole = show(source, { style: coloured })
      expect(show(source, { style: coloured, pieces: [...cut(source, at)] })).toBe(whole)
      const letters = (shown: string) => (shown.match(/word|語/g) ?? []).length
      expect(letters(whole.replaceAll('\n', ''))).toBeGreaterThanOrEqual(letters(source.replace(/```.*|~~~.*|\n/g, '')))
    }),
    { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 500) },
  )
})

it('keeps rows within the screen, but code as it was written', () => {
  for (const columns of [16, 24, 80, 400])
    for (const row of show(ANSWER.replace('const x = 1 // one', 'x'), { columns }).split('\n'))
      expect(width(row)).toBeLessThanOrEqual(columns)
  const code = `const text = '${'x'.repeat(100)}'`
  expect(show(`\`\`\`js\n${code}\n\`\`\`\n`)).toContain(`\n${code}\n`)
  expect(show('x'.repeat(90), { columns: 41 })).toBe(`${'x'.repeat(40)}\n${'x'.repeat(40)}\n${'x'.repeat(10)}\n`)
})

it('shows words of a line before the line ends, but none whose look may change', () => {
  const stream = createMarkdownStream({ columns: () => 80, style: coloured })
  expect(stream.add('Some words ')).toBe('Some words')
  expect(stream.add('and **bold ones')).toBe(' and')
  expect(stream.add('** and more ')).toBe(
    ' \u001B[1mbold\u001B[22m\u001B[1m \u001B[22m\u001B[1mones\u001B[22m and more',
  )
  expect(stream.end()).toBe('\n')
})

it('leaves names and sums alone: what only looks like emphasis', () => {
  expect(show('call __init__ of my_own_module, 3 * 4 * 5, a_b_', { columns: 80 })).toBe(
    'call __init__ of my_own_module, 3 * 4 * 5, a_b_\n',
  )
  expect(show('an open **bold and `code', { columns: 80 })).toBe('an open **bold and `code\n')
})

it('colours code across its lines', () => {
  const shown = show('```python\nx = """one\ntwo"""\n# three\n```\n', {
    style: coloured,
    pieces: ['```python\nx = """one\n', 'two"""\n# th', 'ree\n```\n'],
  })
  expect(shown).toContain('\u001B[32mtwo"""\u001B[39m')
  expect(shown).toContain('\u001B[2m# three\u001B[22m')
  expect(show('```nonsense\n<b>&amp;\n```\n')).toBe('── nonsense\n<b>&amp;\n──\n')
})

it('breaks cells of a table that is too wide, and makes a list of one with too many columns', () => {
  const table = '| A | B |\n|---|---|\n| short | a description of many words that does not fit |\n'
  expect(show(table, { columns: 30 })).toBe(
    [
      'A     │ B',
      `──────┼${'─'.repeat(22)}`,
      'short │ a description of many',
      '      │ words that does not',
      '      │ fit',
      '',
    ].join('\n'),
  )
  expect(show('| one | two | three |\n|-|-|-|\n| 1 | 2 | 3 |\n', { columns: 16 })).toBe('one: 1\ntwo: 2\nthree: 3\n\n')
  expect(show('| no table |\n| at all |\n')).toBe('| no table |\n| at all |\n')
})

it('shows code and tables where they stand, not in the list above them', () => {
  expect(show('- one\n\n```\ncode\n```\n- two\n```\nmore\n```\n')).toBe('• one\n\n──\ncode\n──\n• two\n──\nmore\n──\n')
})

it('obeys nothing that an entity spells', () => {
  expect(stripVTControlCharacters(show('&#27;[2J &#7; &#8238; &#65; &amp;'))).toBe('&#27;[2J &#7; &#8238; A &\n')
  expect(show('[a](http://x/&#27;[2J) `&#27;` <http://x/&#27;>', { style: coloured })).not.toContain('\u001B[2J')
})

it('shows a table of ten thousand rows, a fence without an end and a line of a megabyte', () => {
  expect(show(`|a|b|\n|-|-|\n${'|1|2|\n'.repeat(10_000)}`).split('\n')).toHaveLength(10_003)
  expect(show(`\`\`\`js\n${'let a\n'.repeat(10_000)}`).split('\n')).toHaveLength(10_002)
  expect(show('['.repeat(1_000_000)).replaceAll('\n', '')).toHaveLength(1_000_000)
  expect(show('word '.repeat(200_000)).split('\n').length).toBeGreaterThan(20_000)
})

it.each([20, 40, 60, 80, 96])('no row of a table of many columns is wider than %i columns', (columns) => {
  for (let count = 2; count < 14; count++) {
    const cells = (word: string) => `| ${Array.from({ length: count }, (_, at) => `${word} ${at}`).join(' | ')} |\n`
    const rows = show(`${cells('column')}${'|---'.repeat(count)}|\n${cells('a value of')}`, { columns }).split('\n')
    expect(Math.max(...rows.map((row) => width(row)))).toBeLessThanOrEqual(columns)
  }
})
