import { randomBytes } from 'node:crypto'
import { appendFileSync, closeSync, constants, fstatSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { NewEntry } from '@hermes/contracts/conversation'

/** Errors after which the same append may never succeed. */
const LOSING = new Set([
  'store.disk_full',
  'store.unwritable',
  'store.corrupt',
  'store.damaged',
  'store.failed',
  'store.unreachable',
  'store.refused',
])

/** How the file of a session is called. */
function rescueName(sessionId: string): string {
  return `hermes-rescue-${sessionId.replace(/[^\w-]/g, '_')}`
}

/**
 * Does `append`; where the store takes no more, the entries go into a file in the first of `directories` that takes it, as JSON lines, and
 * the error says which. `hermes sessions rescue` brings them back.
 */
export async function orRescue<Result>(
  append: () => Promise<Result>,
  {
    directories,
    sessionId,
    entries,
    atMs,
  }: { directories: readonly string[]; sessionId: string; entries: readonly NewEntry[]; atMs: number },
): Promise<Result> {
  try {
    return await append()
  } catch (error) {
    if (!HermesError.isInstance(error) || !LOSING.has(error.code)) throw error
    const lines = entries.map((entry) => `${JSON.stringify({ sessionId, atMs, ...entry })}\n`)
    const file = keepInFirst(directories, rescueName(sessionId), lines.join(''))
    // What is told is why it could not be stored, not why it could not be kept elsewhere either.
    if (file === null) throw error
    const advice = 'hermes sessions rescue brings it back.'
    throw new HermesError(`${error.message} What was said is kept in ${file}; ${advice}`, {
      code: error.code,
      retryable: error.retryable,
      details: { ...error.details, rescuedTo: file },
      cause: error,
    })
  }
}

function keepInFirst(directories: readonly string[], name: string, text: string): string | null {
  for (const directory of directories) {
    try {
      makeFolder(directory)
      return keep(join(directory, name), text)
    } catch {
      // The next one may have room.
    }
  }
  return null
}

/** One level: file systems that take no folders would be tried for ever otherwise. */
function makeFolder(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch {
    // It is there, or the file cannot be made either.
  }
}

const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
const OTHERS = 0o077

/** Appends to a file that nobody else can read; where somebody else has made one of that name, or a link, to another. */
function keep(path: string, text: string): string {
  try {
    return appendTo(`${path}.jsonl`, text, O_CREAT)
  } catch {
    return appendTo(`${path}-${randomBytes(6).toString('hex')}.jsonl`, text, O_CREAT | O_EXCL)
  }
}

function appendTo(file: string, text: string, flags: number): string {
  const opened = openSync(file, O_WRONLY | O_APPEND | O_NOFOLLOW | flags, 0o600)
  try {
    const { uid, mode } = fstatSync(opened)
    if (uid !== (process.getuid?.() ?? uid) || (mode & OTHERS) !== 0) throw new Error('others can read it')
    appendFileSync(opened, text)
    return file
  } finally {
    closeSync(opened)
  }
}
