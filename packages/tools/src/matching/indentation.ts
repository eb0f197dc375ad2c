const indentOf = (line: string): string => /^[ \t]*/.exec(line)![0]
const isBlank = (line: string): boolean => line.trim() === ''

const TAB_WIDTHS = [2, 3, 4, 8]

type Translate = (indent: string) => string | null

/**
 * Gives `lines` the indentation of the file, learned from the lines that were asked for (`from`) and those found (`to`): a constant
 * shift, or another unit (tabs for spaces, four for two). `null` when neither explains every line.
 */
export function translateIndentation(
  lines: readonly string[],
  from: readonly string[],
  to: readonly string[],
): readonly string[] | null {
  const pairs = from
    .map((line, index) => [line, to[index] ?? ''] as const)
    .filter(([line]) => !isBlank(line))
    .map(([requested, found]) => [indentOf(requested), indentOf(found)] as const)
  const translate = shift(pairs) ?? scale(pairs)
  if (!translate) return null
  const result = lines.map((line) => {
    if (isBlank(line)) return line
    const indent = translate(indentOf(line))
    return indent === null ? null : indent + line.slice(indentOf(line).length)
  })
  return result.includes(null) ? null : (result as string[])
}

function shift(pairs: readonly (readonly [string, string])[]): Translate | null {
  const [requested, found] = pairs[0] ?? ['', '']
  if (found.endsWith(requested)) {
    const added = found.slice(0, found.length - requested.length)
    if (pairs.every(([from, to]) => to === added + from)) return (indent) => added + indent
  }
  if (requested.endsWith(found)) {
    const removed = requested.slice(0, requested.length - found.length)
    if (pairs.every(([from, to]) => from === removed + to))
      return (indent) => (indent.startsWith(removed) ? indent.slice(removed.length) : null)
  }
  return null
}

function scale(pairs: readonly (readonly [string, string])[]): Translate | null {
  const example = pairs.find(([from, to]) => from !== '' && to !== '')
  if (!example) return null
  const [from, to] = example
  if (from[0] !== to[0] && !TAB_WIDTHS.includes(Math.max(from.length, to.length) / Math.min(from.length, to.length)))
    return null
  const unit = to[0]!
  const isUniform = (indent: string, sample: string) => indent === sample[0]!.repeat(indent.length)
  const translate: Translate = (indent) => {
    const length = (indent.length * to.length) / from.length
    return isUniform(indent, from) && Number.isInteger(length) ? unit.repeat(length) : null
  }
  return pairs.every(([requested, found]) => translate(requested) === found) ? translate : null
}
