import { expect, it } from 'vitest'
import type { Output } from '../io.js'
import { renderTable } from './command-table.js'

const output = (columns: number) => ({ isTTY: true, colors: false, columns: () => columns }) as unknown as Output
const rowsOf = (...cells: readonly (readonly string[])[]) => ({ rows: cells.map((row) => ({ cells: row })) })

it('keeps cells beside each other where there is room', () => {
  expect(renderTable(rowsOf(['now', 'waiting for you']), output(40))).toBe('now  waiting for you\n')
  expect(renderTable(rowsOf(['title', '2', '200 in']), output(40))).toBe('title  2  200 in\n')
})

it('puts them below each other in a narrow window, no row wider than that', () => {
  const pairs = rowsOf(['now', 'waiting for you, 8 messages'], ['problems', 'none known; hermes doctor looks closer'])
  expect(renderTable(pairs, output(20))).toBe(
    'now\n  waiting for you,\n  8 messages\nproblems\n  none known;\n  hermes doctor\n  looks closer\n',
  )
  const table = rowsOf(['judging the goal', '2', '2000 in', '90 % cached', '$0.0200'])
  expect(renderTable(table, output(40))).toBe('judging the goal\n  2 · 2000 in · 90 % cached · $0.0200\n')
})
