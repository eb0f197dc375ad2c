import { posix } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import { HermesError } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { ToolContext, ToolResult } from '@hermes/contracts/tool'
import { defineTool } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { documentKind } from './documents/document-kind.js'
import { sniff } from './files/binary-kind.js'
import { holdsKeys, isInside, permitRead, readAction } from './files/file-access.js'
import { missingFile } from './files/similar-names.js'
import { failure } from './result-text.js'
import { namesHidden } from './search/globs.js'
import { isIgnored, rulesAbove } from './search/ignore-rules.js'
import { ripgrepSearcher } from './search/ripgrep.js'
import type { ContentQuery, Found, FoundFile, FoundLine, Searcher, SearchScope } from './search/search-types.js'
import { walkSearcher } from './search/walk.js'
import type { ToolSettings } from './settings.js'
import { defaultToolSettings } from './settings.js'
import { fileSources } from './terminal/outside.js'

const MAX_LIMIT = 500
const MAX_CONTEXT = 20
/** Commands have a longest argument, which is some times this. */
const MAX_PATTERN_CHARS = 10_000
const MAX_COUNTED_FILES = 2_000
const SNIFFED_BYTES = 8192
const PROMPTED_BY_MACOS = ['Desktop', 'Documents', 'Downloads', 'Library', 'Movies', 'Music', 'Pictures']
/** An escaped or real line break; `\\n` with an even number of backslashes is a backslash and a letter. */
const LINE_BREAK = /\n|(?<!\\)(?:\\\\)*\\(?:n|x0[aA]|x\{0*[aA]\}|u000[aA])/
/** Such a class keeps a match within its line, also where it says so. */
const ANYTHING_BUT = /\[\^(?:\\.|[^\]\\])*\]/g

const parameters = {
  type: 'object',
  properties: {
    pattern: {
      type: 'string',
      description: 'Regular expression; for files a glob: *.ts, src/**/test_*',
    },
    target: { type: 'string', enum: ['content', 'files'], default: 'content' },
    path: { type: 'string', default: '.', 'x-shown': { type: 'string' } },
    file_glob: { type: 'string' },
    limit: { type: 'integer', default: 50 },
    offset: { type: 'integer', default: 0 },
    output_mode: { type: 'string', enum: ['content', 'files_only', 'count'], default: 'content' },
    context: { type: 'integer', default: 0, description: 'Lines around' },
  },
  required: ['pattern'],
} as const

type Args = FromSchema<typeof parameters>

/** Searches file contents or names. `searchers` is the order in which they are tried; for tests. */
export const createSearchFilesTool = (
  settings: ToolSettings = defaultToolSettings,
  searchers: readonly Searcher[] = [ripgrepSearcher, walkSearcher],
) =>
  defineTool<Args>({
    name: 'search_files',
    aliases: ['search'],
    toolset: 'file',
    description:
      'Search file contents, or find files by name (target=files, newest first); not with grep, rg, find or ls. Skips hidden, binary and git-ignored files.',
    parameters,
    effect: 'read',
    external: true,
    sources: (args, context) => fileSources(args.path, context),
    concurrency: 'parallel',
    icon: '🔎',
    actions: (args, context) => [readAction(context, args.path)],
    summarize: ({ pattern, path, target }) => `search ${target === 'files' ? 'files' : 'for'} ${pattern} in ${path}`,
    execute: (args, context) => search(args, context, { settings, searchers }),
  })

interface Means {
  readonly settings: ToolSettings
  readonly searchers: readonly Searcher[]
}

async function search(args: Args, context: ToolContext, { settings, searchers }: Means): Promise<ToolResult> {
  if (args.pattern === '') return failure('pattern is empty.')
  if (args.pattern.length > MAX_PATTERN_CHARS)
    return failure(
      `pattern has ${args.pattern.length} characters, more than ${MAX_PATTERN_CHARS}; search for a part of it.`,
    )
  if (args.target === 'content' && LINE_BREAK.test(args.pattern.replace(ANYTHING_BUT, '')))
    return failure(
      'The search goes line by line, so a pattern with a line break finds nothing. Search for one line and set context.',
    )
  const scope = await resolveScope(args, context)
  if (typeof scope === 'string') return failure(scope)
  const limit = Math.min(Math.max(1, args.limit), MAX_LIMIT)
  const offset = Math.max(0, args.offset)
  const show = { limit, offset, args, scope }
  if (args.target === 'files') {
    const walk = () => firstOf(searchers, (searcher) => searcher.files(scope, context))
    // Agents that list the same folder take turns: the first one brings the rest what the disk takes long for.
    const found = await (settings.sharedFiles?.alone(context, [`${scope.root}/`], walk) ?? walk())
    const ordered = await byNewest(found.results, scope.root, context)
    const page = pageOf({ ...found, results: ordered }, show)
    return answer({ ...page, ...(await readable(page.files, scope, context, { looksInside: false })) }, show)
  }
  const query: ContentQuery = {
    ...scope,
    pattern: args.pattern,
    context: Math.min(Math.max(0, args.context), MAX_CONTEXT),
    mode: args.output_mode,
  }
  const found = await firstOf(searchers, (searcher) => searcher.content(query, context))
  const unsearched = found.results.length === 0 && scope.file !== null ? await whyNotSearched(scope, context) : null
  if (unsearched !== null) return failure(unsearched)
  const sorted = [...found.results].sort((a, b) => (a.path < b.path ? -1 : 1))
  // Every file has a match, so that no page needs more of them.
  const most = Math.max(MAX_COUNTED_FILES, offset + limit)
  const { files: results } = await readable(sorted.slice(0, most), scope, context, { looksInside: true })
  const complete = found.complete && sorted.length <= most
  return answer(pageOfLines({ ...found, results, complete }, show), show)
}

