import { createHash, randomBytes } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'

/** A file as a look at its folder shows it. */
export interface LocalFile {
  readonly sizeBytes: number
  readonly modifiedMs: number
  readonly isExecutable: boolean
}

/** Whether a path is inside a git folder, in whatever letters: file systems may take them for the same, and some leave signs out of names. */
export function isGitPath(path: string): boolean {
  return /(^|\/)\.git(\/|$)/i.test(path.replace(/[\p{Cf}\p{Mn}]/gu, ''))
}

/** Folders that package managers fill again. */
export const PASSED_OVER = ['node_modules', '.venv', '__pycache__']

const EXECUTABLE = 0o111

export const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The regular files below a folder of this machine, by their path from it. Links are not followed and not listed. */
export async function localFiles(folder: string): Promise<ReadonlyMap<string, LocalFile>> {
  const found = new Map<string, LocalFile>()
  const look = async (inside: string): Promise<void> => {
    for (const entry of await readdir(join(folder, inside), { withFileTypes: true })) {
      const path = inside === '' ? entry.name : `${inside}/${entry.name}`
      if (entry.isDirectory() && !PASSED_OVER.includes(entry.name)) await look(path)
      // Lists of lines cannot hold a name of two lines, and show one with a backslash otherwise.
      if (!entry.isFile() || /[\n\\]/.test(path)) continue
      const file = await statLocal(folder, path)
      if (file) found.set(path, file)
    }
  }
  await look('')
  return found
}

/** A file as it is now; `null` when it is missing or no file. */
export async function statLocal(folder: string, path: string): Promise<LocalFile | null> {
  const found = await lstat(join(folder, path)).catch(() => null)
  if (!found?.isFile()) return null
  return { sizeBytes: found.size, modifiedMs: found.mtimeMs, isExecutable: (found.mode & EXECUTABLE) !== 0 }
}

/** The content of a file; `null` when it is missing or no file. */
export async function readLocal(folder: string, path: string): Promise<Buffer | null> {
  try {
    return (await lstat(join(folder, path))).isFile() ? await readFile(join(folder, path)) : null
  } catch {
    return null
  }
}

/**
 * Writes a file below the folder, whole or not at all. What another side named must not lead out of it: `false`, and nothing written, when
 * it would, by its name or by a link.
 */
export async function writeLocal(
  folder: string,
  path: string,
  file: { readonly bytes: Uint8Array; readonly isExecutable: boolean },
): Promise<boolean> {
  if (!(await isInside(folder, path))) return false
  const target = join(folder, path)
  await mkdir(dirname(target), { recursive: true })
  if (!(await isInside(folder, path))) return false
  // Made anew under a name nobody can know: what is there may be a link that leads out of the folder.
  const unfinished = `${target}.${randomBytes(6).toString('hex')}.hermes-sync`
  const before = await lstat(target).catch(() => null)
  try {
    await writeFile(unfinished, file.bytes, { flag: 'wx', mode: before ? 0o600 : file.isExecutable ? 0o755 : 0o644 })
    // Who could not read it before cannot now.
    if (before) await chmod(unfinished, modeAfter(before.mode, file.isExecutable))
    await rename(unfinished, target)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  return true
}

function modeAfter(before: number, isExecutable: boolean): number {
  const bits = before & 0o666
  return isExecutable ? bits | ((bits & 0o444) >> 2) : bits
}

/** Removes a file below the folder; `false` when its name or a link leads out of it. */
export async function removeLocal(folder: string, path: string): Promise<boolean> {
  if (!(await isInside(folder, path))) return false
  await rm(join(folder, path), { force: true })
  return true
}

async function isInside(folder: string, path: string): Promise<boolean> {
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..')) return false
  const root = await realpath(folder)
  for (let at = dirname(join(root, path)); at !== root; at = dirname(at)) {
    if (!at.startsWith(root + sep)) return false
    const found = await lstat(at).catch(() => null)
    if (found && !found.isDirectory()) return false
  }
  const target = await lstat(join(root, path)).catch(() => null)
  return target === null || target.isFile()
}
