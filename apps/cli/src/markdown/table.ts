import type { Style } from '../render/style.js'
import { type Paint, rowsOf, type Span, spansWidth } from './flow.js'
import { spansOf } from './inline.js'

type Align = 'left' | 'right' | 'center'

/** A table whose widths are chosen; more rows may follow. */
export interface Table {
  /** Lines of the head, or of a row below it. */
  row(line: string): readonly string[]
  readonly head: readonly string[]
}

/** Narrower columns make words illegible. */
const LEAST_COLUMN = 6
const plain: Paint = (text) => text

/** Whether a line can be the second of a table. */
export function isDelimiterRow(line: string): boolean {
  return /^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$/.test(line.trim())
}

/** Lays a table out by its first lines: head, the line below it, and rows. Cells break where it would be wider than `columns`. */
export function createTable(lines: readonly string[], columns: number, style: Style): Table {
  const heads = cellsOf(lines[0]!)
  const aligns = cellsOf(lines[1]!).map(alignOf)
  const count = heads.length
  const spans = (line: string, paint: Paint) => fill(cellsOf(line), count).map((cell) => spansOf(cell, style, paint))
  const natural = heads.map(() => 1)
  for (const line of [lines[0]!, ...lines.slice(2)])
    for (const [index, cell] of spans(line, plain).entries())
      natural[index] = Math.max(natural[index]!, spansWidth(cell))
  const widths = fit(natural, columns - 3 * (count - 1))
  if (!widths) return createList(heads, columns, style)
  const bar = style.dim(' │ ')
  const lay = (cells: readonly (readonly Span[])[]) => {
    const rows = cells.map((cell, index) => rowsOf(cell, widths[index]!))
    const height = Math.max(...rows.map((cell) => cell.length))
    return Array.from({ length: height }, (_, line) =>
      rows
        .map((cell, index) => pad(cell[line] ?? '', widths[index]!, aligns[index] ?? 'left'))
        .join(bar)
        .trimEnd(),
    )
  }
  const rule = style.dim(widths.map((size) => '─'.repeat(size)).join('─┼─'))
  return { head: [...lay(spans(lines[0]!, style.bold)), rule], row: (line) => lay(spans(line, plain)) }
}

/** Where columns would be too narrow each cell stands on a line of its own. */
function createList(heads: readonly string[], columns: number, style: Style): Table {
  const lay = (cell: string, index: number) =>
    rowsOf([{ text: `${heads[index]}: `, paint: style.bold }, ...spansOf(cell, style, plain)], columns)
  return { head: [], row: (line) => [...fill(cellsOf(line), heads.length).flatMap(lay), ''] }
}

/** Widths that go into `room` together, the widest giving way first; null where words would become illegible. */
function fit(natural: readonly number[], room: number): readonly number[] | null {
  const sum = natural.reduce((total, size) => total + size, 0)
  if (sum <= room) return natural
  if (room < natural.length * LEAST_COLUMN) return null
  let left = room
  let open = natural.map((size, index) => ({ size, index })).sort((a, b) => a.size - b.size)
  const widths = [...natural]
  while (open.length > 0) {
    const share = Math.floor(left / open.length)
    const { size, index } = open[0]!
    widths[index] = Math.min(size, share)
    left -= widths[index]!
    open = open.slice(1)
  }
  return widths
}

function pad(text: string, size: number, align: Align): string {
  const room = Math.max(0, size - spansWidth([{ text: text.replace(/\u001B\[[\d;]*m/g, ''), paint: plain }]))
  if (align === 'right') return ' '.repeat(room) + text
  if (align === 'center') return ' '.repeat(Math.floor(room / 2)) + text + ' '.repeat(Math.ceil(room / 2))
  return text + ' '.repeat(room)
}

function alignOf(cell: string): Align {
  if (!cell.endsWith(':')) return 'left'
  return cell.startsWith(':') ? 'center' : 'right'
}

/** Cells of a line; a bar in code or after a backslash separates nothing. */
function cellsOf(line: string): readonly string[] {
  const cells: string[] = []
  let cell = ''
  let isCode = false
  const inner = line.trim().replace(/^\|/, '')
  for (let at = 0; at < inner.length; at++) {
    const sign = inner[at]!
    if (sign === '\\' && inner[at + 1] === '|') {
      cell += '|'
      at++
    } else if (sign === '|' && !isCode) {
      cells.push(cell.trim())
      cell = ''
    } else {
      if (sign === '`') isCode = !isCode && inner.indexOf('`', at + 1) !== -1
      cell += sign
    }
  }
  if (cell.trim() !== '') cells.push(cell.trim())
  return cells
}

function fill(cells: readonly string[], count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => cells[index] ?? '')
}
