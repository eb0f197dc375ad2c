// Archives of the kind that hubs hand out: stored or deflated files, by the list at the end (APPNOTE 6.3.10, sections 4.3 and 4.4). What people use
// to hide things in archives is refused: encryption, links, parts on other disks, sizes and names that are not true, two files of one name.
import { crc32, inflateRawSync } from 'node:zlib'

const END = 0x06054b50
const LISTED = 0x02014b50
const LOCAL = 0x04034b50
/** Of the last record, with the longest comment. */
const MAX_END_BYTES = 65_557
const IS_ENCRYPTED = 1
const LINK_MODE = 0o120000

/** A file of an archive. */
export interface PackedFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/**
 * The files of a ZIP archive; folders are left out. `maxFiles` and `maxBytes` bound what it holds, unpacked.
 * @throws Error, one line: what is no whole archive, or holds more
 */
export function readZip(
  archive: Uint8Array,
  { maxFiles, maxBytes }: { readonly maxFiles: number; readonly maxBytes: number },
): readonly PackedFile[] {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength)
  const { count, at: first } = endOf(bytes)
  const files: PackedFile[] = []
  const paths = new Set<string>()
  let left = maxBytes
  for (let at = first, n = 0; n < count; n++) {
    const { entry, next } = listedAt(bytes, at)
    at = next
    if (paths.has(entry.path)) throw new Error('two files of it have one name')
    paths.add(entry.path)
    if (entry.path.endsWith('/')) continue
    if (files.length === maxFiles) throw new Error(`it has more than ${maxFiles} files`)
    if (entry.size > left) throw new Error(`it has more than ${maxBytes / 1024} KB`)
    left -= entry.size
    files.push({ path: entry.path, bytes: contentOf(bytes, entry) })
  }
  return files
}

interface Entry {
  readonly path: string
  readonly method: number
  readonly crc: number
  /** In the archive. */
  readonly packed: number
  readonly size: number
  readonly at: number
}

function endOf(bytes: Buffer): { readonly count: number; readonly at: number } {
  for (let at = bytes.length - 22; at >= Math.max(0, bytes.length - MAX_END_BYTES); at--)
    if (bytes.readUInt32LE(at) === END) {
      const [disk, listDisk, countHere, count] = [4, 6, 8, 10].map((part) => bytes.readUInt16LE(at + part))
      if (disk !== 0 || listDisk !== 0 || countHere !== count) throw otherDisk()
      return { count: count!, at: bytes.readUInt32LE(at + 16) }
    }
  throw half()
}

function listedAt(bytes: Buffer, at: number): { readonly entry: Entry; readonly next: number } {
  if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== LISTED) throw half()
  const [nameLength, extraLength, commentLength] = [28, 30, 32].map((part) => bytes.readUInt16LE(at + part))
  const path = bytes.toString('utf8', at + 46, at + 46 + nameLength!)
  if ((bytes.readUInt16LE(at + 8) & IS_ENCRYPTED) !== 0) throw new Error('a file of it is encrypted')
  if (bytes.readUInt16LE(at + 34) !== 0) throw otherDisk()
  // The upper half is the mode, where a Unix made it.
  if (((bytes.readUInt32LE(at + 38) >>> 16) & 0o170000) === LINK_MODE) throw new Error('a file of it is a link')
  const entry: Entry = {
    ...{ path, method: bytes.readUInt16LE(at + 10), crc: bytes.readUInt32LE(at + 16) },
    ...{ packed: bytes.readUInt32LE(at + 20), size: bytes.readUInt32LE(at + 24), at: bytes.readUInt32LE(at + 42) },
  }
  return { entry, next: at + 46 + nameLength! + extraLength! + commentLength! }
}

function contentOf(bytes: Buffer, { path, method, crc, packed, size, at }: Entry): Uint8Array {
  if (at + 30 > bytes.length || bytes.readUInt32LE(at) !== LOCAL) throw half()
  const ownName = bytes.toString('utf8', at + 30, at + 30 + bytes.readUInt16LE(at + 26))
  const start = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28)
  if (start + packed > bytes.length) throw half()
  const content = unpacked(bytes.subarray(start, start + packed), method, size)
  if (content === null || content.length !== size || crc32(content) !== crc || ownName !== path)
    throw new Error(`${JSON.stringify(path.slice(0, 100))} in it is not what its list says`)
  return content
}

/** `null` for what is damaged, or is more than its list says. */
function unpacked(content: Buffer, method: number, size: number): Uint8Array | null {
  if (method === 0) return content
  if (method !== 8) throw new Error('it is packed in a way that nobody uses for skills')
  try {
    return inflateRawSync(content, { maxOutputLength: Math.max(1, size) })
  } catch {
    return null
  }
}

const otherDisk = () => new Error('a part of it lies on another disk')
const half = () => new Error('it is no whole ZIP archive')
