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
import { plainWord, ShellText, type Spent } from './shell-text.js'
import { WordBuilder } from './word-builder.js'
import { type NestedScripts, WordReader } from './word-reader.js'

const REDIRECT = /\d*(&>>|&>|>>|>\||>&|<<<|<<-|<<|<>|<&|>|<)/y
const KEYWORD = /(?:[!{}]|\[\[|[a-z]+)(?=[\s;&|()]|$)/y
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

/** A longer value is not remembered, and so not known where it is used. */
const MAX_VALUE_CHARS = 10_000

/** An array of commands. */
const RUN_ONE_BY_ONE = /^PROMPT_COMMAND\+?=/
/** Variables that say which programs are found, and how they behave. */
const GOES_TO_PROGRAMS = /^(?:[A-Z][A-Z\d_]*|\w+_proxy)$/

/**
 * Reads shell text into commands the way bash would split it: quotes, escapes, substitutions, here-documents, compound commands,
 * variables assigned to known values, or to those of `variables` beforehand. Never throws; what is not closed makes `complete` false. `spent`
 * counts for several texts what they expand to.
 */
export function parseShell(
  source: string,
  variables: ReadonlyMap<string, string> = new Map(),
  spent: Spent = { expanded: 0 },
): ParsedScript {
  const own = { variables: new Map(variables), depth: 0, spent }
  const text = new ShellText(source.replaceAll('\0', '').replaceAll('\r\n', '\n'), own)
  const script = new Parser(text).script()
  return { script, complete: text.complete, isCut: text.isCut, isTooLong: text.isTooLong }
}

/** Builtins whose words are assignments too. */
const DECLARES = /^(?:export|local|declare|typeset|readonly)$/

/** Reads commands: lists, pipelines, compound commands, redirects and the bodies of here-documents. */
class Parser implements NestedScripts {
  readonly #text: ShellText
  readonly #words: WordReader
  readonly #pendingBodies: { redirect: Redirect; delimiter: Word; stripTabs: boolean }[] = []

  constructor(text: ShellText) {
    this.#text = text
    this.#words = new WordReader(text, this)
  }

  script(): Script {
    const script = this.list(null)
    this.#readBodies()
    return script
  }

  scriptIn(source: string): Script {
    return this.#inside(source, (text) => new Parser(text).script())
  }

  expansionsIn(source: string): readonly Script[] {
    return this.#inside(source, (text) => new Parser(text).#words.expansions())
  }

  #inside<Result>(source: string, read: (text: ShellText) => Result): Result {
    const text = this.#text.inside(source)
    const result = read(text)
    this.#text.complete &&= text.complete
    this.#text.isCut ||= text.isCut
    this.#text.isTooLong ||= text.isTooLong
    return result
  }

  list(end: string | null): Script {
    this.#text.descend()
    const script = this.#pipelines(end)
    this.#text.depth--
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
      this.#text.skipBlanks()
      const character = this.#text.peek()
      if (character === '') {
        if (end !== null) this.#text.complete = false
        close()
        return { pipelines }
      }
      if (character === '\n') {
        this.#text.at++
        this.#readBodies()
        if (!piped) close()
      } else if (character === ';') {
        this.#text.at++
        close()
      } else if (character === '&' && this.#text.peek(1) !== '>') {
        this.#text.at += this.#text.peek(1) === '&' ? 2 : 1
        close(this.#text.source[this.#text.at - 2] !== '&')
      } else if (character === '|') {
        piped = this.#text.peek(1) !== '|'
        this.#text.at += piped && this.#text.peek(1) !== '&' ? 1 : 2
        if (!piped) close()
      } else if (character === ')') {
        this.#text.at++
        // Inside `case`, what stands before the bracket is a pattern and not a command.
        if (end === 'esac') {
          pipelines.push(...stages.flatMap(scriptsOfPattern).flatMap((script) => script.pipelines))
          stages = []
        }
        close()
        if (end === ')') return { pipelines }
      } else {
        const keyword = this.#text.match(KEYWORD)?.[0] ?? ''
        if (keyword !== '' && (keyword === end || SKIPPED.includes(keyword))) {
          this.#text.at += keyword.length
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
    if (this.#text.peek() === '(') return this.#parenthesis()
    if (keyword === '[[') return this.#test()
    if (keyword === 'function') {
      this.#text.at += keyword.length
      this.#text.skipBlanks()
      const name = this.#words.word()[0]?.text ?? ''
      return this.#functionBody(name)
    }
    const closer = Object.hasOwn(CLOSERS, keyword) ? CLOSERS[keyword] : undefined
    if (closer === undefined) return this.#simple()
    this.#text.at += keyword.length
    const head = this.#head(keyword)
    return this.#group({ end: closer, subshell: false, functionName: null, head })
  }

  #group({
    end,
    head = [],
    ...group
  }: {
    readonly end: string
    readonly subshell: boolean
    readonly functionName: string | null
    readonly head?: readonly Script[]
  }): Group {
    const script = this.list(end)
    const redirects: Redirect[] = []
    for (;;) {
      this.#text.skipBlanks()
      const redirect = this.#redirect()
      if (!redirect) break
      redirects.push(redirect)
    }
    return { type: 'group', ...group, head, script, redirects }
  }

  #parenthesis(): Stage {
    if (this.#text.peek(1) === '(') {
      const builder = new WordBuilder()
      if (this.#words.arithmetic(builder)) return calculation(builder)
    }
    this.#text.at++
    return this.#group({ end: ')', subshell: true, functionName: null })
  }

  #test(): SimpleCommand {
    const words: Word[] = []
    while (this.#text.at < this.#text.source.length) {
      this.#text.skipBlanks()
      const word = this.#words.word()
      words.push(...word)
      if (word[0]?.text === ']]') return { type: 'simple', assignments: [], words, redirects: [] }
      if (word.length === 0) this.#text.at++
    }
    this.#text.complete = false
    return { type: 'simple', assignments: [], words, redirects: [] }
  }

  #head(keyword: string): readonly Script[] {
    if (keyword === 'for' || keyword === 'select') return this.#loopHeader()
    return keyword === 'case' ? this.#caseHeader() : []
  }

  #loopHeader(): readonly Script[] {
    this.#text.skipBlanks()
    const builder = new WordBuilder()
    if (this.#text.peek() === '(' && this.#words.arithmetic(builder)) return [scriptOf(calculation(builder))]
    const words = this.#wordsUntil(/[;\n]/)
    const name = words[0]
    const value = tellingValue(words.slice(2))
    if (name && value && !value.dynamic) this.#set(name.text, value.text)
    const scripts = words.flatMap((word) => word.scripts)
    if (!name || !value || !GOES_TO_PROGRAMS.test(name.text)) return scripts
    const assignments = [{ name: name.text, value: { ...value, scripts: [] } }]
    return [...scripts, scriptOf({ type: 'simple', assignments, words: [], redirects: [] })]
  }

  #caseHeader(): readonly Script[] {
    this.#text.skipBlanks()
    const scripts = this.#words.word().flatMap((word) => word.scripts)
    this.#text.skipBlanks()
    if (this.#text.match(KEYWORD)?.[0] === 'in') this.#text.at += 2
    return scripts
  }

  #wordsUntil(end: RegExp): Word[] {
    const words: Word[] = []
    while (this.#text.at < this.#text.source.length && !end.test(this.#text.peek())) {
      const start = this.#text.at
      this.#text.skipBlanks()
      words.push(...this.#words.word())
      if (this.#text.at === start) this.#text.at++
    }
    return words
  }

  #functionBody(functionName: string): Stage | null {
    this.#text.at += this.#text.match(/\s*\(\s*\)\s*|\s*/y)?.[0].length ?? 0
    const keyword = this.#text.match(KEYWORD)?.[0] ?? ''
    if (keyword === '[[' || (keyword !== '{' && Object.hasOwn(CLOSERS, keyword))) {
      const body = scriptOf(this.#stage(keyword)!)
      return { type: 'group', subshell: false, functionName, head: [], script: body, redirects: [] }
    }
    if (this.#text.peek() !== '(' && this.#text.peek() !== '{') return null
    if (this.#text.source[this.#text.at++] === '(') return this.#group({ end: ')', subshell: true, functionName })
    return this.#group({ end: '}', subshell: false, functionName })
  }

  #simple(): Stage | null {
    const words: Word[] = []
    const assignments: Assignment[] = []
    const redirects: Redirect[] = []
    for (;;) {
      this.#text.skipBlanks()
      if (this.#text.peek() === '' || '\n;|)'.includes(this.#text.peek())) break
      if (this.#text.peek() === '&' && this.#text.peek(1) !== '>') break
      if (this.#text.peek() === '(') {
        if (words.length === 1 && /^\(\s*\)/.test(this.#text.source.slice(this.#text.at, this.#text.at + 20))) {
          return this.#functionBody(words[0]!.text)
        }
        break
      }
      const redirect = this.#redirect()
      if (redirect) {
        redirects.push(redirect)
        continue
      }
      const start = this.#text.at
      for (const word of this.#words.word()) {
        const assignment = words.length === 0 ? toAssignment(word) : null
        if (assignment) assignments.push(assignment)
        else words.push(word)
      }
      if (assignments.length > 0 && words.length === 0 && this.#text.peek() === '(')
        assignments.push(this.#arrayValue(assignments.pop()!))
      else if (this.#text.peek() === '(' && DECLARES.test(words[0]?.text ?? '') && /^\w+\+?=$/.test(words.at(-1)!.text))
        words.push(this.#arrayOf(words.pop()!))
      if (this.#text.at === start) this.#text.at++
    }
    this.#remember(words, assignments)
    return { type: 'simple', assignments, words, redirects }
  }

  #arrayValue({ name, value }: Assignment): Assignment {
    const { text, mask, ...rest } = this.#arrayOf({ ...value, text: `${name}=`, mask: 'u'.repeat(name.length + 1) })
    return { name, value: { ...rest, text: text.slice(name.length + 1), mask: mask.slice(name.length + 1) } }
  }

  /** What stands in the brackets are values, not commands; those are only in there by `$(…)`, and where a shell runs each of them. */
  #arrayOf(word: Word): Word {
    this.#text.at++
    const values = this.#wordsUntil(/\)/)
    if (this.#text.peek() === ')') this.#text.at++
    else this.#text.complete = false
    const scripts = [...word.scripts, ...values.flatMap((value) => value.scripts)]
    const isRun = RUN_ONE_BY_ONE.test(word.text)
    const text = isRun ? values.map((value) => value.text).join('; ') : ''
    return { ...word, text: word.text + text, mask: word.mask + 'q'.repeat(text.length), dynamic: true, scripts }
  }

  /** Keeps values that later commands of the same text use: `D=/; rm -rf $D`. */
  #remember(words: readonly Word[], assignments: readonly Assignment[]): void {
    const [program = '', ...rest] = words.map(({ text }) => text)
    const declares = DECLARES.test(program)
    if (words.length > 0 && !declares) {
      this.#forget(program, rest)
      return
    }
    const isReference = declares && rest.some((word) => /^-[a-zA-Z]*n/.test(word))
    for (const { name, value, appends } of [
      ...assignments,
      ...words.slice(1).flatMap((word) => toDeclared(word) ?? []),
    ]) {
      const before = appends ? this.#text.variables.get(name) : ''
      // Of a process it is enough to know that it is one.
      const isKnown = before !== undefined && (!value.dynamic || /^\/proc\/[^/]+\/?$/.test(value.text))
      if (isKnown && !isReference && !this.#text.references.has(name)) this.#set(name, before + value.text)
      else this.#text.variables.delete(name)
    }
    if (!isReference) return
    // What is set by such a name is another variable.
    for (const word of rest) this.#text.references.add(word.replace(/=.*$/s, ''))
    this.#text.forgetAll()
  }

  #set(name: string, value: string): void {
    if (value.length <= MAX_VALUE_CHARS) this.#text.variables.set(name, value)
    else this.#text.variables.delete(name)
  }

  /** Values that a builtin of the shell changes by name, or by text that is not followed here. */
  #forget(program: string, words: readonly string[]): void {
    const isNamed = /^(?:read|mapfile|readarray|getopts|unset|let|wait)$/.test(program)
    const names = isNamed ? words : program === 'printf' && words[0] === '-v' ? words.slice(1, 2) : []
    for (const word of names) this.#text.variables.delete(/^\w+/.exec(word)?.[0] ?? '')
    if (/^(?:eval|source|\.)$/.test(program)) {
      const text = words.join(' ')
      for (const name of [...this.#text.variables.keys()])
        if (program !== 'eval' || text.includes(name) || /[$`]/.test(text)) this.#text.forget(name)
    }
  }

  #redirect(): Redirect | null {
    const match = this.#text.match(REDIRECT)
    if (!match) return null
    const operator = match[1]!
    const next = this.#text.source[this.#text.at + match[0].length]
    if ((operator === '<' || operator === '>') && next === '(' && match[0] === operator) return null
    this.#text.at += match[0].length
    this.#text.skipBlanks()
    const target = this.#words.word()[0] ?? plainWord('')
    const redirect: Redirect = { operator, target, body: null, scripts: [] }
    if (operator === '<<' || operator === '<<-') {
      this.#pendingBodies.push({ redirect, delimiter: target, stripTabs: operator === '<<-' })
    }
    return redirect
  }

  #readBodies(): void {
    for (const { redirect, delimiter, stripTabs } of this.#pendingBodies.splice(0)) {
      const lines: string[] = []
      while (this.#text.at < this.#text.source.length) {
        const end = this.#text.source.indexOf('\n', this.#text.at)
        const raw = this.#text.source.slice(this.#text.at, end === -1 ? undefined : end)
        this.#text.at = end === -1 ? this.#text.source.length : end + 1
        const line = stripTabs ? raw.replace(/^\t+/, '') : raw
        if (line === delimiter.text) break
        lines.push(line)
      }
      redirect.body = lines.join('\n')
      if (delimiter.mask.includes('q')) continue
      redirect.scripts = this.expansionsIn(redirect.body)
    }
  }
}

/** The word as `NAME=value`, `null` where it is none. */
export function toAssignment(word: Word): Assignment | null {
  const match = ASSIGNMENT.exec(word.text)
  if (!match || /[^u]/.test(word.mask.slice(0, match[0].length))) return null
  const rest = match[0].length
  const value = { ...word, text: word.text.slice(rest), mask: word.mask.slice(rest) }
  return { name: match[1]!, value, ...(match[0].endsWith('+=') ? { appends: true } : {}) }
}

/** The same for a word of `declare` and its kin, which may be quoted. */
function toDeclared(word: Word): Assignment | null {
  const known = ASSIGNMENT.exec(word.text)
  if (!known || word.mask.slice(0, known[0].length).includes('d')) return null
  return toAssignment({ ...word, mask: 'u'.repeat(known[0].length) + word.mask.slice(known[0].length) })
}

/** `((…))` */
function calculation(builder: WordBuilder): SimpleCommand {
  return { type: 'simple', assignments: [], words: [plainWord('(('), ...builder.finish()], redirects: [] }
}

function scriptOf(command: Stage): Script {
  return { pipelines: [{ stages: [command], background: false }] }
}

/** Of the values that a loop goes through the one that tells most of what is done to them: the path nearest to the root, else the first. */
function tellingValue(values: readonly Word[]): Word | undefined {
  const paths = values.filter(({ text, dynamic }) => !dynamic && /^[/~]/.test(text))
  return paths.sort((left, right) => left.text.length - right.text.length)[0] ?? values[0]
}

/** A pattern of `case` is no command, but it may hold some. */
function scriptsOfPattern(stage: Stage): readonly Script[] {
  return stage.type === 'simple' ? stage.words.flatMap((word) => word.scripts) : []
}
