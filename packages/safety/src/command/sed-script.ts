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
    const [, letter, hanging = ''] = /^-[nErsuz]*([eflLi])(.*)$/s.exec(word) ?? []
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
/** One of lines, of the last, of what matches; two of them are a range. */
const ADDRESS = /\s*(?:\d+(?:~\d+)?|\$|[+~]\d+|\/(?:\\.|[^\\/])*\/[IM]*|\\([^\\\n])(?:\\.|(?!\1)[^\\])*\1[IM]*)\s*,?/sy
const NOT = /[\s!]*/y
/** What stands behind a command: a text or file up to the end of the line, a label up to `;`, a number. */
const TEXT = /(?:\\.|[^\\\n])*/sy
const LABEL = /[^;\n}]*/y
const FLAGS = /[gpIiMme\d]*/y

function hasShell(script: string): boolean {
  let at = 0
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const [found = ''] = pattern.exec(script) ?? []
    at += found.length
    return found
  }
  while (at < script.length) {
    take(BETWEEN)
    while (take(ADDRESS) !== '');
    take(NOT)
    const command = script[at++]
    switch (command) {
      case 'e':
        return true
      case 's':
      case 'y': {
        at = behindParts(script, at)
        const flags = command === 's' ? take(FLAGS) : ''
        if (flags.includes('e')) return true
        if (script[at] === 'w') take(TEXT)
        break
      }
      case 'a':
      case 'i':
      case 'c':
      case 'r':
      case 'R':
      case 'w':
      case 'W':
      case '#':
        take(TEXT)
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
  return false
}

/** Where the two parts of `s/…/…/` end. */
function behindParts(script: string, start: number): number {
  const delimiter = script[start]
  let at = start + 1
  for (let parts = 0; at < script.length && parts < 2; at++) {
    if (script[at] === '\\') at++
    else if (script[at] === delimiter) parts++
  }
  return at
}
