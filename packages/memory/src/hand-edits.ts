import { parseEntries } from './entries.js'
import type { MemoryRecord } from './history.js'
import { BY_HAND } from './take-back.js'

/** An editor that was open longer than this was saved with its eyes open. */
const STALE_MS = 900_000

/** What a file holds that was written by other means than through here. */
interface HandEdit {
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
  const seen = stateSeen(entries, records, savedAtMs)
  if (!seen || seen.isNewest || isRewritten(entries, seen.state)) return { entries, restored: [] }
  const written = without(entries, seen.state)
  const restored = without(without(seen.newest, seen.state), entries).filter(
    (entry) => !written.some((other) => isReworded(entry, other)),
  )
  return { entries: [...entries, ...restored], restored }
}

/**
 * The entries of `current` with those that somebody wrote into a file which had been replaced already; whatever they took away stays, as
 * their text may be older than they knew, or half of what they are writing. Only what was taken away here does not come back.
 */
export function mergeLateWrite(
  current: readonly string[],
  text: string,
  { records, savedAtMs }: { readonly records: readonly MemoryRecord[]; readonly savedAtMs: number },
): readonly string[] {
  const entries = parseEntries(text)
  const seen = new Set(stateSeen(entries, records, savedAtMs)?.state)
  const forgotten = new Set(records.flatMap(takenAway).filter((entry) => seen.has(entry)))
  return [...current, ...without(entries, current).filter((entry) => !forgotten.has(entry))]
}

function takenAway({ origin, before, after }: MemoryRecord): readonly string[] {
  return origin === BY_HAND ? [] : without(parseEntries(before), parseEntries(after))
}

interface SeenState {
  readonly state: readonly string[]
  /** What the file came to last, as far as that is known here. */
  readonly newest: readonly string[]
  /** Whether the writer saw that, or meant just the text there is. */
  readonly isNewest: boolean
}

/** The state that somebody most likely had before their eyes who wrote `entries`; `null` when no states are known. */
function stateSeen(entries: readonly string[], records: readonly MemoryRecord[], savedAtMs: number): SeenState | null {
  const last = records.at(-1)
  if (!last) return null
  const recent = records.filter(({ atMs }) => savedAtMs - atMs < STALE_MS)
  const texts = new Set([last.after, ...recent.flatMap(({ before, after }) => [before, after]).reverse()])
  const states = [...texts].map((state) => parseEntries(state))
  const written = new Set(entries)
  const distances = states.map((state) => distance(new Set(state), written))
  const least = Math.min(...distances)
  const state = states[distances.indexOf(least)]!
  return { state, newest: states[0]!, isNewest: least === 0 || least === distances[0] }
}

function isRewritten(entries: readonly string[], state: readonly string[]): boolean {
  return without(state, entries).length === state.length
}

/** How many entries only one of the two has. */
function distance(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const shared = [...one].filter((entry) => other.has(entry)).length
  return one.size + other.size - 2 * shared
}

/** As quick for a million: a file may hold nonsense. */
function without(entries: readonly string[], others: readonly string[]): readonly string[] {
  const gone = new Set(others)
  return entries.filter((entry) => !gone.has(entry))
}

/** Whether two entries share half of their words: then one of them was made of the other. */
function isReworded(one: string, other: string): boolean {
  const [first, second] = [one, other].map((entry) => new Set(entry.toLowerCase().match(/[\p{L}\p{N}]+/gu)))
  const shared = [...first!].filter((word) => second!.has(word)).length
  return shared > 0 && shared * 2 >= Math.max(first!.size, second!.size)
}
