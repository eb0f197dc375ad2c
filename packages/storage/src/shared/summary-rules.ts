import { HermesError } from '@hermes/contracts'
import type { NewSessionSummary, SessionSummary } from '../summaries.js'

const MAX_CHARS = 4_000
const MAX_KEYWORDS = 30
const MAX_KEYWORD_CHARS = 60
const DEFAULT_LIMIT = 10
const MAX_LIMIT = 100

/** A summary as its table has it. */
export interface SummaryRow {
  readonly session_id: string
  readonly summary: string
  readonly keywords: string
  readonly up_to_seq: number
  readonly created_ms: number
}

/** What is saved of a summary. @throws HermesError `store.bad_summary` when it has no text. */
export function cleanSummary({ keywords = [], text, ...summary }: NewSessionSummary): Required<NewSessionSummary> {
  const words = keywords.map((word) => cut(word, MAX_KEYWORD_CHARS)).filter(Boolean)
  const clean = { ...summary, text: cut(text, MAX_CHARS), keywords: [...new Set(words)].slice(0, MAX_KEYWORDS) }
  if (clean.text === '') throw new HermesError('A summary needs a text.', { code: 'store.bad_summary' })
  return clean
}

/** How many are looked for. */
export function summaryLimit(limit = DEFAULT_LIMIT): number {
  return Number.isFinite(limit) ? Math.min(Math.max(0, Math.floor(limit)), MAX_LIMIT) : 0
}

/** What a row stands for. */
export function toSummary(row: SummaryRow): SessionSummary {
  return {
    sessionId: row.session_id,
    text: row.summary,
    keywords: JSON.parse(row.keywords) as string[],
    upToSeq: row.up_to_seq,
    atMs: row.created_ms,
  }
}

function cut(text: string, maxChars: number): string {
  return text.trim().slice(0, maxChars).toWellFormed()
}
