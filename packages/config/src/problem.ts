/** A place in a text, both counted from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** Something wrong with a file of the Hermes home. */
export interface ConfigProblem {
  /** One complete line, with file, line and column where they are known. */
  readonly message: string
  readonly file: string
  /** From 1. */
  readonly line?: number
  /** From 1. */
  readonly column?: number
  /** It is there for nothing, and nothing is wrong because of it. */
  readonly isHarmless?: true
  /** It is about this key, such as `time_keeper` or `platforms.lobby`, which Hermes itself has no meaning for: an extension may have one. */
  readonly unknownKey?: string
}

/** A problem at a place of a file. */
export function problemAt(file: string, place: Position, message: string): ConfigProblem {
  const { line, column } = place
  return { message: `${file}:${line}:${column}: ${message}`, file, line, column }
}
