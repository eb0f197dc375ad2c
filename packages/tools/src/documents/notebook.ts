import type { DocumentText } from './document-kind.js'

interface Notebook {
  readonly cells?: readonly Cell[]
  readonly metadata?: { readonly kernelspec?: { readonly language?: string } }
}

interface Cell {
  readonly cell_type?: string
  readonly source?: string | readonly string[]
  readonly outputs?: readonly Output[]
}

interface Output {
  readonly output_type?: string
  readonly text?: string | readonly string[]
  readonly data?: Readonly<Record<string, unknown>>
  readonly ename?: string
  readonly evalue?: string
}

const MAX_OUTPUT_CHARS = 2_000

/** The cells of a Jupyter notebook with their textual outputs. @see https://nbformat.readthedocs.io/en/latest/format_description.html */
export function notebookText(bytes: Uint8Array): DocumentText | null {
  const { cells, metadata } = JSON.parse(new TextDecoder().decode(bytes)) as Notebook
  if (!Array.isArray(cells)) return null
  const language = metadata?.kernelspec?.language ?? 'code'
  const text = cells.map((cell, at) => renderCell(cell, at + 1, language)).join('\n\n')
  return { type: 'text', text, what: `notebook, ${cells.length} cells` }
}

function renderCell({ cell_type: type = 'raw', source, outputs = [] }: Cell, number: number, language: string): string {
  const kind = type === 'code' ? language : type
  const shown = outputs.map(outputText).filter((text) => text !== '')
  const results = shown.map((text) => `--- output ---\n${text}`)
  return [`=== cell ${number}: ${kind} ===`, joined(source), ...results].join('\n')
}

function outputText({ output_type: type, text, data, ename, evalue }: Output): string {
  if (type === 'error') return `${ename ?? 'Error'}: ${evalue ?? ''}`
  const plain = joined(text) || joined(data?.['text/plain'])
  const other = Object.keys(data ?? {}).filter((name) => name !== 'text/plain')
  const named = other.length > 0 ? `[${other.join(', ')}]` : ''
  const cut = plain.length > MAX_OUTPUT_CHARS ? `${plain.slice(0, MAX_OUTPUT_CHARS).toWellFormed()} […]` : plain
  return [cut.trimEnd(), named].filter((part) => part !== '').join('\n')
}

/** The format keeps texts as one string or as lines. */
function joined(value: unknown): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.join('') : ''
}
