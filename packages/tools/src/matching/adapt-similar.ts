import { translateIndentation } from './indentation.js'
import { adaptLines } from './lines.js'
import { bare } from './similarity.js'
import type { Edit } from './strategy.js'
import { toPlain } from './typography.js'

const QUOTES = /["'`]/g

/**
 * The replacement for a block that is only like the one asked for. Lines that stay are the file's; a line that goes must be the one
 * asked for but for spacing, quotes and its separator, and what comes instead takes those over. `null` otherwise.
 */
export const adaptSimilar = (edit: Edit): string | null =>
  adaptLines(edit, (lines, from, to, { head, tail }) => {
    const requested = from.slice(head, from.length - tail)
    const found = to.slice(head, to.length - tail)
    if (!requested.every((line, index) => bare(line) === bare(found[index]!))) return null
    const styled = withSeparators(withQuotes(lines, requested, found), requested, found)
    return styled && translateIndentation(styled, from, to)
  })

/** `lines` with the kind of quotes that `found` has where `requested` has others; `null` when no rule tells which. */
function withQuotes(
  lines: readonly string[],
  requested: readonly string[],
  found: readonly string[],
): readonly string[] | null {
  const quotesOf = (block: readonly string[]) => toPlain(block.join('\n')).text.match(QUOTES) ?? []
  const [from, to] = [quotesOf(requested), quotesOf(found)]
  const kinds = new Map<string, string>()
  for (const [index, quote] of from.entries()) {
    if ((kinds.get(quote) ?? to[index]) !== to[index]) return null
    kinds.set(quote, to[index]!)
  }
  const changed = [...kinds].filter(([quote, kind]) => quote !== kind)
  if (changed.length === 0) return lines
  // A quote of the new kind inside the old ones would end the string early.
  const isFree = changed.every(([, kind]) => kinds.has(kind) || lines.every((line) => !line.includes(kind)))
  return isFree ? lines.map((line) => line.replace(QUOTES, (quote) => kinds.get(quote) ?? quote)) : null
}

/** `lines` ending in the separators of `found` where `requested` has others. */
function withSeparators(
  lines: readonly string[] | null,
  requested: readonly string[],
  found: readonly string[],
): readonly string[] | null {
  const separator = (line: string) => /(?:[;,]|(?<!\s))\s*$/.exec(line)![0].trim()
  const differs = requested.some((line, index) => separator(line) !== separator(found[index]!))
  if (!differs || !lines || lines.length === 0) return lines
  if (lines.length !== requested.length) return null
  const result = lines.map((line, index) => {
    const [own, theirs] = [separator(line), separator(found[index]!)]
    if (separator(requested[index]!) === theirs) return line
    return own === separator(requested[index]!)
      ? line.trimEnd().slice(0, line.trimEnd().length - own.length) + theirs
      : null
  })
  return result.includes(null) ? null : (result as string[])
}
