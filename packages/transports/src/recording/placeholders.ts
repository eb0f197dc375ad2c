/** Something that differs from machine to machine or run to run, and the name that stands for it in a recording. */
export interface Placeholder {
  /** Letters, digits and dashes; written as `{{name}}`. */
  readonly name: string
  /**
   * A string stands for itself and is replaced in requests and answers; a replay puts its own `value` back into the answers.
   * An expression is replaced in requests only: what a model said stays as it is.
   */
  readonly pattern: string | RegExp
  /** What a replay puts in its place; for string patterns. Default: the pattern. */
  readonly value?: string
  /** What a replay accepts in a request in its place. Default: the value, or whatever the expression matches. */
  readonly accepts?: RegExp
}

/** The facts of a machine and a run that default placeholders are made of. */
interface PlaceholderFacts {
  readonly cwd: string
  readonly home: string
  readonly tempDir: string
  readonly host: string
  readonly user: string
}

const WORD = /[^\s"'`/@:,;]+/
/** A shorter name would be found in much that has nothing to do with it. */
const SHORTEST_WORD = 2

const DAY = '(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +)?'
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
const YEAR = '(?: +[12]\\d{3}\\b)?'
const TIME = '(?: +\\d{1,2}:\\d\\d(?::\\d\\d)?\\b)?'
const ZONE = '(?: +(?:[AP]M|UTC|GMT|[A-Z]{2,4}T|[+-]\\d{4})\\b)*'
/** A time as `ls -l`, `date`, `git log` and mail headers write it. */
const WRITTEN_TIME = new RegExp(
  `\\b${DAY}(?:${MONTH} +\\d{1,2}|\\d{1,2} +${MONTH}(?! +\\d{1,2}\\b))\\b${YEAR}${TIME}${ZONE}${YEAR}${ZONE}`,
)

/** Placeholders for directories, host, user, loopback ports, dates, times of day and durations. Longer paths come first. */
export function defaultPlaceholders(facts: PlaceholderFacts): Placeholder[] {
  const paths = [
    { name: 'cwd', pattern: facts.cwd },
    { name: 'home', pattern: facts.home },
    { name: 'temp', pattern: facts.tempDir },
  ].filter(({ pattern }) => pattern.length > 1)
  const words = [
    { name: 'host', value: facts.host },
    { name: 'user', value: facts.user },
  ].filter(({ value }) => value.length >= SHORTEST_WORD)
  return [
    ...paths.sort((left, right) => right.pattern.length - left.pattern.length),
    ...words.map(({ name, value }) => ({
      name,
      pattern: new RegExp(`(?<![\\w-])${escapeText(value)}(?![\\w-])`),
      accepts: WORD,
    })),
    { name: 'port', pattern: /(?<=(?:127\.0\.0\.1|localhost|\[::1\]):)\d{2,5}/ },
    { name: 'time', pattern: /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/ },
    { name: 'date', pattern: /\b\d{4}-\d\d-\d\d\b/ },
    { name: 'day', pattern: WRITTEN_TIME },
    { name: 'clock', pattern: /\b\d\d:\d\d(?::\d\d(?:\.\d+)?)?\b/ },
    {
      name: 'duration',
      pattern: /\b\d+(?:\.\d+)? ?(?:ns|µs|ms|s|sec|seconds?|milliseconds?|m|min|minutes?|h|hours?)\b/,
    },
  ]
}

/** Replaces what `placeholders` match in `text` by their names, in their order. */
export function normalise(text: string, placeholders: readonly Placeholder[]): string {
  let result = text
  for (const { name, pattern } of placeholders)
    result = result.replace(typeof pattern === 'string' ? literal(pattern) : globalOf(pattern), () => tokenOf(name))
  return result
}

/** Puts the values of string placeholders back into `text`. */
export function restore(text: string, placeholders: readonly Placeholder[]): string {
  let result = text
  for (const placeholder of placeholders)
    if (typeof placeholder.pattern === 'string')
      result = result.replaceAll(tokenOf(placeholder.name), () => placeholder.value ?? (placeholder.pattern as string))
  return result
}

/** Only the placeholders that are replaced in answers as well. */
export function inAnswers(placeholders: readonly Placeholder[]): Placeholder[] {
  return placeholders.filter(({ pattern }) => typeof pattern === 'string')
}

const TOKEN = /\{\{([\w-]+)\}\}/

/** Offsets of the first difference between a recorded template and a text. */
interface Departure {
  readonly templateAt: number
  readonly textAt: number
}

/** Where `text` departs from the recorded `template`; `null` when it fits. */
export function departure(template: string, text: string, placeholders: readonly Placeholder[]): Departure | null {
  if (template === text) return null
  let templateAt = 0
  let textAt = 0
  for (const [index, piece] of template.split(TOKEN).entries()) {
    if (index % 2 === 0) {
      const shared = commonLength(piece, text, textAt)
      templateAt += shared
      textAt += shared
      if (shared < piece.length) return { templateAt, textAt }
    } else {
      const length = acceptedLength(placeholders, piece, text, textAt)
      if (length === null) return { templateAt, textAt }
      templateAt += tokenOf(piece).length
      textAt += length
    }
  }
  return textAt === text.length ? null : { templateAt, textAt }
}

function tokenOf(name: string): string {
  return `{{${name}}}`
}

function commonLength(piece: string, text: string, at: number): number {
  if (text.startsWith(piece, at)) return piece.length
  let length = 0
  while (length < piece.length && piece[length] === text[at + length]) length++
  return length
}

function acceptedLength(placeholders: readonly Placeholder[], name: string, text: string, at: number): number | null {
  if (text.startsWith(tokenOf(name), at)) return tokenOf(name).length
  const placeholder = placeholders.find((candidate) => candidate.name === name)
  if (!placeholder) return null
  const { pattern, value, accepts } = placeholder
  if (!accepts && typeof pattern === 'string') {
    const expected = value ?? pattern
    return text.startsWith(expected, at) ? expected.length : null
  }
  const source = accepts ?? (pattern as RegExp)
  const sticky = new RegExp(source.source, `${source.flags.replace(/[gy]/g, '')}y`)
  sticky.lastIndex = at
  const inPlace = sticky.exec(text)
  if (inPlace) return inPlace[0].length
  // What stood before it was a placeholder too, so no word boundary was there when it was replaced.
  sticky.lastIndex = 0
  return sticky.exec(text.slice(at))?.[0].length ?? null
}

/** A path is not found inside a longer name. */
function literal(text: string): RegExp {
  return new RegExp(`${escapeText(text)}(?![\\w-])`, 'g')
}

function globalOf(pattern: RegExp): RegExp {
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`)
}

function escapeText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
