// Archives of tar packed by gzip: the interchange formats of POSIX.1-2024 (ustar, and the `path` of pax), and long names as GNU tar writes them.
// What may hide something is refused: links, devices, two files of one name, sizes that are not true.
import { gunzipSync } from 'node:zlib'
import type { PackedFile } from './read-zip.js'

const BLOCK = 512
/** For the heads of files, which are no part of what they hold. */
const HEADS_BYTES = 1_048_576

/**
 * The files of such an archive; folders are left out. `maxFiles` and `maxBytes` bound what it holds, unpacked.
 * @throws Error, one line: what is no whole archive, or holds more
 */
export function readTar(
  archive: Uint8Array,
  { maxFiles, maxBytes }: { readonly maxFiles: number; readonly maxBytes: number },
): readonly PackedFile[] {
  const bytes = unpacked(archive, maxBytes)
  const files = new Map<string, Uint8Array>()
  let longName: string | null = null
  let left = maxBytes
  for (let at = 0; ; ) {
    const { kind, name, content, next } = entryAt(bytes, at)
    at = next
    if (kind === END) return [...files].map(([path, content]) => ({ path, bytes: content }))
    if (kind === 'x') longName = paxPath(content) ?? longName
    else if (kind === 'L') longName = textOf(content)
    if (kind === 'x' || kind === 'L' || kind === 'g') continue
    const path = (longName ?? name).replace(/^(?:\.\/)+/, '')
    longName = null
    if (kind === '5') continue
    if (kind !== '0') throw new Error(`a file of it is ${kind === '1' || kind === '2' ? 'a link' : 'no plain file'}`)
    if (files.has(path)) throw new Error('two files of it have one name')
    if (files.size === maxFiles) throw new Error(`it has more than ${maxFiles} files`)
    left -= content.length
    if (left < 0) throw tooMuch(maxBytes)
    files.set(path, content)
  }
}

const END = 'end'

interface Entry {
  /** As the format has it: `0` for a file, `5` for a folder. */
  readonly kind: string
  readonly name: string
  readonly content: Buffer
  readonly next: number
}

function entryAt(bytes: Buffer, at: number): Entry {
  const head = bytes.subarray(at, at + BLOCK)
  if (head.length < BLOCK) throw half()
  const start = at + BLOCK
  if (head.every((byte) => byte === 0)) return { kind: END, name: '', content: head, next: start }
  // The sum is over the head with spaces in its own place.
  const sum = head.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0)
  const size = numberAt(head, 124, 12)
  if (numberAt(head, 148, 8) !== sum || start + size > bytes.length) throw half()
  const isPosix = head.toString('latin1', 257, 263) === 'ustar\0'
  const prefix = isPosix ? textOf(head.subarray(345, 500)) : ''
  const own = textOf(head.subarray(0, 100))
  return {
    kind: head[156] === 0 ? '0' : String.fromCharCode(head[156]!),
    name: prefix === '' ? own : `${prefix}/${own}`,
    content: bytes.subarray(start, start + size),
    next: start + Math.ceil(size / BLOCK) * BLOCK,
  }
}

function numberAt(head: Buffer, at: number, length: number): number {
  const digits = textOf(head.subarray(at, at + length)).trim()
  if (!/^[0-7]{1,11}$/.test(digits)) throw half()
  return Number.parseInt(digits, 8)
}

/** What a record of pax says the file is called: `LENGTH path=NAME`, a line each. */
function paxPath(content: Buffer): string | null {
  for (let at = 0; at < content.length; ) {
    const length = Number(/^\d{1,7}(?= )/.exec(content.toString('latin1', at, at + 8))?.[0] ?? 0)
    if (length === 0 || at + length > content.length) throw half()
    const record = content.toString('utf8', at, at + length - 1)
    const path = /^\d+ path=([^\n]*)$/.exec(record)?.[1]
    if (path !== undefined) return path
    at += length
  }
  return null
}

const textOf = (bytes: Buffer) => bytes.toString('utf8').replace(/\0[\s\S]*$/, '')

function unpacked(archive: Uint8Array, maxBytes: number): Buffer {
  try {
    return gunzipSync(archive, { maxOutputLength: maxBytes + HEADS_BYTES })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooMuch(maxBytes) : half()
  }
}

const tooMuch = (maxBytes: number) => new Error(`it has more than ${maxBytes / 1024} KB`)
const half = () => new Error('it is no whole archive of tar')
