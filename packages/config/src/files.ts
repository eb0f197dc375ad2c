import { readFile, stat } from 'node:fs/promises'
import { errorLine, HermesError } from '@hermes/contracts'

const MAX_BYTES = 64_000_000

/**
 * The text of a file of a home; `null` when there is none. Rejects for what is no file: a pipe or a device may never end; and beyond 64 MB.
 */
export async function readText(file: string): Promise<string | null> {
  try {
    const found = await stat(file)
    if (found.isDirectory()) throw new Error('it is a folder')
    if (!found.isFile()) throw new Error('it is a pipe, socket or device, not a file')
    if (found.size > MAX_BYTES) throw new Error(`it has ${found.size} bytes, more than ${MAX_BYTES}`)
    return await readFile(file, 'utf8')
  } catch (error) {
    if (/^(?:ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}

/** A text file, or why it could not be read. */
export type ReadOutcome =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'missing' }
  | { readonly type: 'unreadable'; readonly reason: string }

/** Like {@link readText}, with a failure as a value. */
export async function tryReadText(file: string): Promise<ReadOutcome> {
  try {
    const text = await readText(file)
    return text === null ? { type: 'missing' } : { type: 'text', text }
  } catch (error) {
    return { type: 'unreadable', reason: errorLine(error) }
  }
}

/**
 * The text of a file that is to be changed; empty when there is none.
 * @throws HermesError `config.unreadable`
 */
export async function readToEdit(file: string): Promise<string> {
  const read = await tryReadText(file)
  if (read.type === 'unreadable')
    throw new HermesError(`Cannot read ${file}: ${read.reason.replace(/\.$/, '')}.`, { code: 'config.unreadable' })
  return read.type === 'text' ? read.text : ''
}
