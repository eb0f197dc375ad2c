import { closeSync, constants, fstatSync, open as openFile, read as readFile } from 'node:fs'
import { fileError, notAFile, systemCode } from '../file-error.js'
import { requirePath } from './pinned-folder.js'

const CHUNK_BYTES = 1_048_576
/** For files that do not tell their size. */
const BLIND_CHUNK_BYTES = 65_536
// A pipe is opened without waiting for its other end, a terminal without becoming this program's own.
const { O_RDONLY, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants

/** Bytes of a regular file from `offset`, at most `length`; `null` when nothing is there. Works for `/proc` files of size 0. */
export async function readBytes(
  path: string,
  {
    offset = 0,
    into,
    length = into?.length ?? Number.POSITIVE_INFINITY,
    noLinks = false,
  }: {
    readonly offset?: number
    readonly length?: number
    readonly into?: Uint8Array
    readonly noLinks?: boolean
  } = {},
): Promise<Uint8Array | null> {
  try {
    const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    try {
      // What was just opened is asked and closed without a trip through the thread pool: that costs more than all three.
      if (noLinks) requirePath(file, path)
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
