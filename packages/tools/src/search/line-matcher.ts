import { setImmediate as nextTick } from 'node:timers/promises'
import { errorLine, HermesError } from '@hermes/contracts'
import { ExpressionMatcher } from './expression-matcher.js'

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

/** The engine takes long to read what is longer, and nobody writes it. */
const MAX_PATTERN_CHARS = 20_000

/** A pattern in ripgrep's syntax as a JavaScript expression. @throws HermesError `tool.bad_pattern`. */
export function toRegExp(pattern: string): RegExp {
  if (pattern.length > MAX_PATTERN_CHARS) throw badPattern(`it has more than ${MAX_PATTERN_CHARS} characters`)
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

/** As many characters as one call of a matcher is for, which costs most for being called at all. */
export const MATCHED_AT_ONCE_CHARS = 500_000

/** Signs that mean more than themselves in an expression. */
const SPECIAL = /[\\^$.*+?()[\]{}|]/

type Files = readonly (readonly string[])[]
type Hits = readonly (readonly number[])[]

/** Finds lines in files that are given as lines. */
export interface LineMatcher {
  /**
   * The numbers, from 0, of the lines that match, for each file. Other work has its turn in between. Abort rejects with its reason.
   * @throws HermesError `tool.bad_pattern` for an expression that takes more than a second for half a million characters.
   */
  match(files: Files): Promise<Hits>
  end(): Promise<void>
}

/** @throws HermesError `tool.bad_pattern`. */
export function createLineMatcher(pattern: string, signal: AbortSignal): LineMatcher {
  const expression = SPECIAL.test(pattern) ? new ExpressionMatcher(toRegExp(pattern)) : null
  return {
    async match(files) {
      const hits = files.map((): number[] => [])
      for (const parts of slices(files)) {
        const lines = parts.map((part) => part.lines)
        const found = expression ? await expression.match(lines, signal) : findText(pattern, lines)
        if (!found) throw badPattern('it backtracks without end; make it simpler')
        for (const [at, { file, from }] of parts.entries()) for (const line of found[at]!) hits[file]!.push(from + line)
        await nextTick()
        signal.throwIfAborted()
      }
      return hits
    },
    end: async () => expression?.end(),
  }
}

/** Lines of a file, by its number, from line `from`. */
interface Part {
  readonly file: number
  readonly from: number
  readonly lines: readonly string[]
}

function* slices(files: Files): Generator<readonly Part[]> {
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

const findText = (text: string, files: Files): Hits =>
  files.map((lines) => lines.flatMap((line, number) => (line.includes(text) ? [number] : [])))
