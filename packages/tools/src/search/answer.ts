import { posix } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import type { ToolResult } from '@hermes/contracts/tool'
import type { Found, FoundFile, FoundLine, SearchScope } from './search-types.js'

const MAX_LINE_CHARS = 500
const TOO_LONG = 'The search took too long and was stopped: give a smaller path, or a file_glob.'
const TOO_MANY = 'There was too much to collect all of it: give a smaller path, a file_glob or a narrower pattern.'

/** One page of results. */
interface Answer {
  readonly files: readonly FoundFile[]
  /** What is counted and paged: matches or files. */
  readonly unit: 'matches' | 'files'
  readonly total: number
  readonly shown: number
  readonly complete: boolean
  readonly timedOut: boolean
  /** Files of this page that may not be read. */
  readonly omitted: number
}

/** Which page, of what. */
interface Show {
  readonly limit: number
  readonly offset: number
  readonly scope: SearchScope
  readonly args: { readonly pattern: string; readonly target: 'content' | 'files'; readonly output_mode: string }
}

/** A page of file names. */
export function pageOf(found: Found<string>, { limit, offset }: Show): Answer {
  const files = found.results.slice(offset, offset + limit).map((path) => ({ path, lines: [], count: 0 }))
  const { complete, timedOut = false } = found
  return { files, unit: 'files', total: found.results.length, shown: files.length, complete, timedOut, omitted: 0 }
}

/** A page of matches, each with its surrounding lines; of files unless lines were asked for. */
export function pageOfLines(found: Found<FoundFile>, show: Show): Answer {
  const { limit, offset } = show
  const { complete, timedOut = false, results } = found
  if (show.args.output_mode !== 'content') {
    const files = results.slice(offset, offset + limit)
    return { files, unit: 'files', total: results.length, shown: files.length, complete, timedOut, omitted: 0 }
  }
  const files: FoundFile[] = []
  let seen = 0
  for (const file of results) {
    const from = Math.max(0, offset - seen)
    const to = Math.min(file.count, offset + limit - seen)
    if (from < to) files.push({ ...file, lines: linesOf(file, from, to), count: to - from })
    seen += file.count
  }
  const shown = files.reduce((sum, file) => sum + file.count, 0)
  return { files, unit: 'matches', total: seen, shown, complete, timedOut, omitted: 0 }
}

/** Matches `from` to `to` of a file, with the lines around them that do not belong to other matches. */
function linesOf(file: FoundFile, from: number, to: number): readonly FoundLine[] {
  const matches = file.lines.filter((line) => line.isMatch)
  const before = matches[from - 1]?.line ?? 0
  const after = matches[to]?.line ?? Number.POSITIVE_INFINITY
  return file.lines.filter(({ line }) => line > before && line < after)
}

/** The page as text grouped by file, and as data. */
export function answer(page: Answer, show: Show): ToolResult {
  const { root } = show.scope
  const files = page.files.map((file) => ({ ...file, path: posix.join(root, file.path) }))
  const next = show.offset + page.shown
  const isMore = page.shown > 0 && (next < page.total || !page.complete)
  const data = {
    root,
    total_count: page.total,
    ...(page.complete
      ? {}
      : { total_count_is_lower_bound: true, limit_reason: page.timedOut ? 'timeout' : 'too_many_results' }),
    ...(isMore ? { next_offset: next } : {}),
    ...(page.omitted > 0 ? { omitted_files: page.omitted } : {}),
    ...listing(files, show),
  }
  return {
    data,
    text: [...page.files.flatMap((file) => draw(file, show)), footer(page, show, isMore, next)].join('\n'),
  }
}

function listing(files: readonly FoundFile[], { args }: Show): JsonObject {
  if (args.target === 'files' || args.output_mode === 'files_only') return { files: files.map(({ path }) => path) }
  if (args.output_mode === 'count') return { counts: Object.fromEntries(files.map(({ path, count }) => [path, count])) }
  return {
    matches: files.flatMap(({ path, lines }) =>
      lines.map(({ line, text, isMatch }) => ({
        path,
        line,
        content: clip(text),
        ...(isMatch ? {} : { context: true }),
      })),
    ),
  }
}

/** A name with what would break its line, or steer a terminal, as escapes. */
const oneLine = (name: string): string =>
  name.replace(/[\u0000-\u001f\u007f\u2028\u2029]/g, (sign) =>
    sign === '\n' ? '\\n' : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

function draw(file: FoundFile, { args }: Show): readonly string[] {
  const name = oneLine(file.path)
  if (args.target === 'files' || args.output_mode === 'files_only') return [name]
  if (args.output_mode === 'count') return [`${name}: ${file.count}`]
  const lines: string[] = [name]
  let last = 0
  for (const { line, text, isMatch } of file.lines) {
    const isContext = file.lines.some((other) => !other.isMatch)
    if (isContext && last > 0 && line > last + 1) lines.push('  --')
    lines.push(`  ${line}${isMatch ? ':' : '-'} ${clip(text)}`)
    last = line
  }
  return lines
}

const clip = (text: string): string =>
  text.length <= MAX_LINE_CHARS ? text : `${text.slice(0, MAX_LINE_CHARS).toWellFormed()}…`

function footer(page: Answer, show: Show, isMore: boolean, next: number): string {
  const { args, scope, offset } = show
  const total = page.complete ? String(page.total) : `at least ${page.total}`
  if (page.shown === 0 && page.total > 0) return `[No more: ${total} ${page.unit} in all]`
  const notes = [
    ...(page.omitted > 0 ? [`${page.omitted} more may not be read.`] : []),
    ...(page.complete ? [] : [page.timedOut ? TOO_LONG : TOO_MANY]),
    ...(scope.skip.length > 0 ? [`Left out, as macOS asks the user about each: ${scope.skip.join(', ')}.`] : []),
  ]
  if (page.total === 0) {
    const hint = args.target === 'files' ? ['A part of a name needs wildcards: *part*.'] : []
    const where = scope.file === null ? scope.root : posix.join(scope.root, scope.file)
    return [`No ${page.unit} for ${args.pattern} in ${where}.`, ...notes, ...hint].join(' ')
  }
  const range = `${offset + 1}-${next} of ${total} ${page.unit}.`
  const more = isMore ? [`Continue with offset=${next}.`] : []
  return `[${[range, ...more, `Paths are relative to ${scope.root}.`, ...notes].join(' ')}]`
}
