import { decodeAnsiC } from './ansi-c.js'
import type { Script, Word } from './script.js'
import type { ShellText } from './shell-text.js'
import { WordBuilder } from './word-builder.js'

/** What these hold in every shell. */
const OF_EVERY_SHELL: ReadonlyMap<string, string> = new Map([
  ['HOME', '~'],
  ['PWD', '.'],
  ['0', 'bash'],
])
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y

/** Reads the scripts that stand inside words. */
export interface NestedScripts {
  /** Goes on in the same text, up to `end`. */
  list(end: string): Script
  /** Reads another text. */
  scriptIn(text: string): Script
  /** The scripts in a text that is expanded but not split. */
  expansionsIn(text: string): readonly Script[]
}

/** Reads words: quotes, escapes, variables and substitutions. */
export class WordReader {
  readonly #text: ShellText
  readonly #nested: NestedScripts

  constructor(text: ShellText, nested: NestedScripts) {
    this.#text = text
    this.#nested = nested
  }

  /** Substitutions in text that is expanded but not split: the body of a here-document. */
  expansions(): readonly Script[] {
    const builder = new WordBuilder()
    while (this.#text.at < this.#text.source.length) this.#quotedCharacter(builder)
    return builder.finish().flatMap((word) => word.scripts)
  }

  word(): Word[] {
    this.#text.count(1)
    const builder = new WordBuilder()
    for (;;) {
      const character = this.#text.peek()
      if (character === '' || ' \t\n;&|)'.includes(character)) break
      if (character === '(') break
      if (character === '<' || character === '>') {
        if (this.#text.peek(1) !== '(') break
        this.#substitution(builder, { opening: 2, quoted: true })
      } else if (character === "'") {
        builder.add(this.#until("'"), 'q')
      } else if (character === '"') {
        this.#doubleQuoted(builder)
      } else if (character === '\\') {
        if (this.#text.peek(1) !== '\n') builder.add(this.#text.peek(1) || '\\', 'q')
        this.#text.at += 2
      } else if (character === '$') {
        this.#dollar(builder, false)
      } else if (character === '`') {
        this.#backtick(builder, false)
      } else {
        builder.add(character, 'u')
        this.#text.at++
      }
    }
    const words = builder.finish()
    if (builder.overflowed) this.#text.complete = false
    if (words.length > 1) this.#text.count(words.length - 1)
    // What braces made too long stays as it is written.
    return this.#text.expand(builder.added) ? words : words.slice(0, 1)
  }

  /** Reads `((…))` from its first bracket; `false`, and nothing read, when it does not end in two brackets. */
  arithmetic(builder: WordBuilder): boolean {
    let depth = 0
    for (let at = this.#text.at; at < this.#text.source.length; at++) {
      if (this.#text.source[at] === '(') depth++
      else if (this.#text.source[at] === ')' && --depth === 0) {
        if (this.#text.source[at - 1] !== ')') return false
        const source = this.#text.source.slice(this.#text.at, at + 1)
        builder.addUnknown(source, {
          quoted: true,
          scripts: [...this.#nested.expansionsIn(source), ...this.#indexesIn(source)],
        })
        this.#text.at = at + 1
        return true
      }
    }
    return false
  }

  /** Values that arithmetic reads again, where something in them runs. */
  #indexesIn(source: string): readonly Script[] {
    const names = new Set(source.match(/[A-Za-z_]\w*/g) ?? [])
    const values = [...names].map((name) => this.#text.variables.get(name) ?? '')
    return values.filter((value) => /\[.*(?:\$\(|`)/s.test(value)).flatMap((value) => this.#again(value))
  }

  /** What runs in a value that is expanded once more. */
  #again(value: string): readonly Script[] {
    return this.#text.expand(value.length) ? this.#nested.expansionsIn(value) : []
  }

  /** The text between the quote at hand and the next one. */
  #until(quote: string): string {
    const start = ++this.#text.at
    this.#text.skipTo(quote)
    if (this.#text.at === this.#text.source.length) this.#text.complete = false
    return this.#text.source.slice(start, this.#text.at++)
  }

  #doubleQuoted(builder: WordBuilder): void {
    this.#text.at++
    builder.add('', 'q')
    while (this.#text.peek() !== '"') {
      if (this.#text.at >= this.#text.source.length) {
        this.#text.complete = false
        return
      }
      this.#quotedCharacter(builder)
    }
    this.#text.at++
  }

  #quotedCharacter(builder: WordBuilder): void {
    const character = this.#text.peek()
    if (character === '\\' && '$`"\\\n'.includes(this.#text.peek(1)) && this.#text.peek(1) !== '') {
      if (this.#text.peek(1) !== '\n') builder.add(this.#text.peek(1), 'q')
      this.#text.at += 2
    } else if (character === '$') {
      this.#dollar(builder, true)
    } else if (character === '`') {
      this.#backtick(builder, true)
    } else {
      builder.add(character, 'q')
      this.#text.at++
    }
  }

  #dollar(builder: WordBuilder, quoted: boolean): void {
    const next = this.#text.peek(1)
    if (next === '(') this.#dollarParenthesis(builder, quoted)
    else if (next === '{') this.#parameter(builder, quoted)
    else if (next === "'" && !quoted) this.#ansiC(builder)
    else if (next === '"' && !quoted) {
      this.#text.at++
      this.#doubleQuoted(builder)
    } else this.#plainVariable(builder, quoted)
  }

  #dollarParenthesis(builder: WordBuilder, quoted: boolean): void {
    this.#text.at++
    if (this.#text.peek(1) === '(' && this.arithmetic(builder)) return
    this.#text.at--
    this.#substitution(builder, { opening: 2, quoted })
  }

  #plainVariable(builder: WordBuilder, quoted: boolean): void {
    this.#text.at++
    const name = this.#text.match(NAME)?.[0]
    const special = this.#text.peek()
    if (name !== undefined) {
      this.#text.at += name.length
      this.#variable(builder, { name, source: `$${name}`, quoted })
    } else if (special !== '' && '@*0123456789?!#$-'.includes(special)) {
      this.#text.at++
      // The shell itself, and what without arguments is empty, which is how `r$@m` hides a name.
      if (special === '0') builder.addValue('bash', quoted)
      else builder.addUnknown('@*123456789'.includes(special) ? '' : `$${special}`, { quoted })
    } else builder.add('$', quoted ? 'q' : 'u')
  }

  #ansiC(builder: WordBuilder): void {
    let end = this.#text.at + 2
    while (end < this.#text.source.length && this.#text.source[end] !== "'")
      end += this.#text.source[end] === '\\' ? 2 : 1
    if (end >= this.#text.source.length) this.#text.complete = false
    builder.add(decodeAnsiC(this.#text.source.slice(this.#text.at + 2, end)), 'q')
    this.#text.at = end + 1
  }

  #substitution(builder: WordBuilder, options: { readonly opening: number; readonly quoted: boolean }): void {
    const start = this.#text.at
    this.#text.at += options.opening
    const script = this.#nested.list(')')
    builder.addUnknown(this.#text.source.slice(start, this.#text.at), { quoted: options.quoted, scripts: [script] })
  }

  #backtick(builder: WordBuilder, quoted: boolean): void {
    const start = this.#text.at
    let end = start + 1
    while (end < this.#text.source.length && this.#text.source[end] !== '`')
      end += this.#text.source[end] === '\\' ? 2 : 1
    if (end >= this.#text.source.length) this.#text.complete = false
    const script = this.#nested.scriptIn(this.#text.source.slice(start + 1, end).replace(/\\([`\\$])/g, '$1'))
    this.#text.at = end + 1
    builder.addUnknown(this.#text.source.slice(start, this.#text.at), { quoted, scripts: [script] })
  }

  #parameter(builder: WordBuilder, quoted: boolean): void {
    const start = this.#text.at
    this.#text.at += 2
    const inside = new WordBuilder()
    this.#text.descend()
    for (let depth = 1; depth > 0; ) {
      const character = this.#text.peek()
      if (character === '') {
        this.#text.complete = false
        return
      }
      if (character === "'" && !quoted) inside.add(this.#until("'"), 'q')
      else if (character === '"') this.#doubleQuoted(inside)
      else if (character === '}') {
        depth--
        this.#text.at++
        if (depth > 0) inside.add('}', 'q')
      } else if (character === '{') {
        depth++
        this.#text.at++
        inside.add('{', 'q')
      } else this.#quotedCharacter(inside)
    }
    this.#text.depth--
    const source = this.#text.source.slice(start, this.#text.at)
    const scripts = inside.finish()
    const expression = scripts.map((word) => word.text).join(' ')
    const match = /^([A-Za-z_]\w*)(?::?[-=]([\s\S]*)|:?\?[\s\S]*)?$/.exec(expression)
    // Where nothing is in it, the colon takes the other value.
    if (/^\w+:[-=]/.test(expression) && this.#valueOf(match?.[1] ?? '') === '')
      this.#text.variables.delete(match?.[1] ?? '')
    const name = match?.[1] ?? ''
    // `@P` expands the value as a prompt.
    const prompt = this.#valueOf(/^([A-Za-z_]\w*)@P$/.exec(expression)?.[1] ?? '')
    const shown = prompt === undefined ? [] : this.#again(prompt)
    const options = { name, source, quoted, scripts: [...scripts.flatMap((word) => word.scripts), ...shown] }
    const changed = /^(0|[A-Za-z_]\w*)(?:[%#/^,@]|:[^-=+?])/.exec(expression)?.[1]
    if (/^[@*]$/.test(expression)) builder.addUnknown('', { quoted })
    else if (changed !== undefined && options.scripts.length === 0 && this.#valueOf(changed) !== undefined)
      builder.addUnknown(this.#expanded(changed) ?? source, { quoted })
    else this.#variable(builder, match?.[2] === undefined ? options : { ...options, fallback: match[2] })
  }

  #variable(
    builder: WordBuilder,
    variable: {
      readonly name: string
      readonly source: string
      readonly quoted: boolean
      readonly scripts?: readonly Script[]
      readonly fallback?: string
    },
  ): void {
    const { name, quoted, scripts = [] } = variable
    const known = this.#expanded(name)
    const separators = this.#text.variables.get('IFS')
    if (known !== undefined) builder.addValue(known, quoted, separators)
    else if (name === 'IFS' && !quoted) builder.breakWord()
    else if (variable.fallback !== undefined && scripts.length === 0)
      builder.addValue(variable.fallback, quoted, separators)
    else builder.addUnknown(variable.source, { quoted, scripts })
  }

  /** The same where it is put in place of its name; not known any more where that is too much. */
  #expanded(name: string): string | undefined {
    const value = this.#valueOf(name)
    return value !== undefined && this.#text.expand(value.length) ? value : undefined
  }

  /** What a variable holds: as it was set in the same text, else what it holds everywhere. */
  #valueOf(name: string): string | undefined {
    return this.#text.variables.get(name) ?? OF_EVERY_SHELL.get(name)
  }
}
