import { setImmediate as nextTick } from 'node:timers/promises'
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

/**
 * Gives the numbers, from 0, of the lines that match, for each of several files. Other work has its turn in between.
 * @throws HermesError `tool.bad_pattern` for an expression that backtracks without end: a second is its limit for half a million characters.
 */
export type LineMatcher = (files: readonly (readonly string[])[]) => Promise<readonly (readonly number[])[]>

type SyncMatcher = (files: readonly (readonly string[])[]) => readonly (readonly number[])[]

/** As many characters as one call of a matcher is for, which costs most for being called at all. */
export const MATCHED_AT_ONCE_CHARS = 500_000

/** Signs that mean more than themselves in an expression. */
const SPECIAL = /[\\^$.*+?()[\]{}|]/

/** @throws HermesError `tool.bad_pattern`. */
export function createLineMatcher(pattern: string): LineMatcher {
  const match = SPECIAL.test(pattern) ? expressionMatcher(toRegExp(pattern)) : textMatcher(pattern)
  return async (files) => {
    const hits = files.map((): number[] => [])
    for (const parts of slices(files)) {
      const found = match(parts.map(({ lines }) => lines))
      for (const [at, { file, from }] of parts.entries()) for (const line of found[at]!) hits[file]!.push(from + line)
      await nextTick()
    }
    return hits
  }
}

/** Lines of a file, by its number, from line `from`. */
interface Part {
  readonly file: number
  readonly from: number
  readonly lines: readonly string[]
}

function* slices(files: readonly (readonly string[])[]): Generator<readonly Part[]> {
  let parts: Part[] = []
  let chars = 0
  for (const [file, lines] of files.entries()) {
    let from = 0
    for (let end = 1; end <= lines.length; end++) {
      chars += lines[end - 1]!.length + 1
      if (chars < MATCHED_AT_ONCE_CHARS && end < lines.length) continue
      parts.push({ file, from, lines: lines.slice(from, end) })
      from = end
      if (chars < MATCHED_AT_ONCE_CHARS) continue
      yield parts
      ;[parts, chars] = [[], 0]
    }
  }
  if (parts.length > 0) yield parts
}

const textMatcher =
  (text: string): SyncMatcher =>
  (files) =>
    files.map((lines) => lines.flatMap((line, number) => (line.includes(text) ? [number] : [])))

function expressionMatcher(regex: RegExp): SyncMatcher {
  const sandbox = createContext({ regex, files: [] as readonly (readonly string[])[] })
  // A time limit on `vm` is the one way to stop an expression that runs on the event loop. It starts a thread for each call.
  const script = new Script(FIND_HITS)
  return (files) => {
    sandbox['files'] = files
    try {
      return script.runInContext(sandbox, { timeout: TIMEOUT_MS }) as number[][]
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      throw badPattern('it backtracks without end; make it simpler')
    }
  }
}
