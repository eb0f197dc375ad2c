import type { EditorState } from '../editor/editor.js'
import { width } from '../editor/graphemes.js'
import { layoutLine } from '../editor/layout.js'
import type { PickerState } from '../editor/picker.js'
import { clip, type Style } from '../render/style.js'
import type { Footer } from '../screen/screen.js'
import type { ShownMenu } from './completion-menu.js'
import { drawMenu } from './menu-rows.js'
import { drawPicker } from './picker-rows.js'
import { type BarField, drawBar, type SessionBar } from './session-bar.js'

/** What stands below the output. */
interface FooterParts {
  readonly status: readonly string[]
  /** A question takes the place of the line. */
  readonly picker: PickerState | null
  /** `null` where nothing is typed but answers. */
  readonly editor: EditorState | null
  readonly menu: ShownMenu | null
  readonly bar: SessionBar | null
  /** What the bar tells. Default: all. */
  readonly fields?: readonly BarField[]
  readonly columns: number
  readonly rows: number
  readonly style: Style
}

const MIN_INPUT_ROWS = 3
/** Keys are commands now. */
const VI_PROMPT = ':'
/** A smaller screen is for the line alone. */
const LEAST_ROWS_FOR_BAR = 10
/** A smaller one has no upper edge. */
const LEAST_ROWS_FOR_EDGE = 12
const MAX_EDGE = 40

/**
 * The rows of the footer and the place of the cursor. What is typed or asked stands in a frame, whose lower edge is the bar. It has no sides, so
 * that a line can be copied with the mouse as it is.
 */
export function drawFooter(parts: FooterParts): Footer {
  const { bar, columns, rows, style } = parts
  const row =
    bar !== null && rows >= LEAST_ROWS_FOR_BAR
      ? drawBar(bar, { columns, style, ...(parts.fields && { fields: parts.fields }) })
      : null
  const edge = row !== null && rows >= LEAST_ROWS_FOR_EDGE ? [style.dim(upperEdge(width(row)))] : []
  const footer = drawParts(parts, Math.max(MIN_INPUT_ROWS, rows - 2) - (row === null ? 0 : 1) - edge.length, edge)
  return row === null || footer.rows.length === 0 ? footer : { ...footer, rows: [...footer.rows, row] }
}

/** As wide as the bar. A terminal that gets narrower breaks a longer one in two before it says so. */
function upperEdge(columns: number): string {
  return `╭${'─'.repeat(Math.min(columns, MAX_EDGE) - 1)}`
}

function drawParts(parts: FooterParts, room: number, edge: readonly string[]): Footer {
  const { columns, style } = parts
  if (parts.picker) {
    const line = typedLine(parts)
    const { rows, cursor } = drawPicker(parts.picker, { columns, room: room - line.length, style })
    return below(edge, { rows: [...rows, ...line], cursor })
  }
  const status = parts.status.slice(-Math.max(0, room - MIN_INPUT_ROWS)).map((line) => clip(line, columns - 1))
  if (!parts.editor) return { rows: status, cursor: null }
  const { text, cursor } = parts.editor
  const line = layoutLine({
    prompt: `${style.accent(parts.editor.vi?.mode === 'normal' ? VI_PROMPT : style.prompt)} `,
    text,
    cursor,
    columns,
    maxRows: Math.max(MIN_INPUT_ROWS, room - status.length),
  })
  const left = room - status.length - line.rows.length
  const menu = parts.menu && left > 0 ? drawMenu(parts.menu, columns, left, style) : []
  return below([...status.map(style.dim), ...edge], { rows: [...line.rows, ...menu], cursor: line.cursor })
}

/** What is being typed stays in sight below a question. */
function typedLine({ editor, columns, style }: FooterParts): readonly string[] {
  if (!editor || editor.text === '') return []
  return [
    style.dim(clip(`${style.prompt} ${editor.text.replaceAll('\n', ' ⏎ ')}  (Esc: to the question)`, columns - 1)),
  ]
}

function below(rows: readonly string[], { rows: others, cursor }: Footer): Footer {
  return { rows: [...rows, ...others], cursor: cursor && { ...cursor, row: rows.length + cursor.row } }
}
