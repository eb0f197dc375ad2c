import { randomBytes } from 'node:crypto'
import { type BigIntStats, closeSync, constants, fstatSync, open as openFile, read as readFile } from 'node:fs'
import * as fs from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { DirectoryEntry, FileStat } from '@hermes/contracts/environment'
import { fileError, systemCode } from './file-error.js'

const CHUNK_BYTES = 1_048_576
/** For files that do not tell their size. */
const BLIND_CHUNK_BYTES = 65_536
const MAX_LINKS = 40

// A pipe is opened without waiting for its other end, a terminal without becoming this program's own.
const { O_RDONLY, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants

/** Bytes of a regular file from `offset`, at most `length`; `null` when nothing is there. Works for `/proc` files of size 0. */
export async function readBytes(
  path: string,
  {
    offset = 0,
    into,
    length = into?.length ?? Number.POSITIVE_INFINITY,
  }: { readonly offset?: number; readonly length?: number; readonly into?: Uint8Array } = {},
): Promise<Uint8Array | null> {
  try {
    const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    try {
      // What was just opened is asked and closed without a trip through the thread pool: that costs more than all three.
      const stat = fstatSync(file)
      if (!stat.isFile()) throw notAFile('read', path, stat.isDirectory())
      // A size of 0 tells nothing: files of /proc have it.
      const end = stat.size === 0 ? Number.POSITIVE_INFINITY : stat.size
      const wanted = Math.min(length, Math.max(0, end - offset))
      return into ? await fill(file, into.subarray(0, wanted), offset) : await readPart(file, offset, wanted)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    // So a socket answers.
    if (systemCode(error) === 'ENXIO') throw notAFile('read', path, false)
    throw fileError(error, 'read', path)
  }
}

async function readPart(file: number, offset: number, length: number): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  const chunkBytes = Number.isFinite(length) ? CHUNK_BYTES : BLIND_CHUNK_BYTES
  let total = 0
  while (total < length) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, length - total))
    const bytesRead = await read(file, chunk, offset + total)
    if (bytesRead === 0) break
    chunks.push(chunk.subarray(0, bytesRead))
    total += bytesRead
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, total)
}

async function fill(file: number, into: Uint8Array, offset: number): Promise<Uint8Array> {
  let total = 0
  while (total < into.length) {
    const bytesRead = await read(file, into.subarray(total), offset + total)
    if (bytesRead === 0) break
    total += bytesRead
  }
  return into.subarray(0, total)
}

function open(path: string, flags: number): Promise<number> {
  return new Promise((resolve, reject) => {
    openFile(path, flags, (error, file) => (error ? reject(error) : resolve(file)))
  })
}

function read(file: number, into: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    readFile(file, into, 0, into.length, position, (error, bytesRead) => (error ? reject(error) : resolve(bytesRead)))
  })
}

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
    return await followLinks(path, 0)
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
  options: { readonly mode?: number; readonly ifVersion?: string },
): Promise<FileStat> {
  const temporary = join(dirname(path), `.hermes-${randomBytes(6).toString('hex')}.tmp`)
  try {
    const before = await existing(path)
    await fs.mkdir(dirname(path), { recursive: true })
    await writeTemporary(temporary, bytes, before, options.mode)
    if (options.ifVersion !== undefined) await requireVersion(path, options.ifVersion)
    await fs.rename(temporary, path)
    return toFileStat(await fs.stat(path, { bigint: true }))
  } catch (error) {
    await fs.rm(temporary, { force: true }).catch(() => undefined)
    throw fileError(error, 'write', path)
  }
}

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

async function requireVersion(path: string, version: string): Promise<void> {
  const now = await statPath(path)
  if (now?.version === version) return
  const what = now ? 'changed' : 'was removed'
  throw new HermesError(`${path} ${what} since it was read; read it again before writing.`, {
    code: 'environment.changed',
    details: { path },
  })
}

function notAFile(doing: string, path: string, directory: boolean): HermesError {
  const what = directory ? 'a directory' : 'a device, pipe or socket'
  return new HermesError(`Cannot ${doing} ${path}: it is ${what}, not a file.`, {
    code: directory ? 'environment.is_directory' : 'environment.not_a_file',
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
export async function renamePath(from: string, to: string): Promise<void> {
  try {
    await fs.lstat(from)
    await fs.mkdir(dirname(to), { recursive: true })
    await fs.rename(from, to)
  } catch (error) {
    throw fileError(error, 'rename', `${from} to ${to}`)
  }
}

/** Removes a file, a link (not its target) or an empty directory. */
export async function removePath(path: string): Promise<void> {
  try {
    const stat = await fs.lstat(path)
    await (stat.isDirectory() ? fs.rmdir(path) : fs.unlink(path))
  } catch (error) {
    throw fileError(error, 'remove', path)
  }
}