/** Where to search; a line for the model when nothing can be searched there. */
async function resolveScope(args: Args, context: ToolContext): Promise<SearchScope | string> {
  const { environment } = context
  const real = await permitRead(context, args.path)
  const stat = await environment.stat(real)
  if (!stat) return missingFile(environment, environment.resolve(args.path))
  if (stat.type === 'other') return `${real} is a device, pipe or socket, so it is not searched.`
  const root = stat.type === 'directory' ? real : posix.dirname(real)
  const glob = args.target === 'files' ? args.pattern : (args.file_glob ?? null)
  return {
    root,
    file: stat.type === 'directory' ? null : posix.basename(real),
    glob,
    hidden: glob !== null && namesHidden(glob),
    parentRules: !isIgnored(await rulesAbove(environment, root), root, true),
    skip: await promptedFolders(environment, root),
  }
}

/** A search from above would have macOS ask the person at the screen for leave to look into each of them. */
async function promptedFolders(environment: Environment, root: string): Promise<readonly string[]> {
  const home = environment.resolve('~')
  if (!isInside(home, root) || !/Darwin|macOS/.test((await environment.probe()).os)) return []
  return PROMPTED_BY_MACOS.map((name) => posix.relative(root, posix.join(home, name)))
}

/** Why nothing is found in a single file whatever it holds; `null` when it was searched. */
async function whyNotSearched({ root, file }: SearchScope, { environment }: ToolContext): Promise<string | null> {
  const path = posix.join(root, file ?? '')
  const start = await environment.read(path, { length: SNIFFED_BYTES, noLinks: true })
  const sniffed = start && sniff(start)
  const isMarked = sniffed?.type === 'text' && (sniffed.encoding === 'utf-8' || sniffed.bomBytes > 0)
  if (!sniffed || isMarked) return null
  const kind = sniffed.type === 'binary' ? sniffed.kind : 'UTF-16 without a mark'
  const way = sniffed.type === 'text' || documentKind(path) ? 'read_file shows its text' : 'use a command in terminal'
  return `${path} is ${kind}, which is not searched: ${way}.`
}

async function firstOf<T>(
  searchers: readonly Searcher[],
  run: (searcher: Searcher) => Promise<Found<T> | null>,
): Promise<Found<T>> {
  for (const searcher of searchers) {
    const found = await run(searcher)
    if (found) return found
  }
  throw new HermesError('No way to search is available here.', { code: 'tool.no_searcher' })
}

/**
 * Leaves out files that the policy does not let the session read. Where their contents were searched this comes before anything is
 * counted: how often a pattern is in a file says what is in it.
 */
async function readable(
  files: readonly FoundFile[],
  { root }: SearchScope,
  context: ToolContext,
  { looksInside }: { readonly looksInside: boolean },
) {
  const allowed: FoundFile[] = []
  for (const file of files) {
    const path = posix.join(root, file.path)
    if (await mayRead(context, path, looksInside && (await holdsKeys(context, path)))) allowed.push(file)
  }
  return { files: allowed, omitted: files.length - allowed.length }
}

/** A person is not asked for each file of a search: what would ask is left out, and can be read by name. */
async function mayRead(context: ToolContext, path: string, keys: boolean): Promise<boolean> {
  try {
    const action = readAction(context, path)
    await context.permit(action, { mayAsk: false })
    if (keys) await context.permit({ ...action, holdsKeys: true }, { mayAsk: false })
    return true
  } catch (error) {
    if (HermesError.isInstance(error) && error.code === 'policy.denied') return false
    throw error
  }
}

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
function pageOf(found: Found<string>, { limit, offset }: Show): Answer {
  const files = found.results.slice(offset, offset + limit).map((path) => ({ path, lines: [], count: 0 }))
  const { complete, timedOut = false } = found
  return { files, unit: 'files', total: found.results.length, shown: files.length, complete, timedOut, omitted: 0 }
}

/** A page of matches, each with its surrounding lines; of files unless lines were asked for. */
function pageOfLines(found: Found<FoundFile>, show: Show): Answer {
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
function answer(page: Answer, show: Show): ToolResult {
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

/** More files than this are ordered by name: asking for the age of each would take too long. */
const MAX_DATED = 5000
const AT_ONCE = 32

/** Orders files by time of change, newest first, then by name. */
async function byNewest(
  paths: readonly string[],
  root: string,
  { environment, signal }: ToolContext,
): Promise<readonly string[]> {
  const named = [...paths].sort()
  if (named.length > MAX_DATED) return named
  const dated: { readonly path: string; readonly modifiedMs: number }[] = []
  for (let start = 0; start < named.length; start += AT_ONCE) {
    signal.throwIfAborted()
    const batch = named.slice(start, start + AT_ONCE).map(async (path) => {
      const stat = await environment.stat(posix.join(root, path))
      return { path, modifiedMs: stat?.modifiedMs ?? 0 }
    })
    dated.push(...(await Promise.all(batch)))
  }
  return dated.sort((a, b) => b.modifiedMs - a.modifiedMs).map(({ path }) => path)
}
