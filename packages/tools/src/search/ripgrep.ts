import { HermesError } from '@hermes/contracts'
import type { ExecResult } from '@hermes/contracts/environment'
import type { ToolContext } from '@hermes/contracts/tool'
import { globMatcher } from './globs.js'
import { badPattern } from './line-matcher.js'
import {
  type ContentQuery,
  type FoundFile,
  type FoundLine,
  MAX_COLLECTED_CHARS,
  type Searcher,
  type SearchScope,
} from './search-types.js'

const MATCH = '\u001f'
const TIMEOUT_MS = 60_000
/** Beyond this a line is cut by ripgrep already, so that minified files do not fill the output. */
const MAX_COLUMNS = 4096
const NOT_FOUND = 127
/** After so many it is looked for again: it may have been installed since. */
const SEARCHES_WITHOUT = 10
/** A name pattern that ripgrep and picomatch read alike. */
const PLAIN_GLOB = /^[\w.*?-]+$/

const COMMON =
  'rg --no-config --no-messages --color never --no-require-git --no-ignore-global --no-ignore-exclude --no-ignore-dot'

/** Searches with the `rg` of the environment. */
export const ripgrepSearcher: Searcher = {
  async content(query, context) {
    const modes = { content: contentFlags(query), files_only: '-l --null', count: '-c --null --with-filename' }
    const flags = `--crlf --engine auto ${modes[query.mode]} -e ${quote(query.pattern)}`
    const run = await ripgrep(`${COMMON} ${scopeFlags(query)} ${flags} -- ${quote(placeOf(query))}`, query, context)
    if (!run) return null
    const results = query.mode === 'content' ? parseLines(run.output) : parseCounts(run.output, query.mode)
    if (results.length === 0 && run.failed) return refused(run.output)
    const { complete, timedOut } = run
    return { results: await matching(results, query, (file) => file.path), complete, timedOut }
  },
  async files(scope, context) {
    const run = await ripgrep(
      `${COMMON} ${scopeFlags(scope)} --files --null -- ${quote(placeOf(scope))}`,
      scope,
      context,
    )
    if (!run) return null
    const paths = run.output.split('\0').slice(0, -1)
    if (run.failed && paths.length === 0) return null
    const { complete, timedOut } = run
    return { results: await matching(paths.map(relative), scope, (path) => path), complete, timedOut }
  },
}

/** So that every path of the output begins alike. */
const placeOf = ({ file }: SearchScope): string => (file === null ? '.' : `./${file}`)

const contentFlags = (query: ContentQuery): string =>
  `--no-heading --with-filename --line-number --null --no-context-separator --field-match-separator '\\x1f' --field-context-separator '\\x1e' --max-columns ${MAX_COLUMNS} --max-columns-preview -C ${query.context}`

function scopeFlags(scope: SearchScope): string {
  const flags = [
    ...(scope.hidden ? ["--hidden --glob '!.git'"] : []),
    ...(scope.parentRules ? [] : ['--no-ignore-parent']),
    ...scope.skip.map((folder) => `--glob ${quote(`!/${folder.replace(/[\\*?[\]{}]/g, '\\$&')}`)}`),
    ...(scope.glob !== null && PLAIN_GLOB.test(scope.glob)
      ? [`--type-add ${quote(`wanted:${scope.glob}`)} --type wanted`]
      : []),
  ]
  return flags.join(' ')
}

/** What isolation says of a folder that commands do not see, and files are read of all the same. */
const OUT_OF_SIGHT = /^bwrap: Can't chdir/

interface Run {
  readonly output: string
  readonly complete: boolean
  readonly timedOut: boolean
  readonly failed: boolean
}

/** `null` when there is no ripgrep, or the policy does not let it run. */
async function ripgrep(command: string, { root }: SearchScope, context: ToolContext): Promise<Run | null> {
  const session = context.state.scratch('ripgrep', () => ({ searchesUntilLook: 0 }))
  if (session.searchesUntilLook-- > 0) return null
  session.searchesUntilLook = 0
  const { environment } = context
  const enough = new AbortController()
  let received = 0
  const permit = await context
    .permit({ type: 'spawn', command, cwd: root, backend: environment.backend })
    .catch((error: unknown) => {
      if (HermesError.isInstance(error) && error.code === 'policy.denied') return null
      throw error
    })
  if (!permit) return null
  const result = await environment.exec(permit, command, {
    cwd: root,
    aside: true,
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: 2 * MAX_COLLECTED_CHARS,
    signal: AbortSignal.any([context.signal, enough.signal]),
    onOutput: (text) => {
      received += text.length
      if (received > MAX_COLLECTED_CHARS) enough.abort()
    },
  })
  context.signal.throwIfAborted()
  const { output, timedOut, exitCode } = result
  if (exitCode === NOT_FOUND) session.searchesUntilLook = SEARCHES_WITHOUT
  if (exitCode === NOT_FOUND || OUT_OF_SIGHT.test(output)) return null
  // With nothing found it says nothing: other words are of whatever kept it from searching.
  const failed = !timedOut && !result.canceled && exitCode !== 0 && (exitCode !== 1 || output !== '')
  return { output, complete: isComplete(result), timedOut, failed }
}

const isComplete = (result: ExecResult): boolean =>
  !result.timedOut && !result.canceled && result.fullOutputPath === null

/** @throws HermesError `tool.bad_pattern` when the pattern is to blame; otherwise somebody else should search. */
function refused(output: string): null {
  if (!/regex|PCRE2/.test(output)) return null
  const reason = /error: (.+)/.exec(output)?.[1] ?? output.trim().split('\n').at(-1) ?? ''
  throw badPattern(reason.replace(/\.$/, ''))
}

/** A path, which may hold line breaks, NUL, a number, a separator and a line. Of output that was cut the rest of a row is passed over. */
const ROW = /^(\.\/[^\0]+)\0(\d+)([\u001e\u001f])([^\n]*)/gm

function parseLines(output: string): readonly FoundFile[] {
  const files = new Map<string, FoundLine[]>()
  for (const [, name, number, separator, line] of output.matchAll(ROW)) {
    const path = relative(name!)
    const lines = files.get(path) ?? []
    files.set(path, lines)
    lines.push({ line: Number(number), text: line!.replace(/\r$/, ''), isMatch: separator === MATCH })
  }
  return [...files].map(([path, lines]) => ({ path, lines, count: lines.filter((line) => line.isMatch).length }))
}

function parseCounts(output: string, mode: 'files_only' | 'count'): readonly FoundFile[] {
  if (mode === 'files_only')
    return output
      .split('\0')
      .slice(0, -1)
      .map((path) => ({ path: relative(path), lines: [], count: 1 }))
  return [...output.matchAll(/^(\.\/[^\0]+)\0(\d+)$/gm)].map(([, path, count]) => ({
    path: relative(path!),
    lines: [],
    count: Number(count),
  }))
}

const relative = (path: string): string => path.replace(/^\.\//, '')

async function matching<T>(
  results: readonly T[],
  { glob }: SearchScope,
  path: (result: T) => string,
): Promise<readonly T[]> {
  if (glob === null) return results
  const matches = await globMatcher(glob)
  return results.filter((result) => matches(path(result)))
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
