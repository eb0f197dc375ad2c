import { appendFileSync } from 'node:fs'
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
    const file = join(directory, `hermes-rescue-${sessionId.replace(/[^\w-]/g, '_')}.jsonl`)
    try {
      const lines = entries.map((entry) => `${JSON.stringify({ sessionId, atMs, ...entry })}\n`)
      appendFileSync(file, lines.join(''), { mode: 0o600 })
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
