import { type Entry, messageText, type UndoEntry } from '@hermes/contracts/conversation'
import { clip } from '../render/style.js'

const SHOWN_CHARS = 60

/** What an undo took back, for a reader of the whole log. */
export function undoLine(entries: readonly Entry[], { fromSeq }: UndoEntry): string {
  const first = entries.find((entry) => entry.type === 'message' && entry.seq >= fromSeq)
  const text = first?.type === 'message' ? clip(messageText(first.message), SHOWN_CHARS) : ''
  return `Taken back: everything from #${first?.seq ?? fromSeq}${text === '' ? '' : ` (“${text}”)`} up to here.`
}
