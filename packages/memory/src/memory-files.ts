import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync, statSync } from 'node:fs'
import { chmod, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { errorLine, HermesError } from '@hermes/contracts'

/** Whoever opened a file before it was replaced has written into it by then. */
const SETTLE_MS = 20

/** Far beyond what a store may hold. */
const MAX_BYTES = 10_000_000

/**
 * The text of a file; empty when there is none.
 * @throws HermesError `memory.unreadable` for one that is no text, no regular file or larger than 10 MB; it is left as it is.
 */
export async function readMemoryFile(file: string): Promise<string> {
  let bytes: Uint8Array
  try {
    const found = await stat(file)
    // A pipe or a device would hold the start up for ever.
    if (!found.isFile()) throw new Error('it is not a file')
    if (found.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES / 1_000_000} MB`)
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

/** How replacing a file went. */
export type Replaced =
  | { readonly type: 'done' }
  /** Somebody else wrote it meanwhile; it is as they left it. */
  | { readonly type: 'changed' }
  /** Somebody was still writing into the file that was replaced: this is what they wrote, and the file does not have it. */
  | { readonly type: 'overtaken'; readonly text: string }

/**
 * Replaces a file whole if it still holds `expected`, with mode 0600; a reader sees the old text or the new one. A symbolic link stays one.
 * People with editors take no lock, so the file is looked at once more just before and just after.
 * @throws HermesError `memory.not_writable`
 */
export async function replaceMemoryFile(file: string, text: string, expected: string): Promise<Replaced> {
  const target = await realpath(file).catch(() => file)
  const aside = `${target}.${randomUUID()}.old`
  try {
    return await writing(file, async () => {
      const temporary = await writeTemporary(target, text)
      try {
        const swapped = swap({ target, temporary, aside, expected })
        if (swapped !== 'set aside') return { type: swapped }
        await wait(SETTLE_MS)
        const left = await readMemoryFile(aside)
        return left === expected ? { type: 'done' } : { type: 'overtaken', text: left }
      } finally {
        await rm(temporary, { force: true })
      }
    })
  } finally {
    await rm(aside, { force: true })
  }
}

interface Swap {
  readonly target: string
  readonly temporary: string
  /** Where what is replaced stays for a moment. */
  readonly aside: string
  readonly expected: string
}

/**
 * Puts `temporary` in the place of `target`, in one go: an editor that replaces the file itself has no time to do so between the last look
 * and the change. `done` where nothing can be set aside.
 */
function swap({ target, temporary, aside, expected }: Swap): 'set aside' | 'done' | 'changed' {
  const hasLink = attempt(() => linkSync(target, aside))
  if (hasLink === 'ENOENT') {
    // Made by somebody else meanwhile, it is not replaced.
    return expected === '' && attempt(() => linkSync(temporary, target)) === 'done' ? 'done' : 'changed'
  }
  const old = hasLink === 'done' ? aside : target
  const { ino, size } = statSync(old)
  if (size !== Buffer.byteLength(expected) || readFileSync(old, 'utf8') !== expected) return 'changed'
  if (statSync(target, { throwIfNoEntry: false })?.ino !== ino) return 'changed'
  renameSync(temporary, target)
  return hasLink === 'done' ? 'set aside' : 'done'
}

/** The code of its failure. */
function attempt(work: () => void): string {
  try {
    work()
    return 'done'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}

/** Replaces a file whole, whatever it holds, with mode 0600. @throws HermesError `memory.not_writable` */
export async function writeMemoryFile(file: string, text: string): Promise<void> {
  await writing(file, async () => {
    const target = await realpath(file).catch(() => file)
    const temporary = await writeTemporary(target, text)
    await rename(temporary, target).catch(async (error: unknown) => {
      await rm(temporary, { force: true })
      throw error
    })
  })
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
  const temporary = `${target}.${randomUUID()}.tmp`
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

function unreadable(file: string, why: string): HermesError {
  return new HermesError(`${file} cannot be read: ${why}. Mend or move it; it is left as it is.`, {
    code: 'memory.unreadable',
  })
}
