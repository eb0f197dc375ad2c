import { joinEntries, parseEntries } from './entries.js'
import type { MemoryRecord } from './history.js'

/** Origin of what somebody wrote into a file by other means than through here. */
export const BY_HAND = 'by hand'

/**
 * The text of a file without what a change did: its entries gone, those it took away back in their places, everything else as it is now.
 * `null` when an entry that it wrote is not there any more as it was, so that taking it back would undo what somebody did since.
 */
export function takeBack({ before, after }: Pick<MemoryRecord, 'before' | 'after'>, text: string): string | null {
  if (text === after) return before
  const [was, became, now] = [parseEntries(before), parseEntries(after), parseEntries(text)]
  const added = became.filter((entry) => !was.includes(entry))
  if (!added.every((entry) => now.includes(entry))) return null
  const entries = now.filter((entry) => !added.includes(entry))
  for (const [index, entry] of was.entries()) {
    if (became.includes(entry) || entries.includes(entry)) continue
    const neighbour = entries.indexOf(was[index - 1] ?? '')
    entries.splice(index === 0 ? 0 : neighbour < 0 ? entries.length : neighbour + 1, 0, entry)
  }
  return entries.length === 0 ? '' : `${joinEntries(entries)}\n`
}

/**
 * The records once the one at `index` was taken back, with `text` in its file. What somebody wrote by hand after it stays known as theirs,
 * in one record.
 */
export function withoutRecord(records: readonly MemoryRecord[], index: number, text: string): readonly MemoryRecord[] {
  const undone = records[index]!
  const others = records.filter(({ target }, at) => at < index || (at > index && target !== undone.target))
  if (text === undone.before) return others
  return [...others, { ...undone, origin: BY_HAND, after: text }]
}
