import { stripVTControlCharacters } from 'node:util'
import { graphemes, width } from '../editor/graphemes.js'

/** Where the last line of output ends on a screen of `columns`. */
interface TailEnd {
  /** 0 when the line is empty, `columns` when it fills its row: the cursor then waits at the edge. */
  readonly column: number
  /** The last character, which is written again to bring the cursor back to the edge. */
  readonly last: string
}

/** The last line of output, as long as it has no end: text goes on there although other things stand below it. */
export class Tail {
  #text = ''
  #end: TailEnd = { column: 0, last: '' }
  #columns: number

  constructor(columns: number) {
    this.#columns = columns
  }

  get end(): TailEnd {
    return this.#end
  }

  /** Takes text that goes to the screen. */
  append(written: string): void {
    const text = stripVTControlCharacters(written)
    const start = text.lastIndexOf('\n') + 1
    if (start > 0) {
      this.#text = ''
      this.#end = { column: 0, last: '' }
    }
    const more = text.slice(start)
    this.#text += more
    this.#end = advance(this.#end, more, this.#columns)
  }

  /** A terminal of another width breaks the line anew. */
  resize(columns: number): void {
    this.#columns = columns
    this.#end = advance({ column: 0, last: '' }, this.#text, columns)
  }
}

function advance(from: TailEnd, text: string, columns: number): TailEnd {
  let { column, last } = from
  for (const piece of graphemes(text)) {
    const taken = width(piece)
    if (taken === 0) continue
    column = column + taken > columns ? taken : column + taken
    last = piece
  }
  return { column, last }
}
