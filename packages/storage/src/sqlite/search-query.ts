/** Longer queries are cut: nobody types them, and marking thousands of matches takes seconds. */
const MAX_CHARS = 500

/**
 * What a person typed, as an FTS5 expression; `null` when no word is left. Every term is quoted, so nothing in it is syntax:
 * hyphens, colons and brackets only separate words. Left over quotes and operators without a term on both sides go.
 */
export function toSearchExpression(query: string): string | null {
  const expression: string[] = []
  let operator: string | null = null
  for (const token of tokens(query)) {
    if (token === 'AND' || token === 'OR' || token === 'NOT') {
      operator = token
      continue
    }
    const term = toTerm(token)
    if (term === null) continue
    if (operator !== null && expression.length > 0) expression.push(operator)
    expression.push(term)
    operator = null
  }
  return expression.length === 0 ? null : expression.join(' ')
}

/** Quoted phrases and words; a quote without its partner separates words. */
function tokens(query: string): string[] {
  return (
    query
      .slice(0, MAX_CHARS)
      .toWellFormed()
      .match(/"[^"]*"|[^\s"]+/gu) ?? []
  )
}

/** Marks and symbols are no words to the index: a term of nothing else would match nothing. */
function toTerm(token: string): string | null {
  const words = token.replaceAll(/["\0]/g, ' ').trim()
  if (!/[\p{L}\p{N}\p{Co}]/u.test(words)) return null
  return words.endsWith('*') && !token.startsWith('"') ? `"${words.slice(0, -1)}"*` : `"${words}"`
}
