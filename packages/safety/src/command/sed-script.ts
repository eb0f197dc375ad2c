import type { Word } from '../shell/script.js'

/** Whether one of the scripts that `sed` is given runs a shell: by the command `e`, with or without a blank behind it, or the flag `e` of `s`. */
export const runsShell = (args: readonly Word[]): boolean => scriptsOf(args.map(({ text }) => text)).some(hasShell)

/** What of the words is a script; without an option that names one it is the first that is no option. */
function scriptsOf(words: readonly string[]): readonly string[] {
  const scripts: string[] = []
  const operands: string[] = []
  let isNamed = false
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (word === '--') {
      operands.push(...words.slice(at + 1))
      break
    }
    const [, long, value] = /^--([\w-]+)(?:=(.*))?$/s.exec(word) ?? []
    // The first letter that takes a value takes the rest of the word.
    const [, letter, hanging = ''] = /^-[bnErsuz]*([eflLi])(.*)$/s.exec(word) ?? []
    const name = long === undefined ? letter : LONG.find(([option]) => option.startsWith(long))?.[1]
    if (name === 'e' || name === 'f') {
      isNamed = true
      const script = value ?? (hanging || words[++at] || '')
      if (name === 'e') scripts.push(script)
    } else if (name === 'l' && value === undefined && hanging === '') at++
    else if (!word.startsWith('-') || word === '-') operands.push(word)
  }
  // Several are one script, line by line.
  return isNamed ? [scripts.join('\n')] : operands.slice(0, 1)
}

const LONG = [
  ['expression', 'e'],
  ['file', 'f'],
  ['line-length', 'l'],
] as const

const BETWEEN = /[\s;{}]*/y
/** One of lines, or of the last; two addresses are a range. */
const LINE_ADDRESS = /\s*(?:\d+(?:~\d+)?|\$|[+~]\d+)\s*,?/y
/** Where one of what matches starts: its delimiter is the last letter. */
const MATCH_ADDRESS = /\s*(?:\/|\\[^\\\n])/y
const BEHIND_MATCH = /[IM]*\s*,?/y
const NOT = /[\s!]*/y
/** What stands behind a command: a text, that a backslash continues on the next line; a file or comment up to the end of this one, whatever it ends in; a label up to a blank, `;` or `}`. */
const TEXT = /(?:\\.|[^\\\n])*/sy
const LINE = /[^\n]*/y
const LABEL = /[^\S\n]*[^\s;}]*/y
const FLAGS = /[gpIiMme\d]*/y
/** Characters to choose from: a delimiter or backslash among them is one of them. */
const BRACKET = /\[\^?\]?(?:\[([:.=])(?:(?!\1\]).)*\1\]|\[(?![:.=])|[^[\]])*\]/sy

function hasShell(script: string): boolean {
  let at = 0
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const [found = ''] = pattern.exec(script) ?? []
    at += found.length
    return found
  }
  // sed refuses a script with one that is not closed.
  let isUnclosed = false
  // Where sed sees the end of `[=` and `[.` among characters to choose from depends on the machine.
  let isUnsure = false
  const behindPart = (delimiter: string | undefined, isPattern: boolean): void => {
    for (; at < script.length; at++) {
      if (script[at] === delimiter) return void at++
      if (script[at] === '\\') at++
      else if (isPattern && script[at] === '[' && !isUnclosed) {
        const choice = take(BRACKET)
        isUnclosed = choice === ''
        isUnsure ||= /\[[.=]/.test(choice === '' ? script.slice(at + 1) : choice.slice(1))
        if (!isUnclosed) at--
      }
    }
  }
  const takesAddress = (): boolean => {
    if (take(LINE_ADDRESS) !== '') return true
    const start = take(MATCH_ADDRESS)
    if (start === '') return false
    behindPart(start.at(-1), true)
    take(BEHIND_MATCH)
    return true
  }
  while (at < script.length && !isUnsure) {
    take(BETWEEN)
    while (takesAddress());
    take(NOT)
    const command = script[at++]
    switch (command) {
      case 'e':
        return true
      case 's':
      case 'y': {
        const delimiter = script[at++]
        behindPart(delimiter, command === 's')
        behindPart(delimiter, false)
        const flags = command === 's' ? take(FLAGS) : ''
        if (flags.includes('e')) return true
        if (script[at] === 'w') take(LINE)
        break
      }
      case 'a':
      case 'i':
      case 'c':
        take(TEXT)
        break
      case 'r':
      case 'R':
      case 'w':
      case 'W':
      case '#':
        take(LINE)
        break
      case ':':
      case 'b':
      case 't':
      case 'T':
        take(LABEL)
        break
      default:
        break
    }
  }
  return isUnsure
}
