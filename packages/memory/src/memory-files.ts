import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, readFile, realpath, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorLine, HermesError } from '@hermes/contracts'

/**
 * The text of a file; empty when there is none.
 * @throws HermesError `memory.unreadable` for one that is no text, which is left as it is.
 */
export async function readMemoryFile(file: string): Promise<string> {
  let bytes: Uint8Array
  try {
    bytes = await readFile(file)
  } catch (error) {
    if (/^(?:ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? '')) return ''
    throw unreadable(file, errorLine(error))
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw unreadable(file, 'it is not text')
  }
}

/**
 * Replaces a file whole, with mode 0600; a reader sees the old text or the new one. A symbolic link stays one.
 * @throws HermesError `memory.not_writable`
 */
export async function writeMemoryFile(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const target = await realpath(file).catch(() => file)
    const temporary = `${target}.${randomUUID()}.tmp`
    try {
      const handle = await open(temporary, 'wx', 0o600)
      await handle.writeFile(text)
      await handle.sync()
      await handle.close()
      await chmod(temporary, 0o600)
      await rename(temporary, target)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  } catch (error) {
    throw new HermesError(`Cannot write ${file}: ${errorLine(error)}.`, { code: 'memory.not_writable', cause: error })
  }
}

function unreadable(file: string, why: string): HermesError {
  return new HermesError(`${file} cannot be read: ${why}. Mend or move it; it is left as it is.`, {
    code: 'memory.unreadable',
  })
}
