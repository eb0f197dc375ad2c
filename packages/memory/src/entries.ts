const MARK = '§'
const BETWEEN = `\n${MARK}\n`

/** The entries of a file: what stands between lines of a lone section sign. Empty ones are no entries. */
export function parseEntries(text: string): readonly string[] {
  return text
    .replaceAll('\r\n', '\n')
    .split(/^[ \t]*§[ \t]*$/m)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** The text of a file with these entries. */
export function joinEntries(entries: readonly string[]): string {
  return entries.join(BETWEEN)
}

/** `text` as one entry: without signs that would cut it in two. */
export function toEntry(text: string): string {
  return text.replace(/^[ \t]*§[ \t]*$/gm, '').trim()
}

/** What a search for an entry by some of its words comes to. */
type EntryMatch =
  | { readonly type: 'one'; readonly index: number }
  | { readonly type: 'none' }
  | { readonly type: 'several'; readonly entries: readonly string[] }

/** The entry that is `words`, or the only one that holds them. Equal entries count as one. */
export function findEntry(entries: readonly string[], words: string): EntryMatch {
  const whole = entries.indexOf(words.trim())
  if (whole >= 0) return { type: 'one', index: whole }
  const matches = [...new Set(entries.filter((entry) => entry.includes(words.trim())))]
  if (matches.length > 1) return { type: 'several', entries: matches }
  return matches[0] === undefined ? { type: 'none' } : { type: 'one', index: entries.indexOf(matches[0]) }
}
