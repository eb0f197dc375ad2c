import { posix } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import type { DirectoryEntry, Environment, FileContent, ReadManyOptions } from '@hermes/contracts/environment'
import type { ToolContext } from '@hermes/contracts/tool'
import { sniff } from '../files/binary-kind.js'
import { globMatcher } from './globs.js'
import { type IgnoreRules, inFolder, isIgnored, rulesAbove, rulesIn } from './ignore-rules.js'
import { createLineMatcher, type LineMatcher, MATCHED_AT_ONCE_CHARS, toRegExp } from './line-matcher.js'
import { requiredText } from './required-text.js'
import {
  type ContentQuery,
  type Found,
  type FoundFile,
  type FoundLine,
  MAX_COLLECTED_CHARS,
  type Searcher,
  type SearchScope,
} from './search-types.js'

const MAX_FILE_BYTES = 20_000_000
const READS_AT_ONCE = 8
/** Folders that are listed before their turn: each waits for the disk, or for another machine, by itself. */
const LISTED_AHEAD = 8
const MATCHED_AT_ONCE_FILES = 400
/** In a folder of very many, other work has its turn in between. */
const ENTRIES_AT_ONCE = 2000

/** Searches through the environment's own file access: slower than ripgrep, with the same results. */
export const walkSearcher: Searcher = {
  async content(query, context) {
    const matcher = createLineMatcher(query.pattern, context.signal)
    try {
      return await searchContent(query, context, matcher)
    } finally {
      await matcher.end()
    }
  },
  async files(scope, context) {
    const results: string[] = []
    let collected = 0
    for await (const paths of walk(scope, context))
      for (const path of paths) {
        results.push(path)
        collected += path.length
        if (collected > MAX_COLLECTED_CHARS) return { results, complete: false }
      }
    return { results, complete: true }
  },
}

/**
 * The files below a folder, some at a time as they are found, by their paths relative to it. Hidden ones and those that ignore files leave
 * out are not among them. Ends early with what `signal` was aborted with.
 */
export async function* listFiles(
  environment: Environment,
  folder: string,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const root = await environment.realpath(folder)
  yield* walk({ root, file: null, glob: null, hidden: false, parentRules: true, skip: [] }, { environment, signal })
}

async function searchContent(
  query: ContentQuery,
  context: ToolContext,
  matcher: LineMatcher,
): Promise<Found<FoundFile>> {
  const results: FoundFile[] = []
  let collected = 0
  for await (const texts of textsOf(query, context)) {
    const files = texts.map(({ path, text }) => ({ path, lines: toLines(text) }))
    for (const [at, hits] of (await matcher.match(files.map(({ lines }) => lines))).entries()) {
      if (hits.length === 0) continue
      const { path, lines } = files[at]!
      const shown = query.mode === 'content' ? withContext(lines, hits, query) : []
      collected += path.length + shown.reduce((sum, line) => sum + Math.min(line.text.length, 4096), 0)
      results.push({ path, lines: shown, count: hits.length })
      if (collected > MAX_COLLECTED_CHARS) return { results, complete: false }
    }
  }
  return { results, complete: true }
}

/** What a walk needs of the context of a call. */
type WalkContext = Pick<ToolContext, 'environment' | 'signal'>

/** The files of the scope, folder by folder. */
async function* walk(scope: SearchScope, context: WalkContext): AsyncGenerator<readonly string[]> {
  const matches = scope.glob === null ? () => true : await globMatcher(scope.glob)
  if (scope.file !== null) {
    if (matches(scope.file)) yield [scope.file]
    return
  }
  const above = scope.parentRules ? await rulesAbove(context.environment, scope.root) : []
  const all = walkFolder({ path: '', entries: list(scope.root, context) }, above, scope, context)
  for await (const paths of all) yield paths.filter((path) => matches(path))
}

interface Folder {
  readonly path: string
  readonly entries: Promise<readonly DirectoryEntry[]>
}

/** Nothing for a folder that cannot be listed. */
async function list(path: string, { environment }: WalkContext): Promise<readonly DirectoryEntry[]> {
  return (await environment.list(path).catch(() => null)) ?? []
}

