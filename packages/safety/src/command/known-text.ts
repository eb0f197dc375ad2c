import { decodeAnsiC } from '../shell/ansi-c.js'
import type { Redirect } from '../shell/script.js'
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
  if (invocation.name !== 'echo') return null
  const firstWord = args.findIndex((arg) => !/^-[neE]+$/.test(arg))
  const options = args.slice(0, firstWord === -1 ? args.length : firstWord)
  const text = args.slice(options.length).join(' ')
  return options.some((option) => option.includes('e')) ? decodeAnsiC(text) : text
}

function reversed(line: string): string {
  return [...line].reverse().join('')
}
