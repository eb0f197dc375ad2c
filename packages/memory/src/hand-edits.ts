import { parseEntries } from './entries.js'
import type { MemoryRecord } from './history.js'

/** An editor that was open longer than this was saved with its eyes open. */
const STALE_MS = 900_000

/** What a file holds that was written by other means than through here. */
export interface HandEdit {
  readonly entries: readonly string[]
  /** What was added here while an editor still showed the text of before: it is put back. */
  readonly restored: readonly string[]
}

/**
 * Brings together what somebody wrote by hand and what was saved here meanwhile. An editor that was opened before the newest changes and
 * saved after them takes those away without meaning to; then the text is nearer to an older state than to the newest one. What is exactly
 * an older state was meant, and so is a text that has nothing of what was there, or that words an entry anew. `records` are those of the store, oldest first.
 */
export function mergeHandEdit(text: string, records: readonly MemoryRecord[], savedAtMs: number): HandEdit {
  const entries = parseEntries(text)
  const newest = records.at(-1)
  if (!newest) return { entries, restored: [] }
  const recent = records.filter(({ atMs }) => savedAtMs - atMs < STALE_MS)
  const states = [newest.after, ...recent.map(({ before }) => before).reverse()].map((state) => parseEntries(state))
  const distances = states.map((state) => distance(state, entries))
  const least = Math.min(...distances)
  const base = states[distances.indexOf(least)]!
  const isRewritten = !base.some((entry) => entries.includes(entry))
  if (least === 0 || least === distances[0] || isRewritten) return { entries, restored: [] }
  const written = entries.filter((entry) => !base.includes(entry))
  const restored = states[0]!.filter(
    (entry) => !base.includes(entry) && !entries.includes(entry) && !written.some((other) => isReworded(entry, other)),
  )
  return { entries: [...entries, ...restored], restored }
}

/** How many entries only one of the two has. */
function distance(one: readonly string[], other: readonly string[]): number {
  return one.filter((entry) => !other.includes(entry)).length + other.filter((entry) => !one.includes(entry)).length
}

/** Whether two entries share half of their words: then one of them was made of the other. */
function isReworded(one: string, other: string): boolean {
  const [first, second] = [one, other].map((entry) => new Set(entry.toLowerCase().match(/[\p{L}\p{N}]+/gu)))
  const shared = [...first!].filter((word) => second!.has(word)).length
  return shared > 0 && shared * 2 >= Math.max(first!.size, second!.size)
}
