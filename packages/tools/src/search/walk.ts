import { posix } from 'node:path'
import type { ToolContext } from '@hermes/contracts/tool'
import { sniff } from '../files/binary-kind.js'
import { globMatcher } from './globs.js'
import { type IgnoreRules, isIgnored, rulesAbove, rulesIn } from './ignore-rules.js'
import { createLineMatcher, plainText } from './line-matcher.js'
import {
  type ContentQuery,
  type FoundFile,
  type FoundLine,
  MAX_COLLECTED_CHARS,
  type Searcher,
  type SearchScope,
} from './search-types.js'

const MAX_FILE_BYTES = 20_000_000
const READS_AT_ONCE = 8
/** A matcher costs most for being called at all; a second is its limit for each call. */
const MATCHED_AT_ONCE_CHARS = 1_000_000
const MATCHED_AT_ONCE_FILES = 400

/** Searches through the environment's own file access: slower than ripgrep, with the same results. */
export const walkSearcher: Searcher = {
  async content(query, context) {
    const match = createLineMatcher(query.pattern)
    const plain = plainText(query.pattern)
    const results: FoundFile[] = []
    let collected = 0
    for await (const texts of readInOrder(walk(query, context), query.root, context)) {
      const files = texts.flatMap(({ path, text }) =>
        plain === null || text.includes(plain) ? [{ path, lines: toLines(text) }] : [],
      )
      for (const [at, hits] of match(files.map(({ lines }) => lines)).entries()) {
        if (hits.length === 0) continue
        const { path, lines } = files[at]!
        const found = {
          path,
          lines: query.mode === 'content' ? withContext(lines, hits, query) : [],
          count: hits.length,
        }
        collected += path.length + found.lines.reduce((sum, line) => sum + Math.min(line.text.length, 4096), 0)
        results.push(found)
        if (collected > MAX_COLLECTED_CHARS) return { results, complete: false }
      }
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

interface TextOfFile {
  readonly path: string
  readonly text: string
}

/** Texts of the files in their order, several at a time: each read waits for the disk by itself. Binary files are left out. */
async function* readInOrder(
  paths: AsyncGenerator<string>,
  root: string,
  context: ToolContext,
): AsyncGenerator<readonly TextOfFile[]> {
  let batch: string[] = []
  let texts: TextOfFile[] = []
  let chars = 0
  const read = async () => {
    const found = await Promise.all(
      batch.map(async (path) => ({ path, text: await readText(context, posix.join(root, path)) })),
    )
    batch = []
    for (const { path, text } of found) {
      if (text === null) continue
      texts.push({ path, text })
      chars += text.length
    }
  }
  for await (const path of paths) {
    if (batch.push(path) < READS_AT_ONCE) continue
    await read()
    if (chars < MATCHED_AT_ONCE_CHARS && texts.length < MATCHED_AT_ONCE_FILES) continue
    yield texts
    ;[texts, chars] = [[], 0]
  }
  await read()
  yield texts
}

/** `null` for a file that is binary, very large or not readable. */
async function readText(context: ToolContext, path: string): Promise<string | null> {
  const bytes = await context.environment.read(path, { length: MAX_FILE_BYTES + 1 }).catch(() => null)
  if (!bytes || bytes.length > MAX_FILE_BYTES) return null
  const sniffed = sniff(bytes)
  // As ripgrep does: UTF-16 is text where it is marked.
  const encoding = sniffed.type === 'text' && sniffed.bomBytes > 0 ? sniffed.encoding : 'utf-8'
  if (encoding === 'utf-8' && bytes.includes(0)) return null
  return new TextDecoder(encoding).decode(bytes)
}

function toLines(text: string): readonly string[] {
  const lines = text.split('\n')
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
