import { posix } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { defineTool, type ToolContext, type ToolResult } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { documentKind } from './documents/document-kind.js'
import { sniff } from './files/binary-kind.js'
import { holdsKeys, isInside, permitRead, readAction } from './files/file-access.js'
import { missingFile } from './files/similar-names.js'
import { failure } from './result-text.js'
import { answer, pageOf, pageOfLines } from './search/answer.js'
import { namesHidden } from './search/globs.js'
import { isIgnored, rulesAbove } from './search/ignore-rules.js'
import { byNewest } from './search/newest.js'
import { ripgrepSearcher } from './search/ripgrep.js'
import type { ContentQuery, Found, FoundFile, Searcher, SearchScope } from './search/search-types.js'
import { walkSearcher } from './search/walk.js'
import { defaultToolSettings, type ToolSettings } from './settings.js'

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
