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
    const asked = from.slice(head, from.length - tail)
    const found = to.slice(head, to.length - tail)
    if (!asked.every((line, index) => bare(line) === bare(found[index]!))) return null
    const styled = withSeparators(withQuotes(lines, asked, found), asked, found)
    return styled && translateIndentation(styled, from, to)
  })

/** `lines` with the kind of quotes that `found` has where `asked` has others; `null` when no rule tells which. */
function withQuotes(
  lines: readonly string[],
  asked: readonly string[],
  found: readonly string[],
): readonly string[] | null {
  const quotesOf = (block: readonly string[]) => toPlain(block.join('\n')).text.match(QUOTES) ?? []
  const [from, to] = [quotesOf(asked), quotesOf(found)]
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

/** `lines` ending in the separators of `found` where `asked` has others. */
function withSeparators(
  lines: readonly string[] | null,
  asked: readonly string[],
  found: readonly string[],
): readonly string[] | null {
  const separator = (line: string) => /(?:[;,]|(?<!\s))\s*$/.exec(line)![0].trim()
  const differs = asked.some((line, index) => separator(line) !== separator(found[index]!))
  if (!differs || !lines || lines.length === 0) return lines
  if (lines.length !== asked.length) return null
  const result = lines.map((line, index) => {
    const [own, theirs] = [separator(line), separator(found[index]!)]
    if (separator(asked[index]!) === theirs) return line
    return own === separator(asked[index]!)
      ? line.trimEnd().slice(0, line.trimEnd().length - own.length) + theirs
      : null
  })
  return result.includes(null) ? null : (result as string[])
}
