import type { Word } from '../shell/script.js'
import { type Invocation, texts } from './invocation.js'
import { printedText } from './known-text.js'
import { SHELLS } from './programs.js'

const SSH_VALUED = Object.freeze([...'BbcDEeFIiJLlmOopQRSWw'].map((letter) => `-${letter}`))
const FIND_EXEC = Object.freeze(['-exec', '-execdir', '-ok', '-okdir'])

/** Commands inside a command: as text that will be split again, or as words already split. */
export type Payload =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'words'; readonly words: readonly Word[] }

/** What `bash -c`, `eval`, `find -exec`, `ssh`, `su -c` and their kind will run. */
export function payloads(invocation: Invocation): readonly Payload[] {
  const { name, args } = invocation
  const joined = (words: readonly Word[]): Payload[] =>
    words.length === 0 ? [] : [{ type: 'text', text: texts(words).join(' ') }]
  if (SHELLS.includes(name)) return shellPayloads(invocation)
  switch (name) {
    case 'eval':
      return joined(args)
    case '.':
    case 'source':
      return sourced(invocation)
    case 'mapfile':
    case 'readarray':
    case 'compgen':
      return afterOption(args, ['-C'])
    case 'hyperfine':
    case 'concurrently':
      return args.filter(({ text }) => /\s/.test(text)).map(({ text }) => ({ type: 'text', text }))
    case 'nodemon':
      return afterOption(args, ['-x', '--exec'])
    case 'nix-shell':
      return afterOption(args, ['--run', '--command'])
    case 'nix':
      return afterCommand(args)
    case '[[':
    case '[':
    case 'test':
    case 'let':
    case 'declare':
    case 'typeset':
    case 'local':
    case 'unset':
    case 'read':
      return indexPayloads(args)
    case 'printf':
      return args[0]?.text.startsWith('-v') ? indexPayloads(args) : []
    case 'trap':
    case 'watch':
      return joined(args.slice(0, 1))
    case 'alias':
      return args.flatMap((word) => joined([{ ...word, text: word.text.replace(/^[^=]*=?/, '') }]))
    case 'su':
    case 'runuser':
      return [...afterOption(args, ['-c', '--command']), ...afterDashes(args)]
    case 'script':
    case 'flock':
    case 'sg':
      return afterOption(args, ['-c', '--command'])
    case 'npx':
    case 'npm':
      return afterOption(args, ['-c', '--call'])
    case 'at':
    case 'batch':
      return invocation.input.text === null ? [] : [{ type: 'text', text: invocation.input.text }]
    case 'tmux':
    case 'screen':
      return sessionPayloads(name, args)
    case 'expect':
      return afterOption(args, ['-c']).map((payload) =>
        payload.type === 'text' ? { ...payload, text: payload.text.replace(/\bspawn\b/g, '') } : payload,
      )
    case 'ssh':
      return joined(args.slice(skipSshOptions(args) + 1))
    case 'find':
    case 'fd':
    case 'fdfind':
      return findPayloads(args)
    case 'cmd':
      return joined(args.filter((word) => !/^\/[a-zA-Z]$/.test(word.text)))
    default:
      return []
  }
}

