import measure from 'fast-string-truncated-width'
import type { Output } from '../io.js'
import type { Colour } from './look.js'

/** Colours, or nothing where they are not wanted. */
export interface Style extends Readonly<Record<Colour, (text: string) => string>> {
  /** Names of what is done, and the sign before the line. Readable on light and on dark, in 16 colours. */
  accent(text: string): string
  /** What wants to be looked at: questions and warnings. As readable. */
  notice(text: string): string
  dim(text: string): string
  bold(text: string): string
  italic(text: string): string
  underline(text: string): string
  strike(text: string): string
  /** Colours of text and ground exchanged. */
  inverse(text: string): string
  /** A sign, or what is read aloud for it. */
  sign(name: Sign): string
  /** The sign before the line, unpainted. */
  readonly prompt: string
}

/** What stands before a line for what it is. */
export type Sign = 'done' | 'failed' | 'begun' | 'current' | 'open' | 'answer'

const SIGNS: Readonly<Record<Sign, readonly [sign: string, word: string]>> = {
  done: ['✓', 'done:'],
  failed: ['✗', 'failed:'],
  begun: ['·', 'begun:'],
  current: ['▸', 'now:'],
  open: ['☐', 'open:'],
  answer: ['→', 'answer:'],
}

/** The usual colours: the two accents are readable on light and on dark. */
const USUAL: Readonly<Record<Colour, string>> = {
  ...{ accent: '94', notice: '35', red: '31', green: '32', yellow: '33', blue: '94', magenta: '35', cyan: '36' },
}

const paint = (open: string, close: number) => (text: string) => `\u001B[${open}m${text}\u001B[${close}m`
const plain = (text: string) => text

/** Styles for `output`, in the colours of its look: plain when it is not a terminal or `NO_COLOR` is set. */
export function createStyle({ colors, look }: Pick<Output, 'colors' | 'look'>): Style {
  const { colours = {}, prompt = '>', isSpoken = false } = look?.() ?? {}
  const at = isSpoken ? 1 : 0
  const colour = (name: Colour) => {
    const open = colours[name] ?? USUAL[name]
    return colors && open !== '' ? paint(open, 39) : plain
  }
  const face = (open: string, close: number) => (colors ? paint(open, close) : plain)
  return {
    accent: colour('accent'),
    notice: colour('notice'),
    dim: face('2', 22),
    bold: face('1', 22),
    italic: face('3', 23),
    underline: face('4', 24),
    strike: face('9', 29),
    inverse: face('7', 27),
    red: colour('red'),
    green: colour('green'),
    yellow: colour('yellow'),
    blue: colour('blue'),
    magenta: colour('magenta'),
    cyan: colour('cyan'),
    sign: (name) => SIGNS[name][at],
    prompt,
  }
}

const ASCII = /^[\x20-\x7e]*$/

/** So many characters hold what fits into a row, unless nearly all of them take no room. */
const mostOf = (columns: number) => 4_096 + 64 * columns

/** `text` on one line and at most `columns` wide on a screen, where emoji and East Asian characters take two columns. */
export function clip(text: string, columns: number): string {
  const most = mostOf(columns)
  const part = text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text
  const line = printable(part.replace(/(?<!\s)\s*\n\s*/g, ' ').replaceAll('\t', '  ')).trimEnd()
  // Measuring takes longer than all the rest, and most lines need none.
  if (line.length <= columns && ASCII.test(line)) return line
  // Where signs of several kinds stand together it may keep more than there is room for, and says so when it is asked again.
  for (let limit = columns; limit > 0; ) {
    const { index, truncated, ellipsed } = measure(line, { limit, ellipsis: '…' })
    const shown = truncated ? `${line.slice(0, index)}${ellipsed ? '…' : ''}` : line
    const over = measure(shown).width - columns
    if (over <= 0) return shown
    limit -= over
  }
  return ''
}

/** `text` broken between words where it would be wider than `columns`; a longer word is left to the terminal. */
export function wrap(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n')
}

function wrapLine(line: string, columns: number): string {
  const rows: string[] = []
  let [row = '', ...words] = line.split(/(?<=\S) /)
  let taken = widthUpTo(row, columns)
  for (const word of words) {
    const more = widthUpTo(word, columns)
    if (taken + 1 + more <= columns) {
      row += ` ${word}`
      taken += 1 + more
    } else {
      rows.push(row)
      row = word
      taken = more
    }
  }
  rows.push(row)
  return rows.join('\n')
}

/** Columns of a text without colours counted; of one that is wider than `columns`, more than those. */
function widthUpTo(text: string, columns: number): number {
  if (ASCII.test(text)) return text.length
  const { truncated, width } = measure(text, { limit: columns })
  return truncated ? columns + 1 : width
}

// As ECMA-48 has them: strings that BEL or ST end, control sequences, and escapes of two characters. Node's own pattern takes time with the
// square of the text.
const ESCAPES =
  /(?:\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u0090\u0098\u009C-\u009F]*(?:\u0007|\u001B\\|\u009C)|(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B[ -/]*[0-~]/g

/** The beginning of one of those at the end of a text. */
const BEGUN =
  /(?:(?:\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u0090\u0098\u009C-\u009F]*\u001B?|(?:\u001B\[|\u009B)[0-?]*[ -/]*|\u001B[ -/]*)$/
/** What has begun and is longer is no escape sequence that anybody writes. */
const LONGEST_ESCAPE = 4096
/** What shows the text after it in another order. Marks of direction, which names in Arabic or Hebrew need, do not. */
const REORDERS = [...'\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069']

/**
 * `text` without what a terminal would obey rather than show: escape sequences and control characters but line feed and tab. What turns the
 * order of letters around becomes an escape such as `\u202e`.
 */
export function printable(text: string): string {
  const shown = text.replace(ESCAPES, '').replace(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, '')
  return REORDERS.reduce((result, sign) => result.replaceAll(sign, `\\u${sign.charCodeAt(0).toString(16)}`), shown)
}

/** A text that comes in pieces, as {@link printable}: what begins an escape sequence waits for the rest of it. */
export class PrintableStream {
  #begun = ''

  add(piece: string): string {
    const text = this.#begun + piece
    const at = text.search(BEGUN)
    this.#begun = at === -1 || text.length - at > LONGEST_ESCAPE ? '' : text.slice(at)
    return printable(text.slice(0, text.length - this.#begun.length))
  }

  /** What was waiting. */
  end(): string {
    const text = this.#begun
    this.#begun = ''
    return printable(text)
  }
}
