/** The part of an element that tables are read by. */
interface TableNode {
  readonly nodeName: string
  readonly textContent: string | null
  readonly children?: Iterable<TableNode>
  querySelector?(selector: string): unknown
  getAttribute?(name: string): string | null
}

/** Cells that reach over more are a mistake of the page, or worse. */
const MAX_SPAN = 50

/**
 * A table as lines with bars; `null` for one that only puts parts of the page beside each other. What reaches over several columns stands in
 * the first. `cellText` gives the Markdown of a cell.
 */
export function tableToMarkdown(table: TableNode, cellText: (cell: TableNode) => string): string | null {
  if (table.querySelector?.('table, pre, h1, h2, h3, ul, ol, p + p')) return null
  const rows = rowsOf(table)
  const width = Math.max(0, ...rows.map((row) => row.length))
  if (rows.length === 0 || (width < 2 && !table.querySelector?.('th'))) return null
  const lines = rows.map((row) => {
    const cells = row.map((cell) => (cell === null ? '' : oneLine(cellText(cell))))
    return `| ${[...cells, ...Array<string>(width - cells.length).fill('')].join(' | ')} |`
  })
  const caption = childrenOf(table)
    .find(({ nodeName }) => nodeName === 'CAPTION')
    ?.textContent?.trim()
  const [head, ...body] = [...lines]
  const ruled = [head, `|${' --- |'.repeat(width)}`, ...body].join('\n')
  return `\n\n${caption ? `${oneLine(caption)}\n\n` : ''}${ruled}\n\n`
}

function rowsOf(table: TableNode): readonly (readonly (TableNode | null)[])[] {
  const parts = childrenOf(table).flatMap((child) => (child.nodeName === 'TR' ? [child] : childrenOf(child)))
  return parts
    .filter(({ nodeName }) => nodeName === 'TR')
    .map((row) => childrenOf(row).filter(({ nodeName }) => nodeName === 'TH' || nodeName === 'TD'))
    .filter((cells) => cells.length > 0)
    .map((cells) => cells.flatMap((cell) => [cell, ...Array<null>(spanOf(cell) - 1).fill(null)]))
}

function spanOf(cell: TableNode): number {
  const span = Number(cell.getAttribute?.('colspan') ?? 1)
  return Number.isInteger(span) && span > 1 ? Math.min(span, MAX_SPAN) : 1
}

const childrenOf = (node: TableNode): readonly TableNode[] => [...(node.children ?? [])]

const oneLine = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')
    .replaceAll('|', '\\|')
    .trim()
