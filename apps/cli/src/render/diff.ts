import { graphemes, width } from '../editor/graphemes.js'
import { type ChangedLine, type DiffLine, NO_FINAL_LINE_FEED, readDiff, type Stretch } from './diff-lines.js'
import { clip, printable, type Style } from './style.js'

/** How a diff is drawn. */
interface DiffLook {
  readonly style: Style
  readonly columns: number
}

const MAX_LINES = 40
/** Of a changed line that is wider than the screen; of one that stands around it, a row is enough. */
const MAX_ROWS = 3
/** A narrower screen has no room for numbers. */
const LEAST_COLUMNS_FOR_NUMBERS = 32
const MARGIN = 2
const LEAST_TEXT = 8

/**
 * Unified diffs for a person, at most 40 lines: each with its number, added ones green, removed ones red, the words that changed reversed. Files are
 * named where there are several.
 */
export function renderDiff(diff: string, look: DiffLook): string {
  const { style, columns } = look
  const lines = readDiff(diff.trimEnd())
  const names = lines.filter(({ type }) => type === 'name').length
  const isShown = ({ type }: DiffLine, index: number) => {
    if (type === 'former-name') return false
    if (type === 'name') return names > 1
    // The first place needs no word; what was left out before another is marked.
    return type !== 'hunk' || (index > 0 && lines[index - 1]!.type !== 'name')
  }
  const shown = lines.filter((line, index) => isShown(line, index) && line.line !== NO_FINAL_LINE_FEED)
  const kept = shown.length > MAX_LINES + 1 ? shown.slice(0, MAX_LINES) : shown
  const digits = Math.max(0, ...kept.map((line) => ('number' in line ? String(line.number).length : 0)))
  const rows = kept.flatMap((line) => {
    if ('number' in line) return drawLine(line, digits, look)
    if (line.type === 'name') return [style.bold(`  ${clip(line.line.slice(4), columns - MARGIN)}`)]
    if (line.type === 'hunk') return [style.dim(`  ${' '.repeat(Math.max(0, digits - 1))}⋮`)]
    return [style.dim(`  ${clip(line.line, columns - MARGIN)}`)]
  })
  const more = shown.length > kept.length ? [style.dim(`  … ${shown.length - kept.length} more lines`)] : []
  return [...rows, ...more].join('\n')
}

const SIGN = { same: ' ', removed: '-', added: '+' } as const

function drawLine(
  { type, number, stretches }: ChangedLine,
  digits: number,
  { style, columns }: DiffLook,
): readonly string[] {
  const hasNumber = columns >= LEAST_COLUMNS_FOR_NUMBERS
  const colour = colourOf(type, style)
  const gutter = hasNumber ? `  ${String(number).padStart(digits)} ` : '  '
  const margin = ' '.repeat(gutter.length + 2)
  const room = Math.max(LEAST_TEXT, columns - margin.length)
  return rowsOf(stretches, room, type === 'same' ? 1 : MAX_ROWS).map((row, index) => {
    const text = row.map((stretch) => paint(stretch, style)).join('')
    return index === 0 ? `${style.dim(gutter)}${colour(`${SIGN[type]} ${text}`)}` : `${margin}${colour(text)}`
  })
}

/** Broken where the screen ends; what `most` rows have no room for is left out. */
function rowsOf(stretches: readonly Stretch[], columns: number, most: number): readonly (readonly Stretch[])[] {
  const rows: Stretch[][] = [[]]
  let taken = 0
  for (const { text, isChanged } of stretches) {
    let piece = ''
    const add = () => {
      if (piece !== '') rows.at(-1)!.push({ text: piece, isChanged })
      piece = ''
    }
    const clean = printable(text).replaceAll('\t', '  ')
    const looked = clean.slice(0, (columns + 1) * most * 2)
    for (const sign of graphemes(looked)) {
      const more = width(sign)
      if (taken + more > columns) {
        add()
        if (rows.length === most) return [...rows.slice(0, -1), cut(rows.at(-1)!)]
        rows.push([])
        taken = 0
      }
      piece += sign
      taken += more
    }
    add()
    // What takes no room, such as accents upon accents, has an end too.
    if (looked.length < clean.length) return [...rows.slice(0, -1), cut(rows.at(-1)!)]
  }
  return rows
}

function cut(row: readonly Stretch[]): readonly Stretch[] {
  const last = row.at(-1)
  return last === undefined
    ? row
    : [...row.slice(0, -1), { ...last, text: `${graphemes(last.text).slice(0, -1).join('')}…` }]
}

/** What git says of changes, in colour; its lines stay as they are, so that copying them gives a patch. */
export function paintDiff(diff: string, style: Style): string {
  const paintLine = (line: DiffLine) => {
    if ('number' in line) {
      const text = line.stretches.map((stretch) => paint(stretch, style)).join('')
      return line.type === 'same' ? line.line : colourOf(line.type, style)(`${SIGN[line.type]}${text}`)
    }
    switch (line.type) {
      case 'name':
      case 'former-name':
        return style.bold(line.line)
      case 'hunk':
        return style.cyan(line.line)
      default:
        return style.dim(line.line)
    }
  }
  return readDiff(diff).map(paintLine).join('\n')
}

function paint({ text, isChanged }: Stretch, style: Style): string {
  return isChanged ? style.inverse(text) : text
}

function colourOf(type: ChangedLine['type'], style: Style): (text: string) => string {
  if (type === 'added') return style.green
  return type === 'removed' ? style.red : style.dim
}
