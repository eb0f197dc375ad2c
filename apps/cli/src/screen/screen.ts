// Output that scrolls, and a footer that stays below it. On the terminal, from top to bottom:
//
//   earlier output, the terminal's own from here on
//   the tail: the last line of output, perhaps without an end yet
//   the footer: status and input line, redrawn in place
import { graphemes, width } from '../editor/graphemes.js'
import type { Output } from '../io.js'
import { Tail } from './tail.js'

/** Rows below the output, none as wide as the screen, and where the cursor stands in them. `null` hides it. */
export interface Footer {
  readonly rows: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number } | null
}

/** A terminal shared by output and a footer. */
export interface Screen {
  /** Goes above the footer, some milliseconds later; bursts are written a frame at a time. */
  readonly output: Output
  /** Draws the footer at once. */
  setFooter(footer: Footer): void
  /** Draws everything that can be drawn again: after Ctrl-L or a stop. */
  redraw(options: { readonly clear: boolean }): void
  /** Takes the footer away; nothing is written until `resume`, which draws it again and writes what came meanwhile. */
  pause(): void
  resume(): void
  /** From now on each frame is marked: the terminal said that it shows such a one as a whole. */
  markFrames(): void
  /** Writes what waits, takes the footer away and leaves the cursor on a row of its own. */
  close(): void
}