/** bash reads such words as arithmetic or as the name of a variable, and runs what is in brackets in spite of quotes. */
function indexPayloads(args: readonly Word[]): Payload[] {
  const indexed = args.filter(({ text, scripts }) => scripts.length === 0 && /\[.*(?:\$\(|`)/s.test(text))
  return indexed.map(({ text }) => ({ type: 'text', text: `: ${text}` }))
}

/** The script a shell is given with `-c`; what it reads from standard input where that text is known. */
function shellPayloads(invocation: Invocation): Payload[] {
  const { args, input } = invocation
  const at = args.findIndex((word) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word.text))
  if (at !== -1) {
    const script = args.findIndex((word, index) => index > at && !/^[-+]/.test(word.text))
    if (script === -1) return []
    const { text } = args[script]!
    const filled = withArguments(text, texts(args.slice(script + 1)))
    return [text, ...(filled === text ? [] : [filled])].map((one) => ({ type: 'text', text: one }))
  }
  return readsInput(invocation) && input.text !== null
    ? [{ type: 'text', text: input.text }]
    : printedScript(invocation)
}

/** What `.` is to read, where that is known. */
function sourced(invocation: Invocation): Payload[] {
  const { args, input } = invocation
  const isInput = args[0]?.text === '/dev/stdin' || args[0]?.text === '/dev/fd/0'
  return isInput && input.text !== null ? [{ type: 'text', text: input.text }] : printedScript(invocation)
}

/** The script in `<(echo …)`. */
function printedScript({ args, inner }: Invocation): Payload[] {
  const last = inner.at(-1)
  const text = last && args[0]?.text.startsWith('<(') ? printedText(last) : null
  return text === null ? [] : [{ type: 'text', text }]
}

const MAX_FILLED_CHARS = 20_000
const ARGUMENT = /"?\$\{?([\d@*])\}?"?/g

/** A script with the arguments it is given in place of `$0`, `$1` and `$@`; what would make it very long is cut, and is not followed then. */
function withArguments(script: string, given: readonly string[]): string {
  const places = given.length === 0 ? 0 : [...script.matchAll(ARGUMENT)].length
  if (places === 0) return script
  const most = Math.floor(MAX_FILLED_CHARS / places)
  const quoted = given.map((word) => `'${word.replaceAll("'", "'\\''")}'`)
  return script.replace(ARGUMENT, (_, which: string) =>
    (/\d/.test(which) ? (quoted[Number(which)] ?? '') : quoted.slice(1).join(' ')).slice(0, most),
  )
}

/** Whether a shell or interpreter takes its program from standard input. */
export function readsInput(invocation: Invocation): boolean {
  const args = texts(invocation.args)
  if (args.some((arg) => arg === '-' || arg === '-s' || arg === '/dev/stdin' || arg === '/dev/fd/0')) return true
  const withValue = ['-o', '-O', '--rcfile', '--init-file']
  return args.every((arg, index) => /^[-+]/.test(arg) || withValue.includes(args[index - 1] ?? ''))
}

/** What follows an option, also where its letter is the last of several: `-qc`. */
function afterOption(args: readonly Word[], names: readonly string[]): Payload[] {
  const letter = names.find((name) => /^-\w$/.test(name))?.[1] ?? ''
  return args.flatMap((word, index): Payload[] => {
    const text = args[index + 1]?.text
    const isNamed = names.includes(word.text) || (/^-[a-zA-Z]+$/.test(word.text) && word.text.endsWith(letter))
    return isNamed && text !== undefined ? [{ type: 'text', text }] : []
  })
}

function afterCommand(args: readonly Word[]): Payload[] {
  const at = args.findIndex(({ text }) => text === '-c' || text === '--command')
  return at === -1 ? [] : [{ type: 'words', words: args.slice(at + 1) }]
}

function afterDashes(args: readonly Word[]): Payload[] {
  const at = args.findIndex((word) => word.text === '--')
  return at === -1 ? [] : [{ type: 'words', words: args.slice(at + 1) }]
}

/** What a terminal session is told to run or to type: whole lines, and for `screen` the words behind its options. */
function sessionPayloads(name: string, args: readonly Word[]): Payload[] {
  const lines = args.filter((word) => /\s/.test(word.text))
  if (lines.length > 0 || name === 'tmux') return lines.map(({ text }) => ({ type: 'text', text }))
  const isValue = (at: number) => /^-\w*[SstcTpX]$/.test(args[at - 1]?.text ?? '')
  const first = args.findIndex(({ text }, at) => !text.startsWith('-') && !isValue(at))
  return first === -1 ? [] : [{ type: 'words', words: args.slice(first) }]
}

function skipSshOptions(args: readonly Word[]): number {
  let at = 0
  while (args[at]?.text.startsWith('-')) at += SSH_VALUED.includes(args[at]!.text) ? 2 : 1
  return at
}

function findPayloads(args: readonly Word[]): Payload[] {
  const found: Payload[] = []
  for (let at = 0; at < args.length; at++) {
    const isFd = ['-x', '-X', '--exec', '--exec-batch'].includes(args[at]!.text)
    if (!FIND_EXEC.includes(args[at]!.text) && !isFd) continue
    const rest = args.slice(at + 1)
    const end = rest.findIndex((word) => word.text === ';' || word.text === '+')
    found.push({ type: 'words', words: end === -1 ? rest : rest.slice(0, end) })
    if (end === -1) break
    at += end + 1
  }
  return found
}
