import { type Layout, layoutLine } from '../editor/layout.js'
import { isTyping, type PickerState } from '../editor/picker.js'
import { clip, printable, type Style, wrap } from '../render/style.js'
import type { Footer } from '../screen/screen.js'

const MIN_INPUT_ROWS = 3
const MAX_SEARCH_ROWS = 12
const MAX_LABEL_ROWS = 4
const LEAST_LABEL = 8
const HIDDEN = '•'
const CUT = '… and more of it, for which this screen is too low'

interface Place {
  readonly columns: number
  /** How many rows there are. */
  readonly room: number
  readonly style: Style
}

/** A question with its answers, and the place of the cursor. */
export function drawPicker(picker: PickerState, { columns, room, style }: Place): Footer {
  const { options, freeText, isSearch, isSeveral } = picker.request
  if (isSearch) return drawSearch(picker, columns, room, style)
  const first = firstShown(picker, Math.max(MIN_INPUT_ROWS, room - MIN_INPUT_ROWS))
  const answers = options.slice(first.index, first.index + first.count).flatMap(({ label, key }, offset) => {
    const index = first.index + offset
    const isMarked = picker.at === index
    const box = picker.marked.size === 0 ? '' : picker.marked.has(index) ? '✓ ' : '  '
    const head = `${isMarked ? '❯' : ' '} ${box}${key ? `[${key}]` : `${index + 1}.`} `
    if (!isMarked) return [clip(`${head}${label}`, columns - 1)]
    // What Enter would do is there to be read whole.
    const margin = ' '.repeat(head.length)
    const room = Math.max(LEAST_LABEL, columns - 1 - head.length)
    const rows = wrap(printable(label), room).split('\n').slice(0, MAX_LABEL_ROWS)
    return rows.map((row, at) => style.bold(clip(`${at === 0 ? head : margin}${row}`, columns - 1)))
  })
  if (first.count < options.length) answers.push(style.dim(clip(`  (${options.length} in all, ↑ and ↓)`, columns - 1)))
  if (isSeveral) answers.push(style.dim(clip('  Space marks several, Enter takes them', columns - 1)))
  const free = freeText ? drawFreeText(picker, columns, style) : null
  const shown = Math.max(1, room - answers.length - (free?.rows.length ?? 0))
  const above = [...headRows(picker, { columns, room: shown, style }), ...answers]
  const cursor = isTyping(picker) && free ? free.cursor : { row: picker.at - first.index - answers.length, column: 0 }
  return {
    rows: [...above, ...(free?.rows ?? [])],
    cursor: { row: above.length + cursor.row, column: cursor.column },
  }
}

/** The rows that what a question is about takes. */
export function blockRows(block: readonly string[], columns: number): readonly string[] {
  return block.flatMap((line) => laidOut(line, columns, '  '))
}

function laidOut(text: string, columns: number, prompt = ''): readonly string[] {
  return wrap(printable(text), columns - 1 - prompt.length)
    .split('\n')
    .flatMap((row) => layoutLine({ prompt, text: row, cursor: 0, columns, maxRows: Number.POSITIVE_INFINITY }).rows)
}

/**
 * The question, what it is about and what is to be known, with room around what it is about where there is any. Where there is not room for all,
 * what is to be known gives way first; what it is about is never cut without a word.
 */
function headRows({ request }: PickerState, { columns, room, style }: Place): readonly string[] {
  const { title, block = [], notes = [] } = request
  const titleRows = laidOut(title, columns).map(style.notice)
  const about = blockRows(block, columns)
  const noteRows = notes.flatMap((note) => laidOut(note, columns))
  const length = titleRows.length + about.length + noteRows.length
  const space = block.length > 0 && length + 2 <= room ? [''] : []
  if (length <= room) return [...titleRows, ...space, ...about, ...space, ...noteRows]
  const most = [...titleRows, ...about]
  if (most.length === room) return most
  const isCut = most.length > room && block.length > 0
  return [...[...most, ...noteRows].slice(0, room - 1), isCut ? style.notice(clip(CUT, columns - 1)) : '…']
}

/** The options around the marked one, when there is not room for all. */
function firstShown({ shown, at }: PickerState, room: number): { readonly index: number; readonly count: number } {
  const { length } = shown
  if (length <= room) return { index: 0, count: length }
  const count = room - 1
  return { index: Math.max(0, Math.min(at - Math.floor(count / 2), length - count)), count }
}

/** What is typed, and below it what fits. */
function drawSearch(picker: PickerState, columns: number, room: number, style: Style): Footer {
  const { title, options } = picker.request
  const { text, cursor } = picker.editor
  const typed = layoutLine({ prompt: '❯ ', text, cursor, columns, maxRows: 1 })
  const rows = Math.max(MIN_INPUT_ROWS, Math.min(MAX_SEARCH_ROWS, room - 2))
  const first = firstShown(picker, rows)
  const found = picker.shown.slice(first.index, first.index + first.count).map((index, offset) => {
    const isMarked = picker.at === first.index + offset
    const line = clip(`${isMarked ? '❯' : ' '} ${printable(options[index]!.label)}`, columns - 1)
    return isMarked ? style.bold(line) : line
  })
  const count = picker.shown.length === 0 ? 'nothing fits' : `${picker.shown.length} of ${options.length}`
  const hint = `  ${count} · type to narrow · Enter takes, Esc leaves`
  return {
    rows: [
      style.yellow(clip(printable(title), columns - 1)),
      ...typed.rows,
      ...found,
      style.dim(clip(hint, columns - 1)),
    ],
    cursor: { row: 1, column: typed.cursor.column },
  }
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
