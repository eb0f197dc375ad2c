// The keys of vi, for the line: a state and a character give the next state. Inserting is left to the usual editor.
import { graphemes } from './graphemes.js'

/** What vi knows beside the line. */
export interface ViState {
  readonly mode: 'insert' | 'normal'
  /** A command that is not whole yet: `d`, `2d`, `r`. */
  readonly pending: string
  /** Lines as they were before each change, the newest last. */
  readonly undo: readonly ViLine[]
}

interface ViLine {
  readonly text: string
  readonly cursor: number
}

/** What vi needs of a line, and gives back. */
interface ViEditor extends ViLine {
  readonly killed: string
}

/** What a command came to. `asks` is for whoever owns the line. */
interface ViStep {
  readonly line: ViEditor
  readonly vi: ViState
  readonly asks?: 'search' | 'edit' | 'up' | 'down'
}

/** Insert mode, with nothing to take back. */
export const VI_BEGIN: ViState = { mode: 'insert', pending: '', undo: [] }
const MAX_UNDO = 100
const MAX_COUNT = 9_999
const COMMAND = /^(\d*)(?:([dcy])(\d*)([ia]?)(.)|(r)(.)|([^dcyr]))$/su
/** The beginning of such a command. */
const BEGUN = /^\d*(?:[dcy]\d*[ia]?|r)?$/

/** Ends inserting: the cursor goes one back, as in vi. */
export function leaveInsert(line: ViEditor, vi: ViState): ViStep {
  const isAtStart = line.cursor === 0 || line.text[line.cursor - 1] === '\n'
  return { line: isAtStart ? line : at(line, leftOf(line)), vi: { ...vi, mode: 'normal', pending: '' } }
}

/** Takes one character in normal mode. */
export function pressNormal(line: ViEditor, vi: ViState, character: string): ViStep {
  const typed = vi.pending + character
  // A lone 0 is the start of the line, and begins no number.
  if (typed !== '0' && BEGUN.test(typed)) return { line, vi: { ...vi, pending: typed } }
  const [, count, operator, more, reach, target, replaces, by, simple] = COMMAND.exec(typed) ?? []
  const idle = { ...vi, pending: '' }
  const times = Math.min(MAX_COUNT, Math.max(1, Number(count || 1)) * Math.max(1, Number(more || 1)))
  if (operator !== undefined) return operate(line, idle, { operator, target: target!, reach: reach ?? '', times })
  if (replaces !== undefined) return replace(line, idle, by!, times)
  return simple === undefined ? { line, vi: idle } : command(line, idle, simple, { times, isCounted: count !== '' })
}

interface Operation {
  readonly operator: string
  readonly target: string
  readonly reach: string
  readonly times: number
}

function operate(line: ViEditor, vi: ViState, { operator, target, reach, times }: Operation): ViStep {
  const span = reach === '' ? spanOf(line, operator, target, times) : wordAround(line, target, reach)
  if (span === null) return { line, vi }
  const [start, end] = span
  const killed = line.text.slice(start, end)
  if (operator === 'y') return { line: { ...(target === 'y' ? line : at(line, start)), killed }, vi }
  const left = { text: line.text.slice(0, start) + line.text.slice(end), cursor: start, killed }
  const changed = remember(line, vi)
  if (operator === 'c') return { line: left, vi: { ...changed, mode: 'insert' } }
  return { line: at(left, Math.min(start, lastOf(left))), vi: changed }
}

/** From where to where an operator reaches. */
function spanOf(line: ViEditor, operator: string, target: string, times: number): readonly [number, number] | null {
  const { text, cursor } = line
  if (target === operator) {
    const [start, end] = [startOf(line), endOf(line)]
    if (operator === 'c') return [start, end]
    return end < text.length ? [start, end + 1] : [Math.max(0, start - 1), end]
  }
  // As vi has it, a changed word keeps the space behind it.
  const motion = operator === 'c' && target === 'w' && /\S/.test(text[cursor] ?? '') ? 'e' : target
  const led = moved(line, motion, times)
  if (led === null) return null
  const to = whole(text, led)
  const isInclusive = motion === 'e' || motion === '$'
  const end = isInclusive && text[to] !== '\n' ? rightOf({ text, cursor: to }) : to
  return to < cursor ? [to, cursor] : [cursor, end]
}

