import { createContext, Script } from 'node:vm'
import { errorLine, HermesError } from '@hermes/contracts'

const TIMEOUT_MS = 1000
const CLASSES: Readonly<Record<string, string>> = {
  alpha: 'a-zA-Z',
  digit: '0-9',
  alnum: 'a-zA-Z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  punct: '!-\\/:-@\\[-`{-~',
  xdigit: '0-9A-Fa-f',
  word: '\\w',
}

/** A pattern in ripgrep's syntax as a JavaScript expression. @throws HermesError `tool.bad_pattern`. */
export function toRegExp(pattern: string): RegExp {
  const flags = /^\(\?([ims]+)\)/.exec(pattern)
  const source = pattern
    .slice(flags?.[0].length ?? 0)
    .replace(/\(\?P</g, '(?<')
    .replace(/\[:(\w+):\]/g, (whole, name: string) => CLASSES[name] ?? whole)
  try {
    return new RegExp(source, `${flags?.[1] ?? ''}u`)
  } catch {
    try {
      return new RegExp(source, flags?.[1] ?? '')
    } catch (error) {
      throw badPattern(errorLine(error))
    }
  }
}

/** The error of a pattern that does not compile or takes too long. */
export const badPattern = (reason: string): HermesError =>
  new HermesError(
    `pattern is not usable as a regular expression: ${reason}. Escape special characters with a backslash.`,
    {
      code: 'tool.bad_pattern',
    },
  )

const FIND_HITS = `files.map((lines) => {
  const hits = []
  for (let i = 0; i < lines.length; i++) if (regex.test(lines[i])) hits.push(i)
  return hits
})`

/** Gives the numbers, from 0, of the lines that match, for each of several files. */
export type LineMatcher = (files: readonly (readonly string[])[]) => readonly (readonly number[])[]

/** Signs that mean more than themselves in an expression. */
const SPECIAL = /[\\^$.*+?()[\]{}|]/

/** A pattern that is only its own text; `null` for any other. */
export const plainText = (pattern: string): string | null => (SPECIAL.test(pattern) ? null : pattern)

/** Makes a matcher. A pattern that backtracks without end is stopped: a second is given for all files of a call. */
export function createLineMatcher(pattern: string): LineMatcher {
  const plain = plainText(pattern)
  if (plain !== null)
    return (files) => files.map((lines) => lines.flatMap((line, number) => (line.includes(plain) ? [number] : [])))
  const sandbox = createContext({ regex: toRegExp(pattern), files: [] as readonly (readonly string[])[] })
  // A time limit on `vm` is the one way to stop an expression that runs on the event loop. It starts a thread for each call.
  const script = new Script(FIND_HITS)
  return (files) => {
    sandbox['files'] = files
    try {
      const found = script.runInContext(sandbox, { timeout: TIMEOUT_MS }) as number[][]
      return found.map((hits) => [...hits])
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      throw badPattern('it backtracks without end; make it simpler')
    }
  }
}
