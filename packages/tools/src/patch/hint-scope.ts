import type { Range } from '../matching/strategy.js'

const CLOSES = /^(?:[)\]}]|end\b)/
const OPENS = /[{:([]\s*$/

/** The line that alone is, or holds, the last hint, inside what the hints before it lead. `null` when there is none or several. */
export function findHint(text: string, hints: readonly string[]): Range | null {
  const outer = scopeOf(text, hints.slice(0, -1)) ?? { start: 0, end: text.length }
  const hint = hints.at(-1)
  return hint === undefined ? null : onlyLine(text, outer, hint)
}

/** The block that the hints lead: what is indented below the last of them. `null` when hints or indentation do not tell. */
export function scopeOf(text: string, hints: readonly string[]): Range | null {
  let scope: Range | null = null
  for (const hint of hints) {
    const line: Range | null = onlyLine(text, scope ?? { start: 0, end: text.length }, hint)
    scope = line && blockBelow(text, line)
    if (!scope) return null
  }
  return scope
}

function onlyLine(text: string, { start, end }: Range, hint: string): Range | null {
  const lines: Range[] = []
  for (let at = start; at < end; ) {
    const next = text.indexOf('\n', at) + 1 || text.length
    lines.push({ start: at, end: next })
    at = next
  }
  const content = (line: Range) => text.slice(line.start, line.end).trim()
  const equal = lines.filter((line) => content(line) === hint)
  const found = equal.length > 0 ? equal : lines.filter((line) => content(line).includes(hint))
  return found.length === 1 ? found[0]! : null
}

function blockBelow(text: string, line: Range): Range | null {
  const depth = depthOf(text.slice(line.start, line.end))
  let end = line.end
  let isEmpty = true
  while (end < text.length) {
    const next = text.indexOf('\n', end) + 1 || text.length
    const current = text.slice(end, next)
    const isDeeper = current.trim() === '' || depthOf(current) > depth
    if (!isDeeper && !(depthOf(current) === depth && CLOSES.test(current.trim()))) break
    isEmpty &&= !isDeeper || current.trim() === ''
    end = next
    if (!isDeeper && !OPENS.test(current)) break
  }
  return isEmpty ? null : { start: line.start, end }
}

const depthOf = (line: string): number => /^[ \t]*/.exec(line)![0].length
