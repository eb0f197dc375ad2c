import { posix } from 'node:path'
import type { ToolContext } from '@hermes/contracts/tool'
import { sniff } from '../files/binary-kind.js'
import { globMatcher } from './globs.js'
import { type IgnoreRules, isIgnored, rulesAbove, rulesIn } from './ignore-rules.js'
import { createLineMatcher } from './line-matcher.js'
import {
  type ContentQuery,
  type FoundFile,
  type FoundLine,
  MAX_COLLECTED_CHARS,
  type Searcher,
  type SearchScope,
} from './search-types.js'

const MAX_FILE_BYTES = 20_000_000

/** Searches through the environment's own file access: slower than ripgrep, with the same results. */
export const walkSearcher: Searcher = {
  async content(query, context) {
    const match = createLineMatcher(query.pattern)
    const results: FoundFile[] = []
    let collected = 0
    for await (const path of walk(query, context)) {
      const lines = await readLines(context, posix.join(query.root, path))
      const hits = lines ? match(lines) : []
      if (hits.length === 0) continue
      const found = {
        path,
        lines: query.mode === 'content' ? withContext(lines!, hits, query) : [],
        count: hits.length,
      }
      collected += path.length + found.lines.reduce((sum, line) => sum + Math.min(line.text.length, 4096), 0)
      results.push(found)
      if (collected > MAX_COLLECTED_CHARS) return { results, complete: false }
    }
    return { results, complete: true }
  },
  async files(scope, context) {
    const results: string[] = []
    let collected = 0
    for await (const path of walk(scope, context)) {
      results.push(path)
      collected += path.length
      if (collected > MAX_COLLECTED_CHARS) return { results, complete: false }
    }
    return { results, complete: true }
  },
}

async function* walk(scope: SearchScope, context: ToolContext): AsyncGenerator<string> {
  const matches = scope.glob === null ? () => true : await globMatcher(scope.glob)
  if (scope.file !== null) {
    if (matches(scope.file)) yield scope.file
    return
  }
  const above = scope.parentRules ? await rulesAbove(context.environment, scope.root) : []
  for await (const path of walkFolder('', above, scope, context)) if (matches(path)) yield path
}

async function* walkFolder(
  folder: string,
  above: IgnoreRules,
  scope: SearchScope,
  context: ToolContext,
): AsyncGenerator<string> {
  context.signal.throwIfAborted()
  const { environment } = context
  const absolute = posix.join(scope.root, folder)
  const rules = await rulesIn(environment, absolute, above)
  for (const entry of (await environment.list(absolute).catch(() => null)) ?? []) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.name === '.git' || (entry.name.startsWith('.') && !scope.hidden)) continue
    if (entry.type !== 'file' && entry.type !== 'directory') continue
    if (isIgnored(rules, posix.join(scope.root, path), entry.type === 'directory')) continue
    if (entry.type === 'directory') yield* walkFolder(path, rules, scope, context)
    else yield path
  }
}

/** `null` for a file that is binary, very large or not readable. */
async function readLines(context: ToolContext, path: string): Promise<readonly string[] | null> {
  const bytes = await context.environment.read(path, { length: MAX_FILE_BYTES + 1 }).catch(() => null)
  if (!bytes || bytes.length > MAX_FILE_BYTES) return null
  const sniffed = sniff(bytes)
  const encoding = sniffed.type === 'text' ? sniffed.encoding : 'utf-8'
  if (encoding === 'utf-8' && bytes.includes(0)) return null
  const lines = new TextDecoder(encoding).decode(bytes).split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
}

function withContext(lines: readonly string[], hits: readonly number[], query: ContentQuery): readonly FoundLine[] {
  const matching = new Set(hits)
  const shown = new Set<number>()
  for (const hit of hits)
    for (let index = hit - query.context; index <= hit + query.context; index++)
      if (index >= 0 && index < lines.length) shown.add(index)
  return [...shown]
    .sort((a, b) => a - b)
    .map((index) => ({ line: index + 1, text: lines[index]!, isMatch: matching.has(index) }))
}
