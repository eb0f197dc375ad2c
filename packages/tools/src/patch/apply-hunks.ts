import { applyEdit } from '../matching/apply-edit.js'
import { explainOutcome } from '../matching/explain.js'
import { toLf, withLineEnds } from '../matching/line-ends.js'
import type { Range } from '../matching/strategy.js'
import type { Hunk } from './parse-patch.js'

/** The text after all hunks, or what is wrong with the first that does not fit. */
type HunksOutcome =
  | { readonly type: 'applied'; readonly text: string; readonly notes: readonly string[] }
  | { readonly type: 'refused'; readonly problem: string }

type HunkOutcome =
  | { readonly type: 'changed'; readonly text: string; readonly note?: string }
  | { readonly type: 'unchanged'; readonly note?: string }
  | { readonly type: 'refused'; readonly problem: string }

/** Applies hunks in order, each to what the ones before left. */
export async function applyHunks(path: string, original: string, hunks: readonly Hunk[]): Promise<HunksOutcome> {
  let text = original
  const notes: string[] = []
  for (const [index, hunk] of hunks.entries()) {
    const name = `hunk ${index + 1}`
    const outcome = await applyHunk({ path, name, text, hunk })
    if (outcome.type === 'refused') return outcome
    if (outcome.type === 'changed') text = outcome.text
    if (outcome.note) notes.push(`${name} ${outcome.note}`)
  }
  return { type: 'applied', text, notes }
}

interface Placing {
  readonly path: string
  readonly name: string
  readonly text: string
  readonly hunk: Hunk
}

async function applyHunk(placing: Placing): Promise<HunkOutcome> {
  const { lines } = placing.hunk
  const join = (skipped: 'add' | 'remove') =>
    lines.map((line) => (line.kind === skipped ? '' : `${line.text}\n`)).join('')
  const [search, replacement] = [join('add'), join('remove')]
  if (search === replacement) return { type: 'unchanged' }
  const crlf = placing.text.includes('\r\n')
  // Every line gets a line end, so that whole lines are compared with whole lines.
  const isOpen = placing.text !== '' && !placing.text.endsWith('\n')
  const whole = { ...placing, text: isOpen ? placing.text + withLineEnds('\n', crlf) : placing.text }
  const outcome = search === '' ? insert(whole, replacement, crlf) : await exchange(whole, search, replacement)
  return outcome.type === 'changed' && isOpen ? { ...outcome, text: outcome.text.replace(/\r?\n$/, '') } : outcome
}

function insert({ path, name, text, hunk }: Placing, added: string, crlf: boolean): HunkOutcome {
  const lf = toLf(text)
  const isAtEnd = hunk.hints.length === 0
  const at = isAtEnd ? { start: lf.text.length, end: lf.text.length } : findHint(lf.text, hunk.hints)
  if (!at)
    return {
      type: 'refused',
      problem: `${path}: ${name} only adds lines, so its "@@ hint @@" must be a line that is in the file exactly once. Give such a line, or lines of context.`,
    }
  if (isAtEnd ? lf.text.endsWith(added) : lf.text.startsWith(added, at.end))
    return { type: 'unchanged', note: 'was there already.' }
  const position = lf.toOriginal(at.end)
  const changed = text.slice(0, position) + withLineEnds(added, crlf) + text.slice(position)
  const note =
    isAtEnd && lf.text !== '' ? { note: 'names no place, so its lines were added at the end of the file.' } : {}
  return { type: 'changed', text: changed, ...note }
}

async function exchange(
  { path, name, text, hunk }: Placing,
  search: string,
  replacement: string,
): Promise<HunkOutcome> {
  const scope = scopeOf(toLf(text).text, hunk.hints)
  const request = { oldString: search, newString: replacement, replaceAll: false }
  const inScope = (range: Range) => !scope || (range.start < scope.end && range.end > scope.start)
  const outcome = await applyEdit(text, {
    ...request,
    accepts: (range, lf) => isWholeLines(range, lf) && inScope(range),
  })
  if (outcome.type === 'edited')
    return {
      type: 'changed',
      text: outcome.text,
      ...(outcome.strategy === 'exact' ? {} : { note: `matched loosely (${outcome.strategy}): check the diff.` }),
    }
  if (outcome.type === 'already-applied') return { type: 'unchanged', note: 'was there already.' }
  const problem = await explainOutcome(outcome, { path, text, search, name })
  const elsewhere =
    scope && outcome.type === 'not-found' ? ` Only lines below "${hunk.hints.at(-1)}" were looked at.` : ''
  return { type: 'refused', problem: problem + elsewhere }
}

const isWholeLines = ({ start, end }: Range, text: string): boolean =>
  (start === 0 || text[start - 1] === '\n') && (end === text.length || text[end - 1] === '\n')

const CLOSES = /^(?:[)\]}]|end\b)/
const OPENS = /[{:([]\s*$/

/** The line that alone is, or holds, the last hint, inside what the hints before it lead. `null` when there is none or several. */
function findHint(text: string, hints: readonly string[]): Range | null {
  const outer = scopeOf(text, hints.slice(0, -1)) ?? { start: 0, end: text.length }
  const hint = hints.at(-1)
  return hint === undefined ? null : onlyLine(text, outer, hint)
}

/** The block that the hints lead: what is indented below the last of them. `null` when hints or indentation do not tell. */
function scopeOf(text: string, hints: readonly string[]): Range | null {
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
