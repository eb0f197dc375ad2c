// Words on rows: each piece is final when it is written, so nothing is ever drawn again.
import { graphemes, width } from '../editor/graphemes.js'

/** How a piece of text looks. */
export type Paint = (text: string) => string

/** Text of one look. */
export interface Span {
  readonly text: string
  readonly paint: Paint
}

/** Rows of a terminal that fill word by word. */
interface Flow {
  /** Begins a line: `first` stands before its first row, `rest` before those it breaks into. Both may be coloured. */
  begin(first: string, rest: string): void
  add(span: Span): void
  /** Ends the row. Does nothing where none has begun. */
  end(): void
}

/** A row has at least as much room for words, however deep a list goes. */
const LEAST_COLUMNS = 8

/**
 * A flow that hands what is final to `write`, on rows of at most `columns()` columns, and of at least `least`. A word that is longer breaks where
 * the row ends.
 */
export function createFlow(write: (text: string) => void, columns: () => number, least = LEAST_COLUMNS): Flow {
  let isOpen = false
  let rest = ''
  let room = 0
  let column = 0
  /** The blank before the next word, and the pieces of that word. */
  let gap: Span | null = null
  let word: Span[] = []
  let wordWidth = 0

  const breakRow = () => {
    write(`\n${rest}`)
    column = 0
  }
  const writeWord = () => {
    if (wordWidth === 0) return
    if (column > 0 && gap) {
      const blanks = gap.text.length
      if (column + blanks + wordWidth > room) breakRow()
      else {
        write(gap.paint(gap.text))
        column += blanks
      }
    } else if (column > 0 && column + wordWidth > room) breakRow()
    gap = null
    for (const { text, paint } of word) {
      if (column + width(text) <= room) {
        write(paint(text))
        column += width(text)
      } else writeLong(text, paint)
    }
    word = []
    wordWidth = 0
  }
  const writeLong = (text: string, paint: Paint) => {
    let piece = ''
    let taken = 0
    for (const sign of graphemes(text)) {
      const signWidth = width(sign)
      if (column + taken + signWidth > room && column + taken > 0) {
        if (piece !== '') write(paint(piece))
        breakRow()
        piece = ''
        taken = 0
      }
      piece += sign
      taken += signWidth
    }
    if (piece !== '') write(paint(piece))
    column += taken
  }
  const addToWord = (text: string, paint: Paint) => {
    word.push({ text, paint })
    wordWidth += width(text)
    // Longer than a row: it breaks anyway, and need not wait for its end.
    if (wordWidth >= room) writeWord()
  }
  return {
    begin(first, following) {
      this.end()
      write(first)
      isOpen = true
      rest = following
      column = 0
      room = Math.max(least, columns() - width(stripColors(following)))
    },
    add({ text, paint }) {
      for (const piece of pieces(text)) {
        if (piece.trim() !== '') {
          // Rows may break between signs that take two columns, and words there have no blanks.
          if (isWide(piece)) writeWord()
          addToWord(piece, paint)
          if (isWide(piece)) writeWord()
        } else if (column > 0 || wordWidth > 0) {
          writeWord()
          gap = { text: piece, paint }
        }
      }
    },
    end() {
      if (!isOpen) return
      writeWord()
      gap = null
      isOpen = false
      write('\n')
    },
  }
}

/** A line of its own, which ends where the terminal breaks it: code, whose copies must be what was written. */
export function lineOf(spans: readonly Span[]): string {
  return spans.map(({ text, paint }) => paint(text)).join('')
}

/** Columns of spans on a screen. */
export function spansWidth(spans: readonly Span[]): number {
  return spans.reduce((sum, { text }) => sum + width(text), 0)
}

/** Spans on rows of at most `columns`; used where all of a text is there, as in the cell of a table. */
export function rowsOf(spans: readonly Span[], columns: number): readonly string[] {
  let text = ''
  const flow = createFlow(
    (piece) => (text += piece),
    () => columns,
    1,
  )
  flow.begin('', '')
  for (const span of spans) flow.add(span)
  flow.end()
  return text.slice(0, -1).split('\n')
}

const COLORS = /\u001B\[[\d;]*m/g
const stripColors = (text: string): string => text.replace(COLORS, '')

const ASCII = /^[\u0020-\u007E]*$/
const WIDE = /([\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFE30-\uFE4F\uFF00-\uFF60])/
const isWide = (piece: string): boolean => piece.length === 1 && WIDE.test(piece)

/** Words, blanks and single wide signs, in order. */
function pieces(text: string): readonly string[] {
  const byBlanks = text.split(/(\s+)/)
  const all = ASCII.test(text) ? byBlanks : byBlanks.flatMap((piece) => piece.split(WIDE))
  return all.filter((piece) => piece !== '')
}
