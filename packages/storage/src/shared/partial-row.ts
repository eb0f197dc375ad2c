import type { MessageEntry } from '@hermes/contracts/conversation'

/** Of a session. */
export const FORGET_PARTIAL = 'DELETE FROM hermes_partials WHERE session_id = ?'

/** An answer that was being streamed, as its row has it. */
export interface PartialRow {
  /** The newest message of the session when it was kept; 0 for none. */
  readonly after_seq: number
  readonly at_ms: number
  /** A `MessageEntry` as JSON. */
  readonly payload: string
}

/** What goes into the log for it; `null` when the conversation went on without it. */
export function toLeftAnswer(
  row: PartialRow | undefined,
  newestSeq: number,
): { readonly entry: MessageEntry; readonly atMs: number } | null {
  if (!row || row.after_seq !== newestSeq) return null
  return { entry: JSON.parse(row.payload) as MessageEntry, atMs: row.at_ms }
}
