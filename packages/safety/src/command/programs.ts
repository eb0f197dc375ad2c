import { PROGRAMS } from './program-tables.js'

/** `python3.12` is `python`. */
export function interpreterOf(name: string): string | null {
  const family = name.replace(/(?<![\d.])[\d.]+$/, '').replace(/^nodejs$/, 'node')
  return Object.hasOwn(PROGRAMS.interpreters, family) ? family : null
}

/** Whether the program turns encoded text into plain text. */
export function isDecoder(name: string, args: readonly string[]): boolean {
  if (['base64', 'gbase64', 'base32', 'basenc'].includes(name)) {
    return args.some((arg) => /^-\w*[dD]/.test(arg) || /^--d/.test(arg))
  }
  if (name === 'xxd') return args.some((arg) => /^-\w*r/.test(arg))
  if (name === 'openssl') return args.some((arg) => arg === '-d' || arg === 'base64')
  return (
    ['uudecode', 'gunzip', 'zcat', 'rev'].includes(name) || (name === 'gzip' && args.some((arg) => /^-\w*d/.test(arg)))
  )
}

/** Whether the words of a program say something instead of naming what to run. */
export function onlySays(name: string): boolean {
  return PROGRAMS.say.has(name)
}

/** Whether a program is one of those that rules know, or that do nothing to a path by being given it. */
export function isKnownProgram(name: string): boolean {
  return (
    PROGRAMS.known.has(name) ||
    PROGRAMS.say.has(name) ||
    /^(?:python|pip|lua|ruby|php|node|clang|gcc|g\+\+)[\d.-]+$/.test(name)
  )
}