function wordAround({ text, cursor }: ViEditor, target: string, reach: string): readonly [number, number] | null {
  if (target !== 'w') return null
  const kind = kindOf(text[cursor] ?? ' ')
  let [start, end] = [cursor, cursor]
  while (start > 0 && kindOf(text[start - 1]!) === kind) start--
  while (end < text.length && kindOf(text[end]!) === kind) end++
  while (reach === 'a' && text[end] === ' ') end++
  return [start, end]
}

function replace(line: ViEditor, vi: ViState, by: string, times: number): ViStep {
  const pieces = graphemes(line.text.slice(line.cursor, endOf(line)))
  if (pieces.length < times || by < ' ') return { line, vi }
  const gone = pieces.slice(0, times).join('').length
  const text = line.text.slice(0, line.cursor) + by.repeat(times) + line.text.slice(line.cursor + gone)
  return { line: { ...line, text, cursor: line.cursor + by.length * (times - 1) }, vi: remember(line, vi) }
}

interface Times {
  readonly times: number
  readonly isCounted: boolean
}

function command(line: ViEditor, vi: ViState, name: string, { times, isCounted }: Times): ViStep {
  const insert = (cursor: number, text = line.text): ViStep => ({
    line: { ...line, text, cursor },
    vi: { ...remember(line, vi), mode: 'insert' },
  })
  const operated = (operator: string, target: string) => operate(line, vi, { operator, target, reach: '', times })
  switch (name) {
    case 'i':
      return insert(line.cursor)
    case 'a':
      return insert(Math.min(endOf(line), rightOf(line)))
    case 'I':
      return insert(moved(line, '^', 1)!)
    case 'A':
      return insert(endOf(line))
    case 'o':
      return insert(endOf(line) + 1, `${line.text.slice(0, endOf(line))}\n${line.text.slice(endOf(line))}`)
    case 'O':
      return insert(startOf(line), `${line.text.slice(0, startOf(line))}\n${line.text.slice(startOf(line))}`)
    case 'x':
      return operated('d', 'l')
    case 'X':
      return operated('d', 'h')
    case 's':
      return operated('c', 'l')
    case 'D':
      return operated('d', '$')
    case 'C':
      return operated('c', '$')
    case 'S':
      return operated('c', 'c')
    case 'Y':
      return operated('y', 'y')
    case 'p':
    case 'P': {
      const start = name === 'P' ? line.cursor : Math.min(endOf(line), rightOf(line))
      const text = line.text.slice(0, start) + line.killed.repeat(times) + line.text.slice(start)
      const cursor = Math.max(0, start + line.killed.length * times - 1)
      return line.killed === '' ? { line, vi } : { line: { ...line, text, cursor }, vi: remember(line, vi) }
    }
    case '~': {
      const sign = graphemes(line.text.slice(line.cursor, endOf(line)))[0] ?? ''
      const turned = sign === sign.toLowerCase() ? sign.toUpperCase() : sign.toLowerCase()
      const text = line.text.slice(0, line.cursor) + turned + line.text.slice(line.cursor + sign.length)
      return {
        line: at({ ...line, text }, Math.min(lastOf(line), line.cursor + turned.length)),
        vi: remember(line, vi),
      }
    }
    case 'u': {
      const last = vi.undo.at(-1)
      return last ? { line: { ...line, ...last }, vi: { ...vi, undo: vi.undo.slice(0, -1) } } : { line, vi }
    }
    case '/':
      return { line, vi, asks: 'search' }
    case 'v':
      return { line, vi, asks: 'edit' }
    case 'j':
      return { line, vi, asks: 'down' }
    case 'k':
      return { line, vi, asks: 'up' }
    case 'g':
      return { line: at(line, 0), vi }
    case 'G':
      return { line: at(line, lastOf({ ...line, cursor: line.text.length })), vi }
    default: {
      const to = moved(line, name, isCounted || times === 1 ? times : 1)
      return to === null ? { line, vi } : { line: at(line, Math.min(to, lastOf({ ...line, cursor: to }))), vi }
    }
  }
}

