import { graphemes, width } from './graphemes.js'

/** Rows of text and where the cursor stands in them, both counted from 0. */
export interface Layout {
  readonly rows: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number }
}

/** What is laid out: the prompt stands before the first row, as much room before the others. */
interface LayoutOptions {
  readonly prompt: string
  readonly text: string
  /** An index into `text`. */
  readonly cursor: number
  readonly columns: number
  /** Rows around the cursor that are kept. */
  readonly maxRows: number
}

/** The rows a line takes. None is as wide as the screen, so that the terminal never breaks one by itself. */
export function layoutLine({ prompt, text, cursor, columns, maxRows }: LayoutOptions): Layout {
  const indent = ' '.repeat(width(prompt))
  const limit = Math.max(columns - 1, indent.length + 2)
  const rows: string[] = []
  const place = { row: 0, column: indent.length }
  let row = prompt
  let taken = indent.length
  let index = 0
  const breakRow = () => {
    rows.push(row)
    row = indent
    taken = indent.length
  }
  for (const piece of graphemes(text)) {
    const columnsOfPiece = piece === '\n' ? 0 : width(piece)
    if (taken + columnsOfPiece > limit) breakRow()
    if (index === cursor) Object.assign(place, { row: rows.length, column: taken })
    if (piece === '\n') breakRow()
    else row += piece
    taken += columnsOfPiece
    index += piece.length
  }
  if (index === cursor) {
    if (taken >= limit) breakRow()
    Object.assign(place, { row: rows.length, column: taken })
  }
  rows.push(row)
  const first = Math.max(0, Math.min(place.row - maxRows + 1, rows.length - maxRows))
  const from = Math.min(first, place.row)
  return { rows: rows.slice(from, from + maxRows), cursor: { row: place.row - from, column: place.column } }
}