async function* walkFolder(
  folder: Folder,
  above: IgnoreRules,
  scope: SearchScope,
  context: WalkContext,
): AsyncGenerator<readonly string[]> {
  context.signal.throwIfAborted()
  const { environment } = context
  const absolute = posix.join(scope.root, folder.path)
  const entries = await folder.entries
  const rules = await rulesIn(environment, absolute, above, entries)
  const [files, folders]: [string[], string[]] = [[], []]
  for (const [at, { name, type }] of entries.entries()) {
    if (at % ENTRIES_AT_ONCE === ENTRIES_AT_ONCE - 1) {
      yield files.splice(0)
      await nextTick()
      context.signal.throwIfAborted()
    }
    if (type !== 'file' && type !== 'directory') continue
    if (name === '.git' || (name.startsWith('.') && !scope.hidden)) continue
    const path = folder.path === '' ? name : `${folder.path}/${name}`
    if (scope.skip.includes(path)) continue
    if (isIgnored(rules, inFolder(absolute, name), type === 'directory')) continue
    if (type === 'directory') folders.push(path)
    else files.push(path)
  }
  yield files
  const ahead: Folder[] = []
  for (const path of folders) {
    ahead.push({ path, entries: list(posix.join(scope.root, path), context) })
    if (ahead.length > LISTED_AHEAD) yield* walkFolder(ahead.shift()!, rules, scope, context)
  }
  for (const next of ahead) yield* walkFolder(next, rules, scope, context)
}

interface TextOfFile {
  readonly path: string
  readonly text: string
}

/** Texts that may match, enough at a time to be worth a call of the matcher. Binary and very large files are left out. */
async function* textsOf(query: ContentQuery, context: ToolContext): AsyncGenerator<readonly TextOfFile[]> {
  const { environment, signal } = context
  const required = requiredText(toRegExp(query.pattern))
  const options = {
    maxBytes: MAX_FILE_BYTES,
    signal,
    ...(required === null ? {} : { containing: encodings(required) }),
  }
  const paths = walk(query, context)
  const contents =
    environment.readMany?.(query.root, paths, options) ?? readEach(environment, query.root, paths, options)
  const decode = createDecoder()
  let texts: TextOfFile[] = []
  let chars = 0
  for await (const some of contents) {
    for (const { path, bytes } of some) {
      const text = decode(bytes)
      if (text === null || (required !== null && !text.includes(required))) continue
      texts.push({ path, text })
      chars += text.length
      if (chars < MATCHED_AT_ONCE_CHARS && texts.length < MATCHED_AT_ONCE_FILES) continue
      yield texts
      ;[texts, chars] = [[], 0]
    }
  }
  yield texts
}

/** As `readMany` of environments that have none: several at a time, since each waits for the disk by itself. */
async function* readEach(
  environment: Environment,
  root: string,
  paths: AsyncIterable<readonly string[]>,
  { maxBytes }: ReadManyOptions,
): AsyncGenerator<readonly FileContent[]> {
  const read = async (path: string) => {
    const bytes = await environment
      .read(posix.join(root, path), { length: maxBytes + 1, noLinks: true })
      .catch(() => null)
    return bytes && bytes.length <= maxBytes ? [{ path, bytes }] : []
  }
  for await (const some of paths)
    for (let start = 0; start < some.length; start += READS_AT_ONCE)
      yield (await Promise.all(some.slice(start, start + READS_AT_ONCE).map(read))).flat()
}

/** The text in each encoding that {@link createDecoder} reads. */
function encodings(text: string): readonly Uint8Array[] {
  const wide = Buffer.from(text, 'utf16le')
  return [Buffer.from(text), wide, Buffer.from(wide).swap16()]
}

/** Gives the text of a file, `null` of a binary one. */
function createDecoder(): (bytes: Uint8Array) => string | null {
  const decoders = {
    'utf-8': new TextDecoder(),
    'utf-16le': new TextDecoder('utf-16le'),
    'utf-16be': new TextDecoder('utf-16be'),
  }
  return (bytes) => {
    const sniffed = sniff(bytes)
    // As ripgrep does: UTF-16 is text where it is marked.
    const encoding = sniffed.type === 'text' && sniffed.bomBytes > 0 ? sniffed.encoding : 'utf-8'
    return encoding === 'utf-8' && bytes.includes(0) ? null : decoders[encoding].decode(bytes)
  }
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