/** Where a motion leads; `null` for what is none. */
function moved(line: ViEditor, name: string, times: number): number | null {
  const { text } = line
  const each = (step: (cursor: number) => number) => {
    let cursor = line.cursor
    for (let done = 0; done < times; done++) {
      const next = step(cursor)
      if (next === cursor) break
      cursor = next
    }
    return cursor
  }
  switch (name) {
    case 'h':
      return each((cursor) => Math.max(startOf(line), leftOf({ ...line, cursor })))
    case 'l':
    case ' ':
      return each((cursor) => Math.min(endOf(line), rightOf({ ...line, cursor })))
    case 'w':
      return each((cursor) => nextWord(text, cursor))
    case 'b':
      return each((cursor) => wordStart(text, cursor))
    case 'e':
      return each((cursor) => wordEnd(text, cursor))
    case '0':
      return startOf(line)
    case '^':
      return startOf(line) + (/^[ \t]*/.exec(text.slice(startOf(line), endOf(line)))?.[0].length ?? 0)
    case '$':
      return Math.max(startOf(line), endOf(line) - 1)
    default:
      return null
  }
}

function remember({ text, cursor }: ViLine, vi: ViState): ViState {
  return { ...vi, undo: [...vi.undo, { text, cursor }].slice(-MAX_UNDO) }
}

function at(line: ViEditor, cursor: number): ViEditor {
  return { ...line, cursor: whole(line.text, Math.max(0, cursor)) }
}

/** The start of the character that a place is in. */
function whole(text: string, cursor: number): number {
  let start = startOf({ text, cursor: Math.min(cursor, text.length) })
  for (const piece of graphemes(text.slice(start, endOf({ text, cursor: start })))) {
    if (start + piece.length > cursor) return start
    start += piece.length
  }
  return cursor
}

const kindOf = (sign: string) =>
  /\s/.test(sign) ? 'space' : /[\p{L}\p{N}\p{M}_\uD800-\uDFFF]/u.test(sign) ? 'word' : 'sign'

function nextWord(text: string, from: number): number {
  let cursor = from
  const kind = kindOf(text[cursor] ?? ' ')
  while (cursor < text.length && kind !== 'space' && kindOf(text[cursor]!) === kind) cursor++
  while (cursor < text.length && kindOf(text[cursor]!) === 'space') cursor++
  return cursor
}

function wordStart(text: string, from: number): number {
  let cursor = from
  while (cursor > 0 && kindOf(text[cursor - 1]!) === 'space') cursor--
  const kind = kindOf(text[cursor - 1] ?? ' ')
  while (cursor > 0 && kindOf(text[cursor - 1]!) === kind) cursor--
  return cursor
}

function wordEnd(text: string, from: number): number {
  let cursor = from + 1
  while (cursor < text.length && kindOf(text[cursor]!) === 'space') cursor++
  const kind = kindOf(text[cursor] ?? ' ')
  while (cursor + 1 < text.length && kindOf(text[cursor + 1]!) === kind) cursor++
  return Math.min(cursor, Math.max(0, text.length - 1))
}

function startOf({ text, cursor }: ViLine): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1
}

function endOf({ text, cursor }: ViLine): number {
  const end = text.indexOf('\n', cursor)
  return end < 0 ? text.length : end
}

/** Where the last character of the line of the cursor begins: in normal mode the cursor stands on one. */
function lastOf(line: ViLine): number {
  const [start, end] = [startOf(line), endOf(line)]
  return start === end ? start : end - (graphemes(line.text.slice(start, end)).at(-1)?.length ?? 0)
}

function leftOf({ text, cursor }: ViLine): number {
  return cursor - (graphemes(text.slice(0, cursor)).at(-1)?.length ?? 0)
}

function rightOf({ text, cursor }: ViLine): number {
  return cursor + (graphemes(text.slice(cursor))[0]?.length ?? 0)
}
