import { columnWidths, padded } from '@hermes/commands'
import type { CommandTable, Finding } from '@hermes/contracts/extension'
import type { Output } from '../io.js'
import { clip, createStyle, printable } from './style.js'

const LEAST = 20

/** What was looked at, a line each with how it is before it. */
export function renderFindings(findings: readonly Finding[], output: Output): string {
  const style = createStyle(output)
  const mark = { ok: style.green('ok  '), warn: style.yellow('warn'), fail: style.red('fail') }
  return findings.map(({ level, text }) => `${mark[level]}  ${printable(text)}\n`).join('')
}

/** The rows of a table, a line each, with a mark where one is current; the first cell stands out, and the last one is cut where the line ends. */
export function renderTable({ rows }: Pick<CommandTable, 'rows'>, output: Output): string {
  const style = createStyle(output)
  const most = Math.max(LEAST, Math.floor(output.columns() / 3))
  const widths = columnWidths(rows).map((width) => Math.min(width, most))
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
