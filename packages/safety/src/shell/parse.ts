import { decodeAnsiC } from './ansi-c.js'
import type {
  Assignment,
  Group,
  ParsedScript,
  Pipeline,
  Redirect,
  Script,
  SimpleCommand,
  Stage,
  Word,
} from './script.js'
import { WordBuilder } from './word-builder.js'

const MAX_DEPTH = 40
const REDIRECT = /\d*(&>>|&>|>>|>\||>&|<<<|<<-|<<|<>|<&|>|<)/y
const KEYWORD = /(?:[!{}]|\[\[|[a-z]+)(?=[\s;&|()]|$)/y
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const ASSIGNMENT = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=/
const SKIPPED = ['!', 'then', 'else', 'elif', 'do', 'fi', 'done', 'esac', '}']
const CLOSERS: Readonly<Record<string, string>> = Object.freeze({
  '{': '}',
  if: 'fi',
  while: 'done',
  until: 'done',
  for: 'done',
  select: 'done',
  case: 'esac',
})

/**
 * Reads shell text into commands the way bash would split it: quotes, escapes, substitutions, here-documents, compound commands,
 * variables assigned to known values. Never throws; what is not closed makes `complete` false.
 */
export function parseShell(text: string): ParsedScript {
  const parser = new Parser(text.replaceAll('\0', '').replaceAll('\r\n', '\n'), new Map(), 0)
  const script = parser.script()
  return { script, complete: parser.complete }
}

class Parser {
  complete = true
  readonly #text: string
  readonly #variables: Map<string, string>
  readonly #pendingBodies: { redirect: Redirect; delimiter: Word; stripTabs: boolean }[] = []
  #depth: number
  #at = 0

  constructor(text: string, variables: Map<string, string>, depth: number) {
    this.#text = text
    this.#variables = variables
    this.#depth = depth
    if (depth > MAX_DEPTH) this.#giveUp()
  }

  script(): Script {
    const script = this.#list(null)
    this.#readBodies()
    return script
  }

  /** Substitutions in text that is expanded but not split: the body of a here-document. */
  expansions(): readonly Script[] {
    const builder = new WordBuilder()
    while (this.#at < this.#text.length) this.#quotedCharacter(builder)
    return builder.finish().flatMap((word) => word.scripts)
  }

  #giveUp(): void {
    this.complete = false
    this.#at = this.#text.length
  }

  #peek(offset = 0): string {
    return this.#text[this.#at + offset] ?? ''
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)
  }

  #skipBlanks(): void {
    for (;;) {
      if (this.#peek() === ' ' || this.#peek() === '\t') this.#at++
      else if (this.#peek() === '\\' && this.#peek(1) === '\n') this.#at += 2
      else if (this.#peek() === '#') this.#skipTo('\n')
      else return
    }
  }

  #skipTo(character: string): void {
    const end = this.#text.indexOf(character, this.#at)
    this.#at = end === -1 ? this.#text.length : end
  }

  #list(end: string | null): Script {
    if (++this.#depth > MAX_DEPTH) this.#giveUp()
    const script = this.#pipelines(end)
    this.#depth--
    return script
  }

  #pipelines(end: string | null): Script {
    const pipelines: Pipeline[] = []
    let stages: Stage[] = []
    let piped = false
    const close = (background = false) => {
      if (stages.length > 0) pipelines.push({ stages, background })
      stages = []
      piped = false
    }
    for (;;) {
      this.#skipBlanks()
      const character = this.#peek()
      if (character === '') {
        if (end !== null) this.complete = false
        close()
        return { pipelines }
      }
      if (character === '\n') {
        this.#at++
        this.#readBodies()
        if (!piped) close()
      } else if (character === ';') {
        this.#at++
        close()
      } else if (character === '&' && this.#peek(1) !== '>') {
        this.#at += this.#peek(1) === '&' ? 2 : 1
        close(this.#text[this.#at - 2] !== '&')
      } else if (character === '|') {
        piped = this.#peek(1) !== '|'
        this.#at += piped && this.#peek(1) !== '&' ? 1 : 2
        if (!piped) close()
      } else if (character === ')') {
        this.#at++
        // Inside `case`, what stands before the bracket is a pattern and not a command.
        if (end === 'esac') stages = []
        close()
        if (end === ')') return { pipelines }
      } else {
        const keyword = this.#match(KEYWORD)?.[0] ?? ''
        if (keyword !== '' && (keyword === end || SKIPPED.includes(keyword))) {
          this.#at += keyword.length
          if (keyword !== end) continue
          close()
          return { pipelines }
        }
        if (!piped) close()
        const stage = this.#stage(keyword)
        if (stage) stages.push(stage)
        piped = false
      }
    }
  }

  #stage(keyword: string): Stage | null {
    if (this.#peek() === '(') return this.#parenthesis()
    if (keyword === '[[') return this.#test()
    if (keyword === 'function') {
      this.#at += keyword.length
      this.#skipBlanks()
      const name = this.#word()[0]?.text ?? ''
      return this.#functionBody(name)
    }
    const closer = Object.hasOwn(CLOSERS, keyword) ? CLOSERS[keyword] : undefined
    if (closer === undefined) return this.#simple()
    this.#at += keyword.length
    if (keyword === 'for' || keyword === 'select') this.#loopHeader()
    if (keyword === 'case') this.#caseHeader()
    return this.#group({ end: closer, subshell: false, functionName: null })
  }

  #group(options: { end: string; subshell: boolean; functionName: string | null }): Group {
    const script = this.#list(options.end)
    const redirects: Redirect[] = []
    for (;;) {
      this.#skipBlanks()
      const redirect = this.#redirect()
      if (!redirect) break
      redirects.push(redirect)
    }
    return { type: 'group', subshell: options.subshell, functionName: options.functionName, script, redirects }
  }

  #parenthesis(): Stage {
    if (this.#peek(1) === '(') {
      const builder = new WordBuilder()
      if (this.#arithmetic(builder)) {
        return { type: 'simple', assignments: [], words: [plainWord('(('), ...builder.finish()], redirects: [] }
      }
    }
    this.#at++
    return this.#group({ end: ')', subshell: true, functionName: null })
  }

  /** Reads `((…))` from its first bracket; `false`, and nothing read, when it does not end in two brackets. */
  #arithmetic(builder: WordBuilder): boolean {
    let depth = 0
    for (let at = this.#at; at < this.#text.length; at++) {
      if (this.#text[at] === '(') depth++
      else if (this.#text[at] === ')' && --depth === 0) {
        if (this.#text[at - 1] !== ')') return false
        const source = this.#text.slice(this.#at, at + 1)
        const inner = new Parser(source, this.#variables, this.#depth + 1)
        builder.addUnknown(source, { quoted: true, scripts: inner.expansions() })
        this.complete &&= inner.complete
        this.#at = at + 1
        return true
      }
    }
    return false
  }

  #test(): SimpleCommand {
    const words: Word[] = []
    while (this.#at < this.#text.length) {
      this.#skipBlanks()
      const word = this.#word()
      words.push(...word)
      if (word[0]?.text === ']]') return { type: 'simple', assignments: [], words, redirects: [] }
      if (word.length === 0) this.#at++
    }
    this.complete = false
    return { type: 'simple', assignments: [], words, redirects: [] }
  }

  #loopHeader(): void {
    this.#skipBlanks()
    if (this.#peek() === '(' && this.#arithmetic(new WordBuilder())) return
    const words = this.#wordsUntil(/[;\n]/)
    const value = words[2]
    if (words[0] && value && !value.dynamic) this.#variables.set(words[0].text, value.text)
  }

  #caseHeader(): void {
    this.#skipBlanks()
    this.#word()
    this.#skipBlanks()
    if (this.#match(KEYWORD)?.[0] === 'in') this.#at += 2
  }

  #wordsUntil(end: RegExp): Word[] {
    const words: Word[] = []
    while (this.#at < this.#text.length && !end.test(this.#peek())) {
      const start = this.#at
      this.#skipBlanks()
      words.push(...this.#word())
      if (this.#at === start) this.#at++
    }
    return words
  }

  #functionBody(functionName: string): Stage | null {
    this.#at += this.#match(/\s*\(\s*\)\s*|\s*/y)?.[0].length ?? 0
    if (this.#peek() !== '(' && this.#peek() !== '{') return null
    if (this.#text[this.#at++] === '(') return this.#group({ end: ')', subshell: true, functionName })
    return this.#group({ end: '}', subshell: false, functionName })
  }

  #simple(): Stage | null {
    const words: Word[] = []
    const assignments: Assignment[] = []
    const redirects: Redirect[] = []
    for (;;) {
      this.#skipBlanks()
      if (this.#peek() === '' || '\n;|)'.includes(this.#peek())) break
      if (this.#peek() === '&' && this.#peek(1) !== '>') break
      if (this.#peek() === '(') {
        if (words.length === 1 && /^\(\s*\)/.test(this.#text.slice(this.#at, this.#at + 20))) {
          return this.#functionBody(words[0]!.text)
        }
        break
      }
      const redirect = this.#redirect()
      if (redirect) {
        redirects.push(redirect)
        continue
      }
      const start = this.#at
      for (const word of this.#word()) {
        const assignment = words.length === 0 ? toAssignment(word) : null
        if (assignment) assignments.push(assignment)
        else words.push(word)
      }
      if (assignments.length > 0 && words.length === 0 && this.#peek() === '(') this.#arrayValue()
      if (this.#at === start) this.#at++
    }
    this.#remember(words, assignments)
    return { type: 'simple', assignments, words, redirects }
  }

  #arrayValue(): void {
    this.#at++
    this.#wordsUntil(/\)/)
    if (this.#peek() === ')') this.#at++
    else this.complete = false
  }

  /** Keeps values that later commands of the same text use: `D=/; rm -rf $D`. */
  #remember(words: readonly Word[], assignments: readonly Assignment[]): void {
    const declares = ['export', 'local', 'declare', 'typeset', 'readonly'].includes(words[0]?.text ?? '')
    if (words.length > 0 && !declares) return
    for (const { name, value } of [...assignments, ...words.slice(1).flatMap((word) => toAssignment(word) ?? [])]) {
      if (value.dynamic) this.#variables.delete(name)
      else this.#variables.set(name, value.text)
    }
  }

  #redirect(): Redirect | null {
    const match = this.#match(REDIRECT)
    if (!match) return null
    const operator = match[1]!
    const next = this.#text[this.#at + match[0].length]
    if ((operator === '<' || operator === '>') && next === '(' && match[0] === operator) return null
    this.#at += match[0].length
    this.#skipBlanks()
    const target = this.#word()[0] ?? plainWord('')
    const redirect: Redirect = { operator, target, body: null, scripts: [] }
    if (operator === '<<' || operator === '<<-') {
      this.#pendingBodies.push({ redirect, delimiter: target, stripTabs: operator === '<<-' })
    }
    return redirect
  }

  #readBodies(): void {
    for (const { redirect, delimiter, stripTabs } of this.#pendingBodies.splice(0)) {
      const lines: string[] = []
      while (this.#at < this.#text.length) {
        const end = this.#text.indexOf('\n', this.#at)
        const raw = this.#text.slice(this.#at, end === -1 ? undefined : end)
        this.#at = end === -1 ? this.#text.length : end + 1
        const line = stripTabs ? raw.replace(/^\t+/, '') : raw
        if (line === delimiter.text) break
        lines.push(line)
      }
      redirect.body = lines.join('\n')
      if (delimiter.mask.includes('q')) continue
      const inner = new Parser(redirect.body, this.#variables, this.#depth + 1)
      redirect.scripts = inner.expansions()
      this.complete &&= inner.complete
    }
  }

  #word(): Word[] {
    const builder = new WordBuilder()
    for (;;) {
      const character = this.#peek()
      if (character === '' || ' \t\n;&|)'.includes(character)) break
      if (character === '(') break
      if (character === '<' || character === '>') {
        if (this.#peek(1) !== '(') break
        this.#substitution(builder, { opening: 2, quoted: true })
      } else if (character === "'") {
        builder.add(this.#until("'"), 'q')
      } else if (character === '"') {
        this.#doubleQuoted(builder)
      } else if (character === '\\') {
        if (this.#peek(1) !== '\n') builder.add(this.#peek(1) || '\\', 'q')
        this.#at += 2
      } else if (character === '$') {
        this.#dollar(builder, false)
      } else if (character === '`') {
        this.#backtick(builder, false)
      } else {
        builder.add(character, 'u')
        this.#at++
      }
    }
    const words = builder.finish()
    if (builder.overflowed) this.complete = false
    return words
  }

  /** The text between the quote at hand and the next one. */
  #until(quote: string): string {
    const start = ++this.#at
    this.#skipTo(quote)
    if (this.#at === this.#text.length) this.complete = false
    return this.#text.slice(start, this.#at++)
  }

  #doubleQuoted(builder: WordBuilder): void {
    this.#at++
    builder.add('', 'q')
    while (this.#peek() !== '"') {
      if (this.#at >= this.#text.length) {
        this.complete = false
        return
      }
      this.#quotedCharacter(builder)
    }
    this.#at++
  }

  #quotedCharacter(builder: WordBuilder): void {
    const character = this.#peek()
    if (character === '\\' && '$`"\\\n'.includes(this.#peek(1)) && this.#peek(1) !== '') {
      if (this.#peek(1) !== '\n') builder.add(this.#peek(1), 'q')
      this.#at += 2
    } else if (character === '$') {
      this.#dollar(builder, true)
    } else if (character === '`') {
      this.#backtick(builder, true)
    } else {
      builder.add(character, 'q')
      this.#at++
    }
  }

  #dollar(builder: WordBuilder, quoted: boolean): void {
    const next = this.#peek(1)
    if (next === '(') this.#dollarParenthesis(builder, quoted)
    else if (next === '{') this.#parameter(builder, quoted)
    else if (next === "'" && !quoted) this.#ansiC(builder)
    else if (next === '"' && !quoted) {
      this.#at++
      this.#doubleQuoted(builder)
    } else this.#plainVariable(builder, quoted)
  }

  #dollarParenthesis(builder: WordBuilder, quoted: boolean): void {
    this.#at++
    if (this.#peek(1) === '(' && this.#arithmetic(builder)) return
    this.#at--
    this.#substitution(builder, { opening: 2, quoted })
  }

  #plainVariable(builder: WordBuilder, quoted: boolean): void {
    this.#at++
    const name = this.#match(NAME)?.[0]
    const special = this.#peek()
    if (name !== undefined) {
      this.#at += name.length
      this.#variable(builder, { name, source: `$${name}`, quoted })
    } else if (special !== '' && '@*0123456789?!#$-'.includes(special)) {
      this.#at++
      // Without arguments these are empty, which is how `r$@m` hides a name.
      builder.addUnknown('@*123456789'.includes(special) ? '' : `$${special}`, { quoted })
    } else builder.add('$', quoted ? 'q' : 'u')
  }

  #ansiC(builder: WordBuilder): void {
    let end = this.#at + 2
    while (end < this.#text.length && this.#text[end] !== "'") end += this.#text[end] === '\\' ? 2 : 1
    if (end >= this.#text.length) this.complete = false
    builder.add(decodeAnsiC(this.#text.slice(this.#at + 2, end)), 'q')
    this.#at = end + 1
  }

  #substitution(builder: WordBuilder, options: { readonly opening: number; readonly quoted: boolean }): void {
    const start = this.#at
    this.#at += options.opening
    const script = this.#list(')')
    builder.addUnknown(this.#text.slice(start, this.#at), { quoted: options.quoted, scripts: [script] })
  }

  #backtick(builder: WordBuilder, quoted: boolean): void {
    const start = this.#at
    let end = start + 1
    while (end < this.#text.length && this.#text[end] !== '`') end += this.#text[end] === '\\' ? 2 : 1
    if (end >= this.#text.length) this.complete = false
    const inner = new Parser(
      this.#text.slice(start + 1, end).replace(/\\([`\\$])/g, '$1'),
      this.#variables,
      this.#depth + 1,
    )
    const script = inner.script()
    this.complete &&= inner.complete
    this.#at = end + 1
    builder.addUnknown(this.#text.slice(start, this.#at), { quoted, scripts: [script] })
  }

  #parameter(builder: WordBuilder, quoted: boolean): void {
    const start = this.#at
    this.#at += 2
    const inside = new WordBuilder()
    if (++this.#depth > MAX_DEPTH) this.#giveUp()
    for (let depth = 1; depth > 0; ) {
      const character = this.#peek()
      if (character === '') {
        this.#giveUp()
        return
      }
      if (character === "'" && !quoted) inside.add(this.#until("'"), 'q')
      else if (character === '"') this.#doubleQuoted(inside)
      else if (character === '}') {
        depth--
        this.#at++
        if (depth > 0) inside.add('}', 'q')
      } else if (character === '{') {
        depth++
        this.#at++
        inside.add('{', 'q')
      } else this.#quotedCharacter(inside)
    }
    this.#depth--
    const source = this.#text.slice(start, this.#at)
    const scripts = inside.finish()
    const expression = scripts.map((word) => word.text).join(' ')
    const match = /^([A-Za-z_]\w*)(?::?[-=]([\s\S]*))?$/.exec(expression)
    const name = match?.[1] ?? ''
    const options = { name, source, quoted, scripts: scripts.flatMap((word) => word.scripts) }
    if (/^[@*]$/.test(expression)) builder.addUnknown('', { quoted })
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
    const known = this.#variables.get(name)
    if (known !== undefined) builder.addValue(known, quoted)
    else if (name === 'HOME') builder.add('~', 'd')
    else if (name === 'PWD') builder.add('.', 'd')
    else if (name === 'IFS' && !quoted) builder.breakWord()
    else if (variable.fallback !== undefined && scripts.length === 0) builder.addValue(variable.fallback, quoted)
    else builder.addUnknown(variable.source, { quoted, scripts })
  }
}

function plainWord(text: string): Word {
  return { text, mask: 'u'.repeat(text.length), dynamic: false, splits: false, scripts: [] }
}

function toAssignment(word: Word): Assignment | null {
  const match = ASSIGNMENT.exec(word.text)
  if (!match || /[^u]/.test(word.mask.slice(0, match[0].length))) return null
  const rest = match[0].length
  return { name: match[1]!, value: { ...word, text: word.text.slice(rest), mask: word.mask.slice(rest) } }
}
