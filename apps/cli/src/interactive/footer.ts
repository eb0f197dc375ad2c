import type { EditorState } from '../editor/editor.js'
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

/** The rows of the footer and the place of the cursor. */
export function drawFooter(parts: FooterParts): Footer {
  const { bar, columns, rows, style } = parts
  const row =
    bar !== null && rows >= LEAST_ROWS_FOR_BAR
      ? drawBar(bar, { columns, style, ...(parts.fields && { fields: parts.fields }) })
      : null
  const footer = drawParts(parts, Math.max(MIN_INPUT_ROWS, rows - 2) - (row === null ? 0 : 1))
  return row === null || footer.rows.length === 0 ? footer : { ...footer, rows: [...footer.rows, row] }
}

function drawParts(parts: FooterParts, room: number): Footer {
  const { columns, style } = parts
  if (parts.picker) return drawPicker(parts.picker, { columns, room, style })
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
  const below = parts.menu && left > 0 ? drawMenu(parts.menu, columns, left, style) : []
  return {
    rows: [...status.map(style.dim), ...line.rows, ...below],
    cursor: { row: status.length + line.cursor.row, column: line.cursor.column },
  }
}
