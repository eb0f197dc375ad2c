import { joinEntries, parseEntries } from './entries.js'
import type { MemoryRecord } from './history.js'

/** Origin of what somebody wrote into a file by other means than through here. */
export const BY_HAND = 'by hand'

/** Origin of what is no change of anybody: texts that were brought together, and what was taken back. */
export const BETWEEN = 'between'

/**
 * The text of a file without what a change did: its entries gone, those it took away back in their places, everything else as it is now.
 * `null` when an entry that it wrote is not there any more as it was, so that taking it back would undo what somebody did since.
 */
export function takeBack({ before, after }: Pick<MemoryRecord, 'before' | 'after'>, text: string): string | null {
  if (text === after) return before
  const [was, became, now] = [parseEntries(before), parseEntries(after), parseEntries(text)]
  const [old, kept, there] = [new Set(was), new Set(became), new Set(now)]
  const added = new Set(became.filter((entry) => !old.has(entry)))
  if (![...added].every((entry) => there.has(entry))) return null
  const entries = now.filter((entry) => !added.has(entry))
  const left = new Set(entries)
  for (const [index, entry] of was.entries()) {
    if (kept.has(entry) || left.has(entry)) continue
    left.add(entry)
    const neighbour = entries.indexOf(was[index - 1] ?? '')
    entries.splice(index === 0 ? 0 : neighbour < 0 ? entries.length : neighbour + 1, 0, entry)
  }
  return entries.length === 0 ? '' : `${joinEntries(entries)}\n`
}

/** Whether a record is of a change that was asked for here and not taken back since. */
export function isOwn({ origin }: MemoryRecord): boolean {
  return origin !== BY_HAND && origin !== BETWEEN
}

/**
 * The records once the one at `index` was taken back in a file that held `before` and now holds `after`. None is dropped: an editor may still
 * show any text that was there.
 */
export function markUndone(
  records: readonly MemoryRecord[],
  index: number,
  change: Pick<MemoryRecord, 'atMs' | 'before' | 'after'>,
): readonly MemoryRecord[] {
  const marked = records.map((record, at) => (at === index ? { ...record, origin: BETWEEN } : record))
  return [...marked, { ...change, target: records[index]!.target, origin: BETWEEN }]
}
