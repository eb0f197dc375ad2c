import { randomBytes } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import * as fs from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { DirectoryEntry, FileStat } from '@hermes/contracts/environment'
import { fileError, notAFile, systemCode } from '../file-error.js'
import { refuseForeignLinks } from './foreign-link.js'
import { namedFolder, type PinnedFolder, pinFolder } from './pinned-folder.js'

const MAX_LINKS = 40

/** What is at `path`, links followed; `null` when nothing is. */
export async function statPath(path: string): Promise<FileStat | null> {
  try {
    return toFileStat(await fs.stat(path, { bigint: true }))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw fileError(error, 'look at', path)
  }
}

function toFileStat(stat: BigIntStats): FileStat {
  return {
    type: stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : 'other',
    sizeBytes: Number(stat.size),
    modifiedMs: Number(stat.mtimeMs),
    mode: Number(stat.mode & 0o7777n),
    // The change time tells edits whose author set the modification time back.
    version: `${stat.mtimeNs}-${stat.ctimeNs}-${stat.size}-${stat.ino}`,
  }
}

/** Entries of a directory sorted by name; `null` when nothing is there. */
export async function listDirectory(path: string): Promise<readonly DirectoryEntry[] | null> {
  try {
    const entries = await fs.readdir(path, { withFileTypes: true })
    return entries
      .map((entry) => ({ name: entry.name, type: entryType(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw fileError(error, 'list', path)
  }
}

function entryType(entry: {
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}): DirectoryEntry['type'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

/**
 * `path` with links followed as far as it exists, the rest appended. A link whose target is missing is followed too: a write through
 * it would make that target.
 */
export async function realPath(path: string): Promise<string> {
  try {
    const real = await followLinks(path, 0)
    if (real !== path) refuseForeignLinks(path)
    return real
  } catch (error) {
    throw fileError(error, 'follow the links of', path)
  }
}

async function followLinks(path: string, depth: number): Promise<string> {
  if (depth > MAX_LINKS) throw Object.assign(new Error('too many links'), { code: 'ELOOP' })
  try {
    return await fs.realpath(path)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
  const parent = dirname(path)
  if (parent === path) return path
  const real = join(await followLinks(parent, depth), basename(path))
  const target = await fs.readlink(real).catch(() => null)
  return target === null ? real : followLinks(resolve(dirname(real), target), depth + 1)
}

/**
 * Replaces the file at `path`, whose links are followed already, by renaming a finished temporary file over it: readers see the old
 * or the new content, and a crash of this process leaves the old one. Nothing is synced to disk, so a power cut may lose the write.
 * @throws HermesError `environment.changed` when the file is not `ifVersion` any more; nothing is written then.
 */
export async function writeAtomically(
  path: string,
  bytes: Uint8Array,
  options: { readonly mode?: number; readonly ifVersion?: string; readonly noLinks?: boolean },
): Promise<FileStat> {
  const name = basename(path)
  try {
    // What cannot be written is told before a folder is made for it.
    await existing(path)
    await fs.mkdir(dirname(path), { recursive: true })
    await using folder = await folderOf(path, options)
    const target = folder.at(name)
    const temporary = folder.at(`.hermes-${randomBytes(6).toString('hex')}.tmp`)
    try {
      await writeTemporary(temporary, bytes, await existing(target), options.mode)
      if (options.ifVersion !== undefined) await requireVersion(path, target, options.ifVersion)
      await fs.rename(temporary, target)
      return toFileStat(await fs.stat(target, { bigint: true }))
    } catch (error) {
      await fs.rm(temporary, { force: true }).catch(() => undefined)
      throw error
    }
  } catch (error) {
    throw fileError(error, 'write', path)
  }
}

const folderOf = async (path: string, { noLinks = false }: { readonly noLinks?: boolean }): Promise<PinnedFolder> =>
  noLinks ? pinFolder(dirname(path)) : namedFolder(dirname(path))

async function existing(path: string): Promise<BigIntStats | null> {
  const stat = await fs.stat(path, { bigint: true }).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  })
  if (stat && !stat.isFile()) throw notAFile('write', path, stat.isDirectory())
  return stat
}

async function writeTemporary(
  path: string,
  bytes: Uint8Array,
  before: BigIntStats | null,
  mode: number | undefined,
): Promise<void> {
  await using file = await fs.open(path, 'wx', before ? 0o600 : (mode ?? 0o666))
  await file.writeFile(bytes)
  if (before) {
    const now = await file.stat({ bigint: true })
    if (now.uid !== before.uid || now.gid !== before.gid) {
      // Only a privileged user may give files away; for others the file becomes theirs.
      await file.chown(Number(before.uid), Number(before.gid)).catch(() => undefined)
    }
    await file.chmod(Number(before.mode & 0o7777n))
  } else if (mode !== undefined) {
    await file.chmod(mode)
  }
}

async function requireVersion(path: string, target: string, version: string): Promise<void> {
  const now = await statPath(target)
  if (now?.version === version) return
  const what = now ? 'changed' : 'was removed'
  throw new HermesError(`${path} ${what} since it was read; read it again before writing.`, {
    code: 'environment.changed',
    details: { path },
  })
}

/** Makes a directory with its parents; one that exists is fine. */
export async function makeDirectory(path: string): Promise<void> {
  await fs.mkdir(path, { recursive: true }).catch((error: unknown) => {
    throw fileError(error, 'make the directory', path)
  })
}

/** Renames within one file system; a file at `to` is replaced, parents of `to` are made. */
export async function renamePath(
  from: string,
  to: string,
  options: { readonly noLinks?: boolean } = {},
): Promise<void> {
  try {
    await fs.lstat(from)
    await fs.mkdir(dirname(to), { recursive: true })
    await using source = await folderOf(from, options)
    await using target = await folderOf(to, options)
    await fs.rename(source.at(basename(from)), target.at(basename(to)))
  } catch (error) {
    throw fileError(error, 'rename', `${from} to ${to}`)
  }
}

/** Removes a file, a link (not its target) or an empty directory. */
export async function removePath(path: string, options: { readonly noLinks?: boolean } = {}): Promise<void> {
  try {
    await using folder = await folderOf(path, options)
    const target = folder.at(basename(path))
    const stat = await fs.lstat(target)
    await (stat.isDirectory() ? fs.rmdir(target) : fs.unlink(target))
  } catch (error) {
    throw fileError(error, 'remove', path)
  }
}
