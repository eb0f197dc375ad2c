const TOKEN =
  /(?<text>\\[^\w]|[^\\^$.*+?()[\]{}|])|(?<repeat>(?:[*+?]|\{\d+,?\d*\})\??)|\\[dDwWsSbB]|[.^$|()]|\[(?:\\.|[^\\\]])*\]/suy

/**
 * Text that is in everything the expression matches, as far as it is plain to see: the longest outside of groups. Files without it need
 * not be looked at line by line. `null` when there is none.
 */
export function requiredText({ source, flags }: RegExp): string | null {
  if (flags.includes('i')) return null
  let [longest, current, depth, at] = ['', '', 0, 0]
  while (at < source.length) {
    TOKEN.lastIndex = at
    const match = TOKEN.exec(source)
    if (!match?.groups) return null
    at = TOKEN.lastIndex
    const [token] = match
    const { text, repeat } = match.groups
    if (token === ')') depth--
    else if (token === '(') depth++
    else if (token === '|' && depth === 0) return null
    if (text !== undefined && depth === 0) {
      current += text.replace(/^\\/, '')
      continue
    }
    // What may come any number of times may be missing, unless it is one or more.
    if (repeat !== undefined && !repeat.startsWith('+')) current = [...current].slice(0, -1).join('')
    if (current.length > longest.length) longest = current
    current = ''
  }
  if (current.length > longest.length) longest = current
  return longest === '' ? null : longest
}
