import type { Word } from '../shell/script.js'
import { type Invocation, texts } from './invocation.js'
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
    case 'trap':
    case 'watch':
      return joined(args.slice(0, 1))
    case 'alias':
      return args.flatMap((word) => joined([{ ...word, text: word.text.replace(/^[^=]*=?/, '') }]))
    case 'su':
    case 'runuser':
    case 'script':
    case 'flock':
      return afterOption(args, ['-c', '--command'])
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

/** The script a shell is given with `-c`; what it reads from standard input where that text is known. */
function shellPayloads(invocation: Invocation): Payload[] {
  const { args, input } = invocation
  const at = args.findIndex((word) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word.text))
  if (at !== -1) {
    const script = args.slice(at + 1).find((word) => !/^[-+]/.test(word.text))
    return script ? [{ type: 'text', text: script.text }] : []
  }
  return readsInput(invocation) && input.text !== null ? [{ type: 'text', text: input.text }] : []
}

/** Whether a shell or interpreter takes its program from standard input. */
export function readsInput(invocation: Invocation): boolean {
  const args = texts(invocation.args)
  if (args.some((arg) => arg === '-' || arg === '-s' || arg === '/dev/stdin' || arg === '/dev/fd/0')) return true
  const withValue = ['-o', '-O', '--rcfile', '--init-file']
  return args.every((arg, index) => /^[-+]/.test(arg) || withValue.includes(args[index - 1] ?? ''))
}

function afterOption(args: readonly Word[], names: readonly string[]): Payload[] {
  return args.flatMap((word, index): Payload[] => {
    const text = args[index + 1]?.text
    return names.includes(word.text) && text !== undefined ? [{ type: 'text', text }] : []
  })
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
