import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
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

/**
 * Replaces a file whole, with mode 0600; a reader sees the old text or the new one. A symbolic link stays one. Missing folders are
 * made with mode 0700.
 * @throws HermesError `config.not_writable`
 */
export async function writePrivate(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const target = await realpath(file).catch(() => file)
    const temporary = `${target}.${randomUUID()}.tmp`
    try {
      await writeNew(temporary, text)
      await rename(temporary, target)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  } catch (error) {
    throw new HermesError(`Cannot write ${file}: ${errorLine(error)}.`, { code: 'config.not_writable', cause: error })
  }
}

async function writeNew(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await chmod(file, 0o600)
}
