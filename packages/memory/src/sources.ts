import { parseEntries } from './entries.js'
import type { MemoryRecord } from './history.js'
import type { MemoryTarget } from './memory-files.js'
import { BETWEEN } from './take-back.js'

/** Where an entry comes from. */
export interface EntrySource {
  readonly entry: string
  readonly atMs: number
  /** Who wrote it: a session id, `command line`, `by hand` … */
  readonly origin: string
  /** The entry that it took the place of; `null` when it took none. */
  readonly supersedes: string | null
}

/** Where the entries of a store come from, as far as its changes are still known; others are left out. */
export function sourcesOf(
  { target, entries }: { readonly target: MemoryTarget; readonly entries: readonly string[] },
  records: readonly MemoryRecord[],
): readonly EntrySource[] {
  const sources = new Map<string, EntrySource>()
  for (const { target: changed, atMs, origin, before, after } of records) {
    // What was only brought together, or back, was written before.
    if (changed !== target || origin === BETWEEN) continue
    const [was, became] = [new Set(parseEntries(before)), new Set(parseEntries(after))]
    const added = [...became].filter((entry) => !was.has(entry))
    const gone = [...was].filter((entry) => !became.has(entry))
    const supersedes = added.length === 1 && gone.length === 1 ? gone[0]! : null
    for (const entry of added) sources.set(entry, { entry, atMs, origin, supersedes })
  }
  return entries.flatMap((entry) => sources.get(entry) ?? [])
}
