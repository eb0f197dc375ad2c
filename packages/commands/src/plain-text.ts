import type { CommandOutput, CommandRow } from '@hermes/contracts/extension'
import measure from 'fast-string-truncated-width'

const MAX_OPTIONS = 30

/** What a command gave back, as text without style; changes say nothing. Choices and forms are numbered, each with what to type for it. */
export function toPlainText(outputs: readonly CommandOutput[]): string {
  return outputs
    .map(plainText)
    .filter((text) => text !== '')
    .join('\n')
}

function plainText(output: CommandOutput): string {
  switch (output.type) {
    case 'text':
      return output.text
    case 'table':
      return output.rows.length === 0 ? output.empty : tableLines(output.rows).join('\n')
    case 'findings':
      return output.findings.map(({ level, text }) => `${level.padEnd(4)}  ${text}`).join('\n')
    case 'choice': {
      const lines = output.options.map(({ label, line }, index) => `${index + 1}. ${label}: ${line}`)
      const left = lines.length - MAX_OPTIONS
      return [output.question, ...lines.slice(0, MAX_OPTIONS), ...(left > 0 ? [`… ${left} more`] : [])].join('\n')
    }
    case 'form': {
      const fields = output.fields.map(({ name, description }, index) => `${index + 1}. ${name}: ${description}`)
      return [output.title, ...fields].join('\n')
    }
    case 'change':
      return ''
    default:
      return output satisfies never
  }
}

function tableLines(rows: readonly CommandRow[]): readonly string[] {
  const widths = columnWidths(rows)
  return rows.map(({ cells, isCurrent = false }) => {
    const line = cells.map((cell, index) => padded(cell.replaceAll('\n', ' '), widths[index]!)).join('  ')
    return `${isCurrent ? '*' : '-'} ${line}`.trimEnd()
  })
}

/** How many columns of a screen each column takes; that of the last one, which may be cut, is 0. */
export function columnWidths(rows: readonly CommandRow[]): readonly number[] {
  const columns = Math.max(0, ...rows.map(({ cells }) => cells.length))
  return Array.from({ length: columns }, (_, index) =>
    index === columns - 1 ? 0 : Math.max(...rows.map(({ cells }) => measure(cells[index] ?? '').width)),
  )
}

/** `text` with blanks behind it until it is so many columns wide on a screen, where emoji and East Asian characters take two. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - measure(text).width))
}
