import { type Entry, liveEntries } from './entry.js'

/** Where the user said something that still counts: the `seq` of each such message. Text that only models see does not count. */
export function turnStarts(entries: readonly Entry[]): readonly number[] {
  return liveEntries(entries).flatMap((entry) => (isTurnStart(entry) ? [entry.seq] : []))
}

/** The last of {@link turnStarts}, of entries none of which is taken back; `null` when there is none. Makes nothing. */
export function latestTurnStart(live: readonly Entry[]): number | null {
  for (let index = live.length - 1; index >= 0; index--) if (isTurnStart(live[index]!)) return live[index]!.seq
  return null
}

function isTurnStart(entry: Entry): boolean {
  if (entry.type !== 'message' || entry.message.role !== 'user') return false
  return entry.message.content.some((part) => (part.origin ?? 'user') === 'user')
}
