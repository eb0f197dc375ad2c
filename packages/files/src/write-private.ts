import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, readlink, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { errorLine, HermesError } from '@hermes/contracts'

/**
 * Replaces a file whole, with mode 0600 and synced to disk; a reader sees the old text or the new one. A symbolic link stays one, also
 * where nothing is at its end. Missing folders are made with mode 0700.
 * @throws HermesError `files.not_writable`
 */
export async function writePrivate(file: string, text: string | Uint8Array): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const target = await realpath(file).catch(() => linkedFrom(file))
    const temporary = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`)
    try {
      await writeNew(temporary, text)
      await rename(temporary, target)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  } catch (cause) {
    throw new HermesError(`Cannot write ${file}: ${errorLine(cause)}.`, { code: 'files.not_writable', cause })
  }
}

async function linkedFrom(file: string): Promise<string> {
  return resolve(dirname(file), await readlink(file).catch(() => file))
}

async function writeNew(file: string, text: string | Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  // What the umask took from the owner comes back.
  await chmod(file, 0o600)
}
