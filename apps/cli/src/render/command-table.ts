import { columnWidths, padded } from '@hermes/commands'
import type { CommandTable, Finding } from '@hermes/contracts/extension'
import { width } from '../editor/graphemes.js'
import type { Output } from '../io.js'
import { clip, createStyle, printable, wrap } from './style.js'

const LEAST = 20
const MARGIN = 2
/** Room for what stands beside a name. */
const LEAST_ABOUT = 16

/** What was looked at, a line each with how it is before it. */
export function renderFindings(findings: readonly Finding[], output: Output): string {
  const style = createStyle(output)
  const mark = { ok: style.green('ok  '), warn: style.yellow('warn'), fail: style.red('fail') }
  return findings.map(({ level, text }) => `${mark[level]}  ${printable(text)}\n`).join('')
}

/** The rows of a table, a line each, with a mark where one is current; the first cell stands out, and the last one is cut where the line ends. */
export function renderTable({ rows }: Pick<CommandTable, 'rows'>, output: Output): string {
  if (output.isTTY && rows.every(({ cells }) => cells.length === 2)) return renderPairs(rows, output)
  const style = createStyle(output)
  const most = Math.max(LEAST, Math.floor(output.columns() / 3))
  const widths = columnWidths(rows).map((width) => Math.min(width, most))
  const fixed = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0)
  if (output.isTTY && widths.length > 2 && fixed + MARGIN + LEAST > output.columns()) return renderStacked(rows, output)
  const marks = rows.some(({ isCurrent }) => isCurrent) ? (isCurrent: boolean) => (isCurrent ? '* ' : '  ') : () => ''
  return rows
    .map(({ cells, isCurrent = false, isDim = false }) => {
      const [first = '', ...others] = cells
      const head = padded(clip(first, output.columns() - 2), widths[0] ?? 0)
      let room = output.columns() - 2 - (others.length > 0 ? widths[0]! : 0)
      const rest = others.map((cell, index) => {
        const isLast = index === others.length - 1
        const width = isLast ? 0 : widths[index + 1]!
        const shown = padded(clip(cell, isLast ? Math.max(room - 2, LEAST) : most), width)
        room -= width + 2
        return `  ${shown}`
      })
      const line = `${marks(isCurrent)}${isDim || others.length === 0 ? head : style.bold(head)}${rest.join('')}`
      return `${isDim ? style.dim(line.trimEnd()) : line.trimEnd()}\n`
    })
    .join('')
}

/** Where cells have no room beside each other: those after the first below it. */
function renderStacked(rows: CommandTable['rows'], output: Output): string {
  const style = createStyle(output)
  const room = Math.max(MARGIN, output.columns() - 1 - MARGIN)
  const hasCurrent = rows.some(({ isCurrent }) => isCurrent)
  return rows
    .map(({ cells: [first = '', ...others], isCurrent = false, isDim = false }) => {
      const mark = hasCurrent ? (isCurrent ? '* ' : '  ') : ''
      const head = wrap(printable(`${mark}${first}`), output.columns() - 1).split('\n')
      const about = clip(others.filter((cell) => cell !== '').join(' · '), room * MAX_PAIR_LINES)
      const below = about === '' ? [] : wrap(about, room).split('\n')
      const lines = [...head.map((row) => (isDim ? row : style.bold(row))), ...below.map((row) => `  ${row}`)]
      return lines.map((row) => `${isDim ? style.dim(row) : row}\n`).join('')
    })
    .join('')
}

const MAX_PAIR_LINES = 3

/** A name and what is said of it: nothing of the name is cut, and the rest goes on below where it began. */
function renderPairs(rows: CommandTable['rows'], output: Output): string {
  const style = createStyle(output)
  const columns = output.columns() - 1
  const most = Math.max(LEAST, Math.floor(columns / 3))
  const indent = Math.min(most, columnWidths(rows)[0]!) + 2
  const hasCurrent = rows.some(({ isCurrent }) => isCurrent)
  if (columns - indent - (hasCurrent ? 2 : 0) < LEAST_ABOUT) return renderStacked(rows, output)
  return rows
    .map(({ cells: [name = '', about = ''], isCurrent = false, isDim = false }) => {
      const mark = hasCurrent ? (isCurrent ? '* ' : '  ') : ''
      const margin = ' '.repeat(mark.length + indent)
      const lines = wrap(printable(about.replace(/\s*\n\s*/g, ' ')), Math.max(LEAST, columns - margin.length)).split(
        '\n',
      )
      const shown =
        lines.length > MAX_PAIR_LINES
          ? [...lines.slice(0, MAX_PAIR_LINES - 1), `${lines[MAX_PAIR_LINES - 1]} …`]
          : lines
      const head = padded(printable(name), indent)
      const first = width(printable(name)) > indent - 2 && about !== '' ? `\n${margin}` : ''
      const text = `${mark}${isDim ? head : style.bold(head)}${first}${shown.join(`\n${margin}`)}`
      const line = text.replace(/ +$/gm, '')
      return `${isDim ? style.dim(line) : line}\n`
    })
    .join('')
}
