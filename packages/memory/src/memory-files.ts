import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync } from 'node:fs'
import { chmod, mkdir, open, readdir, readFile, readlink, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { errorLine, HermesError } from '@hermes/contracts'

const SETTLE_MS = 20
const MAX_LOOKS = 5
/** Somebody is putting another text in place for a moment only. */
const ABSENT_MS = 100

/** Far beyond what a store may hold. */
const MAX_BYTES = 1_000_000

/** Ends of the names of files that are about to be put in place, and that were. */
const NEW = '.tmp'
const OLD = '.old'
const KEPT_MS = 60_000
const MAX_REPLACED = 20

/**
 * The text of a file; empty when there is none.
 * @throws HermesError `memory.unreadable` for one that is no text, no regular file or larger than 1 MB; it is left as it is.
 */
export async function readMemoryFile(file: string, maxBytes = MAX_BYTES): Promise<string> {
  for (let waitedMs = 0; ; waitedMs += 5) {
    const text = await readText(file, maxBytes)
    if (text !== null) return text
    const next = await unfinished(await linkedFrom(file))
    // What was being put in place may be there by now.
    if (next === null) return (await readText(file, maxBytes)) ?? ''
    if (waitedMs >= ABSENT_MS) return (await readText(next, maxBytes)) ?? ''
    await wait(5)
  }
}

/** `null` when there is none. */
async function readText(file: string, maxBytes: number): Promise<string | null> {
  let bytes: Uint8Array
  try {
    const found = await stat(file)
    // A pipe or a device would hold the start up for ever.
    if (!found.isFile()) throw new Error('it is not a file')
    if (found.size > maxBytes) throw new Error(`it is larger than ${maxBytes / 1_000_000} MB`)
    bytes = await readFile(file)
  } catch (error) {
    if (isMissing(error)) return null
    throw unreadable(file, errorLine(error))
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw unreadable(file, 'it is not text')
  }
}

/**
 * Puts `text` in the place of a file that holds `expected`, with mode 0600. People with editors take no lock, so nothing is ever written
 * over: what stands there when its place is taken is set aside whole, see {@link replacedFiles}. A symbolic link stays one.
 * `changed` when the file holds something else; then it is left alone. With `null` it may hold anything.
 * @throws HermesError `memory.not_writable`
 */
export async function replaceMemoryFile(
  file: string,
  text: string,
  expected: string | null,
): Promise<'done' | 'changed'> {
  return writing(file, async () => {
    const target = await targetOf(file)
    const temporary = await writeTemporary(target, text)
    try {
      return takePlace(target, temporary, expected)
    } finally {
      await rm(temporary, { force: true })
    }
  })
}

/** In one go, so that others find no file for a few microseconds only. */
function takePlace(target: string, temporary: string, expected: string | null): 'done' | 'changed' {
  if (expected !== null && (textSync(target) ?? '') !== expected) return 'changed'
  for (;;) {
    const old = besides(target, OLD)
    const setAside = attempt(() => renameSync(target, old))
    if (setAside !== null && !isMissing(setAside)) throw setAside
    const placed = attempt(() => linkSync(temporary, target))
    if (placed === null) return 'done'
    // Somebody made a file in between: that is set aside too.
    if (codeOf(placed) === 'EEXIST') continue
    // Where files have no second name, the last look and the change are two steps.
    const moved = attempt(() => renameSync(temporary, target))
    if (moved === null) return 'done'
    if (setAside === null) renameSync(old, target)
    throw moved
  }
}

/** `null` when there is none. */
function textSync(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** What it failed with; `null` when it did not. */
function attempt(work: () => void): Error | null {
  try {
    work()
    return null
  } catch (error) {
    return error as Error
  }
}

/** A file that was replaced. */
export interface ReplacedFile {
  readonly path: string
  readonly isEmpty: boolean
  readonly writtenAtMs: number
  /** When it was written, set aside or put in place last. */
  readonly changedAtMs: number
}

/** The files that were replaced and are still kept, the newest last. */
export async function replacedFiles(file: string): Promise<readonly ReplacedFile[]> {
  return describeFiles(await filesBeside(await targetOf(file), OLD))
}

async function describeFiles(paths: readonly string[]): Promise<readonly ReplacedFile[]> {
  const files = await Promise.all(paths.map(describeFile))
  return files.filter((one) => one !== null).toSorted((one, other) => one.changedAtMs - other.changedAtMs)
}

async function describeFile(path: string): Promise<ReplacedFile | null> {
  const found = await stat(path).catch(() => null)
  if (!found?.isFile()) return null
  return { path, isEmpty: found.size === 0, writtenAtMs: found.mtimeMs, changedAtMs: found.ctimeMs }
}

/** Waits a moment for whoever had a file open when it was replaced, and on while they write. */
export async function untilWritten(file: string): Promise<void> {
  let before = await newestReplaced(file)
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    await wait(SETTLE_MS)
    const now = await newestReplaced(file)
    // An editor empties the file before it writes.
    if (now.writtenAtMs === before.writtenAtMs && !now.isEmpty) return
    before = now
  }
}

async function newestReplaced(file: string): Promise<{ readonly writtenAtMs: number; readonly isEmpty: boolean }> {
  const newest = (await replacedFiles(file)).at(-1)
  return { writtenAtMs: newest?.writtenAtMs ?? 0, isEmpty: newest?.isEmpty ?? false }
}

/** Forgets files that were replaced: all but the newest and those of the minute before it, twenty at most. */
export async function dropReplaced(files: readonly ReplacedFile[]): Promise<void> {
  const newest = files.at(-1)
  const kept = files.slice(-MAX_REPLACED).filter((one) => newest!.changedAtMs - one.changedAtMs < KEPT_MS)
  await Promise.all(files.filter((one) => !kept.includes(one)).map(({ path }) => rm(path, { force: true })))
}

/**
 * Puts a text in place whose writer was killed when the old one was set aside already, and removes what killed writers left. Nobody may be
 * writing meanwhile.
 */
export async function finishReplacing(file: string): Promise<void> {
  const target = await targetOf(file)
  const left = await filesBeside(target, NEW)
  if (left.length === 0) return
  const temporary = await unfinished(target)
  if (temporary !== null) attempt(() => linkSync(temporary, target))
  await Promise.all(left.map((path) => rm(path, { force: true })))
}

/**
 * The text whose turn it was when the newest old one was set aside. What another killed writer left was written later, or is in its place: that
 * changes a file too.
 */
async function unfinished(target: string): Promise<string | null> {
  const left = await filesBeside(target, NEW)
  if (left.length === 0) return null
  const setAside = (await describeFiles(await filesBeside(target, OLD))).at(-1)
  const ready = (await describeFiles(left)).findLast(({ changedAtMs }) => changedAtMs <= (setAside?.changedAtMs ?? 0))
  return ready?.path ?? null
}

/** When a file was last written, in Unix milliseconds; `null` when it is not there. */
export async function writtenAtMs(file: string): Promise<number | null> {
  return (await stat(file).catch(() => null))?.mtimeMs ?? null
}

async function writing<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    return await work()
  } catch (error) {
    if (HermesError.isInstance(error)) throw error
    throw new HermesError(`Cannot write ${file}: ${errorLine(error)}.`, { code: 'memory.not_writable', cause: error })
  }
}

