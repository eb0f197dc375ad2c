import type { NewEntry } from '@hermes/contracts/conversation'

/** Whether an entry names others by their numbers. */
export function namesOthers(entry: NewEntry): boolean {
  return entry.type === 'compaction' || entry.type === 'undo'
}

/**
 * The entry with the numbers that entries have in the new log; `numbers` goes from old to new. A number that is not in it stands for
 * the last one before it (`fromSeq` of an undo: the first one after it).
 */
export function renumber(entry: NewEntry, numbers: ReadonlyMap<number, number>): NewEntry {
  const before = (seq: number) => numbers.get(seq) ?? Math.max(0, ...above(numbers, (old) => old < seq))
  const from = (seq: number) =>
    numbers.get(seq) ?? Math.min(Number.MAX_SAFE_INTEGER, ...above(numbers, (old) => old > seq))
  switch (entry.type) {
    case 'compaction':
      return {
        ...entry,
        upToSeq: before(entry.upToSeq),
        ...(entry.headUpToSeq === undefined ? {} : { headUpToSeq: before(entry.headUpToSeq) }),
        ...(entry.repeatedSeqs ? { repeatedSeqs: entry.repeatedSeqs.map(before) } : {}),
        ...(entry.shortened ? { shortened: entry.shortened.map((one) => ({ ...one, seq: before(one.seq) })) } : {}),
      }
    case 'undo':
      return { ...entry, fromSeq: from(entry.fromSeq) }
    default:
      return entry
  }
}

function above(numbers: ReadonlyMap<number, number>, matches: (old: number) => boolean): number[] {
  return [...numbers].filter(([old]) => matches(old)).map(([, now]) => now)
}
