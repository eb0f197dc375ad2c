import { randomBytes } from 'node:crypto'
import { appendFileSync, closeSync, constants, fstatSync, openSync } from 'node:fs'
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

/**
 * Does `append`; where the store takes no more, the entries go into a file in `directory` as JSON lines, and the error says which.
 * `hermes sessions import FILE` brings them back.
 */
export async function orRescue<Result>(
  append: () => Promise<Result>,
  {
    directory,
    sessionId,
    entries,
    atMs,
  }: { directory: string | null; sessionId: string; entries: readonly NewEntry[]; atMs: number },
): Promise<Result> {
  try {
    return await append()
  } catch (error) {
    if (directory === null || !HermesError.isInstance(error) || !LOSING.has(error.code)) throw error
    const lines = entries.map((entry) => `${JSON.stringify({ sessionId, atMs, ...entry })}\n`)
    let file: string
    try {
      file = keep(join(directory, `hermes-rescue-${sessionId.replace(/[^\w-]/g, '_')}`), lines.join(''))
    } catch {
      // What is told is why it could not be stored, not why it could not be kept elsewhere either.
      throw error
    }
    throw new HermesError(`${error.message} What was said is kept in ${file}.`, {
      code: error.code,
      retryable: error.retryable,
      details: { ...error.details, rescuedTo: file },
      cause: error,
    })
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
