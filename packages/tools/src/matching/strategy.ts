/** A piece of a text, end exclusive. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** What an edit of one matched piece is made from. Line ends are LF throughout. */
export interface Edit {
  /** The piece of the file. */
  readonly region: string
  /** What was asked for, and what shall stand in its place. */
  readonly search: string
  readonly replacement: string
}

/** One way to find a text that a model did not copy letter by letter. Pure. */
export interface Strategy {
  readonly name: string
  /** The places, in order, not overlapping. */
  find(text: string, search: string): readonly Range[] | Promise<readonly Range[]>
  /** What replaces the piece; `null` when that cannot be told for certain. */
  adapt(edit: Edit): string | null | Promise<string | null>
  /** Too free to change several places at once. */
  readonly singleOnly?: boolean
}
