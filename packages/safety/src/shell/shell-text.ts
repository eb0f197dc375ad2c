import type { Word } from './script.js'

const MAX_DEPTH = 40
/** Nobody writes a line of more; each is looked at by every rule. */
const MAX_WORDS = 10_000

/** Of all that variables and braces stand for. */
export const MAX_EXPANDED_CHARS = 100_000

/** How much of a bound is used up, by all texts of one command line together. */
export interface Spent {
  /** Characters that variables and braces stood for. */
  expanded: number
}

/** Shell text, how far it was read, and what was learnt on the way. */
export class ShellText {
  readonly source: string
  /** Values of variables that are known. */
  readonly variables: Map<string, string>
  /** Names that stand for other variables, and so hold what nothing here says. */
  readonly references: Set<string>
  /** Those that are known in every text. */
  readonly #lasting: ReadonlySet<string>
  at = 0
  depth: number
  readonly #spent: Spent
  #words = 0
  /** False once something is not closed, or nested too deep or too long to follow. */
  complete = true
  /** True once there were more words than are followed. */
  isTooLong = false
  /** True once it was left before its end. */
  isCut = false

  constructor(
    source: string,
    options: { readonly variables: Map<string, string>; readonly depth: number; readonly spent: Spent },
    outer?: ShellText,
  ) {
    const { variables, depth, spent } = options
    this.source = source
    this.#spent = spent
    this.variables = variables
    this.depth = depth
    this.references = outer?.references ?? new Set()
    this.#lasting = outer ? outer.#lasting : new Set(variables.keys())
    if (depth > MAX_DEPTH) this.giveUp()
  }

  /** Forgets what a variable was set to, unless it was known before this text. */
  forget(name: string): void {
    if (!this.#lasting.has(name)) this.variables.delete(name)
  }

  /** Forgets every value that the text set. */
  forgetAll(): void {
    for (const name of [...this.variables.keys()]) this.forget(name)
  }

  giveUp(): void {
    this.complete = false
    this.isCut = true
    this.at = this.source.length
  }

  /** One level deeper; gives up where that is too deep. */
  descend(): void {
    if (++this.depth > MAX_DEPTH) this.giveUp()
  }

  /** A text in this one. */
  inside(source: string): ShellText {
    const { variables, depth } = this
    return new ShellText(source, { variables, depth: depth + 1, spent: this.#spent }, this)
  }

  /** So many words more; gives up where there are too many. */
  count(words: number): void {
    this.#words += words
    if (this.#words <= MAX_WORDS) return
    this.isTooLong = true
    this.giveUp()
  }

  /** So many characters more than are written; `false`, and no longer complete, where those are too many. */
  expand(chars: number): boolean {
    this.#spent.expanded += chars
    if (this.#spent.expanded <= MAX_EXPANDED_CHARS) return true
    this.complete = false
    return false
  }

  peek(offset = 0): string {
    return this.source[this.at + offset] ?? ''
  }

  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at
    return pattern.exec(this.source)
  }

  skipBlanks(): void {
    for (;;) {
      if (this.peek() === ' ' || this.peek() === '\t') this.at++
      else if (this.peek() === '\\' && this.peek(1) === '\n') this.at += 2
      else if (this.peek() === '#') this.skipTo('\n')
      else return
    }
  }

  skipTo(character: string): void {
    const end = this.source.indexOf(character, this.at)
    this.at = end === -1 ? this.source.length : end
  }
}

/** A word without quotes or expansions. */
export function plainWord(text: string): Word {
  return { text, mask: 'u'.repeat(text.length), dynamic: false, splits: false, scripts: [] }
}
