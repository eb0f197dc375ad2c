import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { errorLine, HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import { isClaudeLine, readClaudeCode } from './claude-code.js'
import { isCodexLine, readCodex } from './codex.js'
import { type OpencodeSession, opencodeDatabase, opencodeExport, opencodeFolder, readOpencode } from './opencode.js'
import { isChatLine, isOwnLine, readChat, readOwn } from './plain-lines.js'
import { object, objects, type Transcript } from './transcript.js'

/** What is found at a path: transcripts, and files that could not be understood. */
type Finding =
  | { readonly type: 'transcript'; readonly file: string; readonly transcript: Transcript }
  | { readonly type: 'problem'; readonly file: string; readonly problem: string }

/**
 * The transcripts at `path`, a file or a folder with any number of them, read one at a time.
 * @throws HermesError `import.not_found`.
 */
export async function* findTranscripts(path: string): AsyncGenerator<Finding> {
  if (!existsSync(path))
    throw new HermesError(`${path} does not exist.`, { code: 'import.not_found', details: { path } })
  for (const file of filesAt(path)) {
    try {
      for await (const transcript of transcriptsOf(file)) if (transcript) yield { type: 'transcript', file, transcript }
    } catch (error) {
      yield { type: 'problem', file, problem: errorLine(error) }
    }
  }
}

/** Files to read, and folders that are a store of opencode. In order of their names, which is mostly that of time. */
function* filesAt(path: string): Generator<string> {
  const found = statSync(path)
  if (!found.isFile() && !found.isDirectory())
    throw new HermesError(`${path} is no file and no folder.`, { code: 'import.not_found', details: { path } })
  if (found.isFile() || isOpencodeFolder(path)) {
    yield path
    return
  }
  for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const inner = join(path, entry.name)
    // Beside a transcript of Claude Code is a folder with those of its subagents.
    if (entry.isDirectory() && !(entry.name === 'subagents')) yield* filesAt(inner)
    else if (
      entry.isFile() &&
      (/\.jsonl$/.test(entry.name) || /^session_.*\.json$/.test(entry.name) || entry.name === 'opencode.db')
    )
      yield inner
  }
}

function isOpencodeFolder(path: string): boolean {
  return ['session', 'message', 'part'].every((name) => existsSync(join(path, name)))
}

async function* transcriptsOf(file: string): AsyncGenerator<Transcript | null> {
  const extension = extname(file)
  if (statSync(file).isDirectory()) yield* opencode(opencodeFolder(file))
  else if (extension === '.db') yield* ofDatabase(file)
  else if (extension === '.json') yield ofObject(object(JSON.parse(readFileSync(file, 'utf8'))), file)
  else yield* ofLines(await linesOf(file), file)
}

async function* ofDatabase(file: string): AsyncGenerator<Transcript | null> {
  const { kindOfDatabase, readOwnDatabase } = await import('./own-database.js')
  switch (kindOfDatabase(file)) {
    case 'own':
      return yield* readOwnDatabase(file)
    case 'opencode':
      return yield* opencode(opencodeDatabase(file))
    default:
      throw unknownFormat(file)
  }
}

async function* opencode(
  sessions: Iterable<OpencodeSession> | AsyncIterable<OpencodeSession>,
): AsyncGenerator<Transcript | null> {
  for await (const session of sessions) yield readOpencode(session)
}

function ofObject(content: JsonObject, file: string): Transcript | null {
  if ('info' in content && 'messages' in content) return readOpencode(opencodeExport(content))
  if ('session' in content && 'entries' in content)
    return (
      readOwn([{ type: 'session', session: object(content['session']) }, ...objects(content['entries'])])[0] ?? null
    )
  const messages = objects(content['messages'])
  if (messages.some(isChatLine)) return readChat(messages, { ...fallbacks(file), facts: content })
  throw unknownFormat(file)
}

function ofLines(lines: readonly JsonObject[], file: string): readonly (Transcript | null)[] {
  if (lines.length === 0) return []
  const first = lines.slice(0, 50)
  if (first.some(isClaudeLine)) return [readClaudeCode(lines)]
  if (first.some(isCodexLine)) return [readCodex(lines)]
  if (first.some(isOwnLine)) return readOwn(lines)
  if (first.some(isChatLine)) return [readChat(lines, fallbacks(file))]
  throw unknownFormat(file)
}

/** The objects in a file of JSON lines; a line that is none, the last one after a crash for one, is left out. */
async function linesOf(file: string): Promise<readonly JsonObject[]> {
  const lines: JsonObject[] = []
  for await (const line of textLines(file)) {
    if (line.trim() === '') continue
    try {
      const parsed: unknown = JSON.parse(line)
      if (isJsonObject(parsed)) lines.push(parsed)
    } catch {
      // Half a line says nothing.
    }
  }
  return lines
}

/** No message is nearly as long, and a text of half a gigabyte ends the program. */
const MAX_LINE_CHARS = 64_000_000

/** @throws HermesError `import.unknown_format` for a line that is too long to be one. */
async function* textLines(file: string): AsyncGenerator<string> {
  let begun: string[] = []
  let chars = 0
  for await (const chunk of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    const [first = '', ...more] = chunk.split('\n')
    begun.push(first)
    chars += first.length
    if (chars > MAX_LINE_CHARS) throw unknownFormat(file)
    if (more.length === 0) continue
    yield begun.join('')
    yield* more.slice(0, -1)
    begun = [more.at(-1)!]
    chars = begun[0]!.length
  }
  yield begun.join('')
}

function fallbacks(file: string) {
  return { name: basename(file, extname(file)).replace(/^session_/, ''), atMs: Math.round(statSync(file).mtimeMs) }
}

function unknownFormat(file: string): HermesError {
  return new HermesError(`${file} is no transcript of Hermes, Claude Code, Codex or opencode.`, {
    code: 'import.unknown_format',
    details: { path: file },
  })
}
