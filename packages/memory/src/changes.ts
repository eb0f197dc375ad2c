import { findEntry, joinEntries, toEntry } from './entries.js'

/** One thing to do to a store. */
export type MemoryChange =
  | { readonly action: 'add'; readonly content: string }
  /** `oldText`: some words that only the meant entry has. The whole entry becomes `content`. */
  | { readonly action: 'replace'; readonly oldText: string; readonly content: string }
  | { readonly action: 'remove'; readonly oldText: string }

/** What changes come to. */
type Applied =
  | { readonly type: 'applied'; readonly entries: readonly string[] }
  /** One line that says what to do instead; `isFull` where it would not fit. */
  | { readonly type: 'refused'; readonly reason: string; readonly isFull: boolean }

/** What may be written. */
interface ChangeRules {
  /** Characters that all entries may take together. */
  readonly limit: number
  /** Why a text must not be remembered; `null` when it may. */
  readonly objection: (content: string) => string | null
}

const SHOWN_CHARS = 120

/** All changes in their order, or none of them. Only the size at the end counts. An entry that is there already is not added again. */
export function applyChanges(
  entries: readonly string[],
  changes: readonly MemoryChange[],
  { limit, objection }: ChangeRules,
): Applied {
  let result = [...entries]
  for (const change of changes) {
    const next = applyOne(result, change, objection)
    if (typeof next === 'string') return { type: 'refused', reason: next, isFull: false }
    result = next
  }
  const [before, after] = [joinEntries(entries).length, joinEntries(result).length]
  if (after > limit && after >= before)
    return {
      type: 'refused',
      isFull: true,
      reason: `That would take ${after} of ${limit} characters. Shorten, merge or remove entries in the same call, then it fits.`,
    }
  return { type: 'applied', entries: result }
}

function applyOne(entries: string[], change: MemoryChange, objection: ChangeRules['objection']): string[] | string {
  if (change.action !== 'remove') {
    const content = toEntry(change.content)
    if (content === '') return 'There is no content to remember.'
    const against = objection(content)
    if (against !== null) return against
    if (change.action === 'add') return entries.includes(content) ? entries : [...entries, content]
  }
  if (change.oldText.trim() === '') return `Name the entry to ${change.action} by some of its words in old_text.`
  const found = findEntry(entries, change.oldText)
  if (found.type === 'none') return `No entry has the words "${shown(change.oldText)}".`
  if (found.type === 'several') {
    const named = found.entries.map((entry) => `- ${objection(entry) === null ? shown(entry) : '(not shown)'}`)
    return `Several entries have these words; use more of the one you mean:\n${named.join('\n')}`
  }
  const old = entries[found.index]!
  const replaced = change.action === 'replace' ? [toEntry(change.content)] : []
  const next = entries.flatMap((entry, index) => (index === found.index ? replaced : entry === old ? [] : [entry]))
  return [...new Set(next)]
}

function shown(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= SHOWN_CHARS ? line : `${line.slice(0, SHOWN_CHARS).toWellFormed()}…`
}
