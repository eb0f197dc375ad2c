import type { Completion } from '../editor/completion.js'
import type { EditorState } from '../editor/editor.js'
import { width } from '../editor/graphemes.js'
import { type Layout, layoutLine } from '../editor/layout.js'
import { isTyping, type PickerState } from '../editor/picker.js'
import { clip, printable, type Style, wrap } from '../render/style.js'
import type { Footer } from '../screen/screen.js'

/** What stands below the output. */
interface FooterParts {
  readonly status: readonly string[]
  /** A question takes the place of the line. */
  readonly picker: PickerState | null
  /** `null` where nothing is typed but answers. */
  readonly editor: EditorState | null
  readonly completion: { readonly completion: Completion; readonly at: number | null } | null
  readonly columns: number
  readonly rows: number
  readonly style: Style
}

const MAX_CANDIDATE_ROWS = 4
const MIN_INPUT_ROWS = 3
const HIDDEN = '•'

/** The rows of the footer and the place of the cursor. */
export function drawFooter(parts: FooterParts): Footer {
  const { columns, rows, style } = parts
  const room = Math.max(MIN_INPUT_ROWS, rows - 2)
  if (parts.picker) return drawPicker(parts.picker, { columns, room, style })
  const status = parts.status.slice(-Math.max(0, room - MIN_INPUT_ROWS)).map((line) => clip(line, columns - 1))
  if (!parts.editor) return { rows: status, cursor: null }
  const { text, cursor } = parts.editor
  const line = layoutLine({
    prompt: `${style.green('>')} `,
    text,
    cursor,
    columns,
    maxRows: Math.max(MIN_INPUT_ROWS, room - status.length),
  })
  const candidates = parts.completion ? drawCandidates(parts.completion, columns, style) : []
  const below = candidates.slice(0, Math.max(0, room - status.length - line.rows.length))
  return {
    rows: [...status.map(style.dim), ...line.rows, ...below],
    cursor: { row: status.length + line.cursor.row, column: line.cursor.column },
  }
}

function drawPicker(
  picker: PickerState,
  { columns, room, style }: { readonly columns: number; readonly room: number; readonly style: Style },
): Footer {
  const { title, options, freeText } = picker.request
  const first = firstShown(picker, Math.max(MIN_INPUT_ROWS, room - MIN_INPUT_ROWS))
  const answers = options.slice(first.index, first.index + first.count).map(({ label, key }, offset) => {
    const index = first.index + offset
    const isMarked = picker.at === index
    const text = clip(`${isMarked ? '❯' : ' '} ${key ? `[${key}]` : `${index + 1}.`} ${label}`, columns - 1)
    return isMarked ? style.bold(text) : text
  })
  if (first.count < options.length) answers.push(style.dim(clip(`  (${options.length} in all, ↑ and ↓)`, columns - 1)))
  const free = freeText ? drawFreeText(picker, columns, style) : null
  const titleRows = wrap(printable(title), columns - 1)
    .split('\n')
    .flatMap((text) => layoutLine({ prompt: '', text, cursor: 0, columns, maxRows: room }).rows)
  const shown = Math.max(1, room - answers.length - (free?.rows.length ?? 0))
  const head = titleRows.length > shown ? [...titleRows.slice(0, shown - 1), '…'] : titleRows
  const above = [...head.map(style.yellow), ...answers]
  const cursor = isTyping(picker) && free ? free.cursor : { row: picker.at - first.index - answers.length, column: 0 }
  return {
    rows: [...above, ...(free?.rows ?? [])],
    cursor: { row: above.length + cursor.row, column: cursor.column },
  }
}

/** The options around the marked one, when there is not room for all. */
function firstShown({ request, at }: PickerState, room: number): { readonly index: number; readonly count: number } {
  const { length } = request.options
  if (length <= room) return { index: 0, count: length }
  const count = room - 1
  return { index: Math.max(0, Math.min(at - Math.floor(count / 2), length - count)), count }
}

function drawFreeText(picker: PickerState, columns: number, style: Style): Layout {
  const typing = isTyping(picker)
  const { isSecret } = picker.request
  const [text, cursor] = isSecret
    ? [HIDDEN.repeat(picker.editor.text.length), picker.editor.cursor]
    : [picker.editor.text, picker.editor.cursor]
  if (typing || text !== '')
    return layoutLine({ prompt: typing ? '❯ ' : '  ', text, cursor, columns, maxRows: MIN_INPUT_ROWS })
  return { rows: [style.dim(clip('  or type an answer', columns - 1))], cursor: { row: 0, column: 0 } }
}

/** Names side by side, as many as there is room for. */
function drawCandidates(
  { completion, at }: NonNullable<FooterParts['completion']>,
  columns: number,
  style: Style,
): readonly string[] {
  const names = completion.candidates.map((candidate) => printable(candidate.trimEnd()))
  const rows: string[] = []
  let row = ''
  for (const [index, name] of names.entries()) {
    const shown = clip(name, columns - 3)
    if (row !== '' && width(row) + width(shown) + 2 >= columns) {
      rows.push(row)
      row = ''
    }
    if (rows.length === MAX_CANDIDATE_ROWS) return [...rows.slice(0, -1), style.dim(`  … ${names.length} in all`)]
    row += `  ${index === at ? style.bold(shown) : style.dim(shown)}`
  }
  return [...rows, row]
}
