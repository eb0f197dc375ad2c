import type { Entry } from './entry.js'

/** Takes back the conversation from an entry on; the entries themselves stay in the log. */
export interface UndoEntry {
  readonly type: 'undo'
  /** Messages, call starts and compactions from here up to this entry no longer count. */
  readonly fromSeq: number
}

/**
 * The entries that still count, undo entries left out. The prompt, models and notes stay whatever was undone: the prompt is frozen for
 * the session, the others tell of things outside the conversation. Pure and idempotent; entries must be in order of `seq`.
 */
export function liveEntries(entries: readonly Entry[]): readonly Entry[] {
  if (!entries.some((entry) => entry.type === 'undo')) return entries
  let live: Entry[] = []
  for (const entry of entries) {
    if (entry.type === 'undo') live = live.filter((earlier) => earlier.seq < entry.fromSeq || outlivesUndo(earlier))
    else live.push(entry)
  }
  return live
}

function outlivesUndo({ type }: Entry): boolean {
  return type === 'prompt' || type === 'model' || type === 'note'
}

/** Where the user said something that still counts: the `seq` of each such message. Text that only models see does not count. */
export function turnStarts(entries: readonly Entry[]): readonly number[] {
  return liveEntries(entries).flatMap((entry) => {
    if (entry.type !== 'message' || entry.message.role !== 'user') return []
    return entry.message.content.some((part) => (part.origin ?? 'user') === 'user') ? [entry.seq] : []
  })
}
