import { type Entry, liveEntries } from './entry.js'

/** Where the user said something that still counts: the `seq` of each such message. Text that only models see does not count. */
export function turnStarts(entries: readonly Entry[]): readonly number[] {
  return liveEntries(entries).flatMap((entry) => {
    if (entry.type !== 'message' || entry.message.role !== 'user') return []
    return entry.message.content.some((part) => (part.origin ?? 'user') === 'user') ? [entry.seq] : []
  })
}
