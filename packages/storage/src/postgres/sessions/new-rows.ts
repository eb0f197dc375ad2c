import type { NewEntry } from '@hermes/contracts/conversation'
import { encodeMessage } from '../../shared/message-codec.js'
import { messageWords } from '../search/words.js'

const COLUMNS = {
  type: 'text',
  role: 'text',
  content: 'text',
  tool_call_id: 'text',
  tool_calls: 'text',
  tool_name: 'text',
  finish_reason: 'text',
  reasoning: 'text',
  payload: 'text',
  words: 'text',
  at_ms: 'float8',
} as const

type Column = keyof typeof COLUMNS

const NAMES = Object.keys(COLUMNS) as Column[]

/** An entry on its way into the tables: a column of `messages`, of `hermes_entries`, or of both. */
export type NewRow = Readonly<Record<Exclude<Column, 'at_ms'>, string | null>> & { readonly at_ms: number }

const NO_MESSAGE = {
  role: null,
  content: null,
  tool_call_id: null,
  tool_calls: null,
  tool_name: null,
  finish_reason: null,
  reasoning: null,
  words: null,
}

/** The row of an entry. */
export function toRow(entry: NewEntry, atMs: number): NewRow {
  if (entry.type !== 'message') {
    const { type, ...payload } = entry
    return { ...NO_MESSAGE, type, payload: JSON.stringify(payload), at_ms: atMs }
  }
  const { columns, payload } = encodeMessage(entry, isStorable)
  return { ...columns, type: 'message', payload, words: messageWords(columns), at_ms: atMs }
}

/** Half surrogate pairs are no UTF-8, and no text of PostgreSQL holds a NUL. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/**
 * Any number of rows as a table `rows` in a statement: one array per column, the first of them parameter `first`. `more` are arrays and
 * names before those.
 */
export function rowsTable(
  first: number,
  more: { readonly arrays: string; readonly names: string } | null = null,
): string {
  const arrays = NAMES.map((name, at) => `$${first + at}::${COLUMNS[name]}[]`)
  const all = more ? [more.arrays, ...arrays] : arrays
  const names = more ? [more.names, ...NAMES] : NAMES
  return `unnest(${all.join(', ')}) WITH ORDINALITY AS rows(${names.join(', ')}, place)`
}

/** The parameters of {@link rowsTable}. */
export function rowArrays(rows: readonly NewRow[]): readonly (readonly unknown[])[] {
  return NAMES.map((name) => rows.map((row) => row[name]))
}
