import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { graphemes, width } from './graphemes.js'
import { layoutLine } from './layout.js'

const layout = (text: string, more: Partial<Parameters<typeof layoutLine>[0]> = {}) =>
  layoutLine({ prompt: '> ', text, cursor: text.length, columns: 10, maxRows: 100, ...more })

describe('layoutLine', () => {
  it('breaks a line before the edge of the screen and keeps lines apart', () => {
    expect(layout('')).toEqual({ rows: ['> '], cursor: { row: 0, column: 2 } })
    expect(layout('abcdefgh')).toEqual({ rows: ['> abcdefg', '  h'], cursor: { row: 1, column: 3 } })
    expect(layout('a\nb')).toEqual({ rows: ['> a', '  b'], cursor: { row: 1, column: 3 } })
  })

  it('gives the cursor a row of its own after a full one', () => {
    expect(layout('abcdefg')).toEqual({ rows: ['> abcdefg', '  '], cursor: { row: 1, column: 2 } })
  })

  it('never breaks a wide character', () => {
    expect(layout('日本語字')).toEqual({ rows: ['> 日本語', '  字'], cursor: { row: 1, column: 4 } })
    expect(layout('日本語', { cursor: 1 }).cursor).toEqual({ row: 0, column: 4 })
  })

  it('shows the rows around the cursor when there are too many', () => {
    const text = '1\n2\n3\n4\n5'
    expect(layout(text, { maxRows: 2 }).rows).toEqual(['  4', '  5'])
    expect(layout(text, { maxRows: 2, cursor: 0 })).toEqual({ rows: ['> 1', '  2'], cursor: { row: 0, column: 2 } })
  })

  it('keeps every row narrower than the screen and the cursor at its character', () => {
    const characters = fc.array(fc.constantFrom('a', ' ', '日', '👩‍👩‍👧', 'é́', '\n'), { maxLength: 60 })
    fc.assert(
      fc.property(characters, fc.nat(60), fc.integer({ min: 6, max: 40 }), (pieces, at, columns) => {
        const text = pieces.join('')
        const before = graphemes(text).slice(0, at).join('')
        const { rows, cursor } = layout(text, { cursor: before.length, columns })
        for (const row of rows) expect(width(row)).toBeLessThan(columns)
        expect(cursor.row).toBeLessThan(rows.length)
        const above = rows.slice(0, cursor.row).map((row) => row.slice(2))
        const inRow = graphemes(rows[cursor.row]!.slice(2))
        const taken: string[] = []
        while (width(taken.join('')) < cursor.column - 2) taken.push(inRow[taken.length]!)
        expect(above.join('') + taken.join('')).toBe(before.replaceAll('\n', ''))
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 200) },
    )
  })
})