const FRAME_MS = 16
/** Words of a model come a few at a time; nobody reads them faster. */
const WORDS_FRAME_MS = 33
const MAX_WORDS_CHARS = 512
/** What one frame writes at most, so that a key never waits for a flood. */
const FRAME_CHARS = 16_384
const ESC = '\u001B['
/** Around a frame, for terminals that show it as a whole then. @see DEC private mode 2026, synchronized output */
const WHOLE = { begin: `${ESC}?2026h`, end: `${ESC}?2026l` }
const HIDE_CURSOR = `${ESC}?25l`
const SHOW_CURSOR = `${ESC}?25h`
/** More lines at a time are drawn with the footer. */
const MAX_INSERTED = 4
/** Colours and faces, and what else a terminal would not just show. */
const STYLES = /\u001B\[[0-9;]*m/g
const OBEYED = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/
const EMPTY: Footer = { rows: [], cursor: null }

/** A screen on `terminal`, which nobody else writes to until `close`. */
export function createScreen(terminal: Output): Screen {
  return new LiveScreen(terminal)
}

class LiveScreen implements Screen {
  readonly output: Output
  readonly #terminal: Output
  readonly #tail: Tail
  readonly #stopListening: () => void
  #footer = EMPTY
  #columns: number
  #waiting = ''
  #timer: NodeJS.Timeout | null = null
  #lastFrameMs = 0
  #isPaused = false
  #begin = HIDE_CURSOR
  #end = ''

  constructor(terminal: Output) {
    this.#terminal = terminal
    this.#columns = terminal.columns()
    this.#tail = new Tail(this.#columns)
    this.output = { ...terminal, write: (text) => this.#write(text) }
    this.#stopListening = terminal.onResize(() => this.#resize())
  }

  setFooter(footer: Footer): void {
    if (this.#isPaused) return
    if (footer.rows.length > 0)
      this.#terminal.write(this.#begin + this.#toFooter() + this.#drawFooter(footer) + this.#end)
    else {
      this.#terminal.write(this.#begin + this.#toTail() + SHOW_CURSOR + this.#end)
      this.#footer = EMPTY
    }
  }

  redraw({ clear }: { readonly clear: boolean }): void {
    const footer = this.#footer
    const start = clear ? `${ESC}2J${ESC}H` : '\r'
    this.#tail.append('\n')
    this.#footer = EMPTY
    this.#terminal.write(this.#begin + start + this.#drawFooter(footer) + this.#end)
  }

  pause(): void {
    this.setFooter(EMPTY)
    this.#isPaused = true
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  resume(): void {
    this.#isPaused = false
    if (this.#tail.end.column > 0) this.#terminal.write('\r\n')
    this.#tail.append('\n')
    if (this.#waiting !== '') this.#timer = setTimeout(() => this.#frame(), 0)
  }

  markFrames(): void {
    this.#begin = WHOLE.begin + HIDE_CURSOR
    this.#end = WHOLE.end
  }

  close(): void {
    this.#isPaused = false
    this.#stopListening()
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    while (this.#waiting !== '') this.#frame()
    const lineEnd = this.#tail.end.column > 0 ? '\r\n' : ''
    this.#terminal.write(`${this.#begin}${this.#toTail()}${lineEnd}${SHOW_CURSOR}${this.#end}`)
    this.#tail.append('\n')
    this.#footer = EMPTY
  }

  #write(text: string): void {
    if (text === '') return
    this.#waiting += text.replaceAll('\t', '    ')
    if (this.#timer || this.#isPaused) return
    const sinceMs = performance.now() - this.#lastFrameMs
    const frameMs = this.#waiting.length > MAX_WORDS_CHARS ? FRAME_MS : WORDS_FRAME_MS
    this.#timer = setTimeout(() => this.#frame(), Math.max(0, frameMs - sinceMs))
  }

  #frame(): void {
    this.#lastFrameMs = performance.now()
    const text = this.#nextPiece()
    this.#timer = this.#waiting === '' ? null : setTimeout(() => this.#frame(), FRAME_MS)
    const words = this.#inserted(text)
    if (words !== null) {
      this.#terminal.write(this.#begin + words + this.#end)
      return
    }
    const start = this.#begin + this.#toTail()
    this.#tail.append(text)
    const footer = this.#footer
    this.#footer = EMPTY
    this.#terminal.write(start + text.replaceAll('\n', '\r\n') + this.#drawFooter(footer) + this.#end)
  }

  /**
   * Some words put above a footer that is only moved down, not drawn again: most of what a model writes comes this way. `null` where the text
   * is more than that, or would be broken by the terminal; nothing has happened then.
   */
  #inserted(text: string): string | null {
    const { rows, cursor } = this.#footer
    const lines = text.split('\n')
    if (rows.length === 0 || lines.length > MAX_INSERTED || OBEYED.test(text.replace(STYLES, ''))) return null
    const before = this.#tail.end.column
    const fits = lines.every((line, index) => (index === 0 ? before : 0) + width(line) < this.#columns)
    const hasRoom = rows.length + lines.length < this.#terminal.rows()
    if (!fits || !hasRoom) return null
    // A line that is not begun yet has no row of its own; its last end needs none.
    const isEnded = lines.at(-1) === ''
    const added = lines.length - (isEnded ? 1 : 0) - (before > 0 ? 1 : 0)
    this.#tail.append(text)
    const last = rows.length - 1
    const at = cursor?.row ?? last
    const down = (count: number) => (count > 0 ? `${ESC}${count}B` : '')
    const up = (count: number) => (count > 0 ? `${ESC}${count}A` : '')
    const right = (count: number) => (count > 0 ? `${ESC}${count}C` : '')
    // Rows are made below the footer, where the screen scrolls for them, and put in above it.
    const moved =
      added > 0 ? `${down(last - at)}${'\n'.repeat(added)}${up(last + added)}\r${ESC}${added}L` : `${up(at)}\r`
    const toTail = before > 0 ? `${ESC}1A${right(before)}` : ''
    const written = (isEnded ? lines.slice(0, -1) : lines).join('\r\n')
    const back = `\r${down(1 + at)}${right(cursor?.column ?? 0)}${cursor === null ? '' : SHOW_CURSOR}`
    return moved + toTail + written + back
  }

  /** At most a frame of what waits, to the end of a line where there is one. */
  #nextPiece(): string {
    const waiting = this.#waiting
    if (waiting.length <= FRAME_CHARS) {
      this.#waiting = ''
      return waiting
    }
    const lineEnd = waiting.lastIndexOf('\n', FRAME_CHARS) + 1
    const end = lineEnd > 0 ? lineEnd : wholeCharacters(waiting, FRAME_CHARS)
    this.#waiting = waiting.slice(end)
    return waiting.slice(0, end)
  }

  /** From the cursor to the first column of the footer. */
  #toFooter(): string {
    const up = this.#footer.cursor?.row ?? Math.max(0, this.#footer.rows.length - 1)
    return `${up > 0 ? `${ESC}${up}A` : ''}\r`
  }

  /** From the cursor to where the output goes on; everything below is erased. */
  #toTail(): string {
    const { column, last } = this.#tail.end
    if (column === 0) return this.#toFooter() + erase(this.#footer.rows.length)
    if (this.#footer.rows.length === 0) return ''
    const start = `${this.#toFooter()}${ESC}1A`
    if (column < this.#columns) return `${start}${ESC}${column}C${ESC}J`
    // At the edge the next character breaks the row by itself only when the last one was written just before it.
    const before = column - width(last)
    return `${start}${before > 0 ? `${ESC}${before}C` : ''}${ESC}J${last}`
  }

  /** Draws a footer where the last one stands, or below the tail when there is none, and leaves the cursor in it. */
  #drawFooter(footer: Footer): string {
    const isFirst = this.#footer.rows.length === 0
    const isShrinking = footer.rows.length < this.#footer.rows.length
    const start = isFirst && footer.rows.length > 0 && this.#tail.end.column > 0 ? '\r\n' : ''
    const rows = footer.rows.map((row) => `${row}${ESC}K`).join('\r\n')
    this.#footer = footer
    if (footer.rows.length === 0) return ''
    const below = isShrinking ? `${ESC}J` : ''
    if (footer.cursor === null) return `${start}${rows}${below}`
    const { row, column } = footer.cursor
    const up = footer.rows.length - 1 - row
    const move = `${up > 0 ? `${ESC}${up}A` : ''}\r${column > 0 ? `${ESC}${column}C` : ''}`
    return `${start}${rows}${below}${move}${SHOW_CURSOR}`
  }

  /** Terminals break rows anew when they get narrower: what stood in one row may stand in several, the footer's too. */
  #resize(): void {
    const columns = this.#terminal.columns()
    if (columns === this.#columns) return
    const { rows, cursor } = this.#footer
    const brokenRows = (row: string) => Math.max(1, Math.ceil(width(row) / columns))
    const at = cursor ?? { row: Math.max(0, rows.length - 1), column: 0 }
    const above = rows.slice(0, at.row).reduce((sum, row) => sum + brokenRows(row), 0)
    this.#columns = columns
    this.#tail.resize(columns)
    if (rows.length === 0) return
    const up = above + Math.floor(at.column / columns)
    const all = rows.reduce((sum, row) => sum + brokenRows(row), 0)
    this.#terminal.write(`${up > 0 ? `${ESC}${up}A` : ''}\r${erase(all)}`)
    this.#footer = { rows: [''], cursor: { row: 0, column: 0 } }
  }
}

/** Erases rows from the first column on. Erasing all from the first cell of a screen would put them into tmux's history. */
function erase(rows: number): string {
  return rows > 1 ? `${ESC}K${ESC}1B${ESC}J${ESC}1A` : `${ESC}K`
}

function wholeCharacters(text: string, atMost: number): number {
  const near = graphemes(text.slice(atMost - 64, atMost))
    .slice(0, -1)
    .join('').length
  return near > 0 ? atMost - 64 + near : atMost
}
