import type { Word } from './script.js'

const MAX_DEPTH = 40
/** Nobody writes a line of more; each is looked at by every rule. */
const MAX_WORDS = 10_000

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
  #words = 0
  /** False once something is not closed, or nested too deep or too long to follow. */
  complete = true
  /** True once there were more words than are followed. */
  isTooLong = false
  /** True once it was left before its end. */
  isCut = false

  constructor(source: string, variables: Map<string, string>, depth: number, outer?: ShellText) {
    this.source = source
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

  /** One word more; gives up where there are too many. */
  count(): void {
    if (++this.#words <= MAX_WORDS) return
    this.isTooLong = true
    this.giveUp()
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