async function writeTemporary(target: string, text: string): Promise<string> {
  const temporary = besides(target, NEW)
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await chmod(temporary, 0o600)
  return temporary
}

/** Where a file is once links are followed, also when it is not there. */
function targetOf(file: string): Promise<string> {
  return realpath(file).catch(() => linkedFrom(file))
}

async function linkedFrom(file: string): Promise<string> {
  const link = await readlink(file).catch(() => null)
  return link === null ? file : resolve(dirname(file), link)
}

const besides = (target: string, end: string) => join(dirname(target), `.${basename(target)}.${randomUUID()}${end}`)

async function filesBeside(target: string, end: string): Promise<readonly string[]> {
  const names = await readdir(dirname(target)).catch(() => [])
  const start = `.${basename(target)}.`
  return names.filter((name) => name.startsWith(start) && name.endsWith(end)).map((name) => join(dirname(target), name))
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code
const isMissing = (error: unknown) => codeOf(error) === 'ENOENT'

function unreadable(file: string, why: string): HermesError {
  return new HermesError(`${file} cannot be read: ${why}. Fix or move it; it is left as it is.`, {
    code: 'memory.unreadable',
  })
}

/** `memory`: the agent's notes, MEMORY.md; `user`: what it knows of its user, USER.md. */
export type MemoryTarget = 'memory' | 'user'

/** Both stores, in the order in which they are shown. */
export const MEMORY_TARGETS: readonly MemoryTarget[] = ['memory', 'user']
