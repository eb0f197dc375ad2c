/** One word of a command line after quotes are removed. */
export interface Word {
  /** What the program would get. Values that cannot be known stay as they were written, for example `$NAME`. */
  readonly text: string
  /** One character for each of `text`: `u` plain, `q` quoted, `d` from an expansion. */
  readonly mask: string
  /** Part of it is known only when the command runs. */
  readonly dynamic: boolean
  /** Such a part is outside quotes, so it may become several words. */
  readonly splits: boolean
  /** Command and process substitutions inside it. */
  readonly scripts: readonly Script[]
}

export interface Redirect {
  readonly operator: string
  readonly target: Word
  /** Text of a here-document. */
  body: string | null
  /** Substitutions inside that text. */
  scripts: readonly Script[]
}

export interface Assignment {
  readonly name: string
  readonly value: Word
  /** The value is put behind the one before: `NAME+=…`. */
  readonly appends?: true
}

export interface SimpleCommand {
  readonly type: 'simple'
  readonly assignments: readonly Assignment[]
  readonly words: readonly Word[]
  readonly redirects: readonly Redirect[]
}

/** `( … )`, `{ …; }`, a loop, a condition or the body of a function. */
export interface Group {
  readonly type: 'group'
  readonly subshell: boolean
  readonly functionName: string | null
  /** What runs before it: the substitutions in the head of a loop or a `case`, and a loop variable that programs go by. */
  readonly head: readonly Script[]
  readonly script: Script
  readonly redirects: readonly Redirect[]
}

export type Stage = SimpleCommand | Group

/** Stages joined by `|`. */
export interface Pipeline {
  readonly stages: readonly Stage[]
  readonly background: boolean
}

export interface Script {
  readonly pipelines: readonly Pipeline[]
}

/** A script, and whether every quote, bracket and keyword in it was closed. */
export interface ParsedScript {
  readonly script: Script
  readonly complete: boolean
  /** It has more words, or is nested deeper, than is followed; what is after those is not in `script`. */
  readonly isCut: boolean
  /** That is because of its words. */
  readonly isTooLong: boolean
}
