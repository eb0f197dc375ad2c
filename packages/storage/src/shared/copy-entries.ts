import type { CompactionEntry, Entry, NewEntry } from '@hermes/contracts/conversation'

/** Inserts the entries in their order; where one points at others, it points at their copies. */
export function copyEntries(
  entries: readonly Entry[],
  insert: (entry: NewEntry, atMs: number) => number,
): readonly NewEntry[] {
  const numbers: (readonly [seq: number, copy: number])[] = []
  return entries.map(({ seq, atMs, ...entry }) => {
    const renumbered = entry.type === 'compaction' ? renumber(entry, numbers) : entry
    numbers.push([seq, insert(renumbered, atMs)])
    return renumbered
  })
}

function renumber(entry: CompactionEntry, numbers: readonly (readonly [number, number])[]): CompactionEntry {
  const upTo = (seq: number) => numbers.findLast(([original]) => original <= seq)?.[1] ?? 0
  const exact = new Map(numbers)
  const { headUpToSeq, repeatedSeqs, shortened } = entry
  return {
    ...entry,
    upToSeq: upTo(entry.upToSeq),
    ...(headUpToSeq === undefined ? {} : { headUpToSeq: upTo(headUpToSeq) }),
    ...(repeatedSeqs === undefined ? {} : { repeatedSeqs: repeatedSeqs.flatMap((seq) => exact.get(seq) ?? []) }),
    ...(shortened === undefined
      ? {}
      : {
          shortened: shortened.flatMap(({ seq, text }) => {
            const number = exact.get(seq)
            return number === undefined ? [] : [{ seq: number, text }]
          }),
        }),
  }
}
