import { posix } from 'node:path'
import { decodeAnsiC } from '../shell/ansi-c.js'
import type { Redirect } from '../shell/script.js'
import { knownVariables } from './context.js'
import { type Invocation, texts } from './invocation.js'
import { isDecoder } from './programs.js'

/** What redirects put on standard input, where that is known. */
export function redirectedText(redirects: readonly Redirect[]): string | null {
  for (const redirect of [...redirects].reverse()) {
    if (redirect.body !== null) return redirect.body
    if (redirect.operator === '<<<' && !redirect.target.dynamic) return redirect.target.text
  }
  return null
}

/** What the program will print, where that follows from its arguments and input alone. */
export function printedText(invocation: Invocation): string | null {
  const args = texts(invocation.args)
  if (invocation.via !== null) return null
  if (invocation.name === 'cat' && args.every((arg) => arg === '-')) return invocation.input.text
  if (invocation.name === 'base64' && isDecoder('base64', args) && invocation.input.text !== null) {
    return Buffer.from(invocation.input.text, 'base64').toString('utf8')
  }
  if (invocation.name === 'xxd' && isDecoder('xxd', args) && invocation.input.text !== null) {
    return Buffer.from(invocation.input.text.replace(/\s/g, ''), 'hex').toString('utf8')
  }
  if (invocation.name === 'rev') return invocation.input.text?.split('\n').map(reversed).join('\n') ?? null
  if (invocation.args.some((word) => word.dynamic)) return null
  if (invocation.name === 'printf') {
    const [format = '', ...rest] = args
    return [decodeAnsiC(format).replace(/%[bqs]/g, () => rest.shift() ?? ''), ...rest].join(' ')
  }
  const operands = args.filter((arg) => !arg.startsWith('-'))
  const [first = ''] = operands
  switch (invocation.name) {
    case 'printenv':
      return operands.length === 1
        ? first === 'HOME'
          ? '~'
          : (knownVariables(invocation.context).get(first) ?? null)
        : null
    case 'which':
    case 'command':
    case 'type':
      // Wherever it lies exactly, it is a place of programs.
      return operands.length === 1 && (invocation.name === 'which' || args[0] !== first) ? `/usr/bin/${first}` : null
    case 'dirname':
      return operands.length === 1 ? posix.dirname(first) : null
    case 'basename':
      return operands.length === 1 ? posix.basename(first) : null
    case 'realpath':
    case 'readlink':
      return operands.length === 1 && /^[/~]/.test(first) ? first : null
    default:
  }
  if (invocation.name !== 'echo') return null
  const firstWord = args.findIndex((arg) => !/^-[neE]+$/.test(arg))
  const options = args.slice(0, firstWord === -1 ? args.length : firstWord)
  const text = args.slice(options.length).join(' ')
  return options.some((option) => option.includes('e')) ? decodeAnsiC(text) : text
}

function reversed(line: string): string {
  return [...line].reverse().join('')
}
