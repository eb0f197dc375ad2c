// A pack is two files. NAME.pack: zstd frames one after the other, each holding whole objects, about a mebibyte of them.
// NAME.idx: a record of 38 bytes for each object, sorted by hash: hash (20), frame start (6), frame length (4), start of the object
// in the frame once it is unpacked (4), length of the object (4).
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { zstdDecompressSync } from 'node:zlib'
import type { Slices } from './slices.js'

const HASH_BYTES = 20
const RECORD_BYTES = 38

/** Where an object is in a pack. All in bytes. */
export interface Place {
  readonly frameStart: number
  readonly frameBytes: number
  readonly offset: number
  readonly bytes: number
}

/** The content of an index file. */
export async function encodeIndex(places: ReadonlyMap<string, Place>, slices: Slices): Promise<Buffer> {
  const index = Buffer.alloc(places.size * RECORD_BYTES)
  let at = 0
  for (const hash of await sorted(places.keys(), slices)) {
    const { frameStart, frameBytes, offset, bytes } = places.get(hash)!
    index.write(hash, at, 'hex')
    index.writeUIntBE(frameStart, at + 20, 6)
    index.writeUInt32BE(frameBytes, at + 26)
    index.writeUInt32BE(offset, at + 30)
    index.writeUInt32BE(bytes, at + 34)
    at += RECORD_BYTES
    if (slices.isOver()) await slices.pause()
  }
  return index
}

/** In many small sorts instead of a long one. */
async function sorted(hashes: Iterable<string>, slices: Slices): Promise<readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const hash of hashes) {
    const prefix = hash.slice(0, 2)
    const group = groups.get(prefix)
    if (group) group.push(hash)
    else groups.set(prefix, [hash])
    if (slices.isOver()) await slices.pause()
  }
  const all: string[] = []
  for (const prefix of [...groups.keys()].sort()) {
    for (const hash of groups.get(prefix)!.sort()) all.push(hash)
    if (slices.isOver()) await slices.pause()
  }
  return all
}

/** One finished pack, read on demand. */
export class PackFile {
  readonly name: string
  readonly #path: string
  #index: Buffer | null = null
  #file: number | null = null
  #frame: { readonly start: number; readonly bytes: Buffer } | null = null

  /** `path` is that of the pack without its ending. */
  constructor(path: string, name: string) {
    this.#path = path
    this.name = name
  }

  find(hash: string): Place | null {
    const index = (this.#index ??= readFileSync(`${this.#path}.idx`))
    const wanted = Buffer.from(hash, 'hex')
    let [low, high] = [0, index.length / RECORD_BYTES - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const at = middle * RECORD_BYTES
      const order = index.compare(wanted, 0, HASH_BYTES, at, at + HASH_BYTES)
      if (order === 0) return readPlace(index, at)
      if (order < 0) low = middle + 1
      else high = middle - 1
    }
    return null
  }

  read({ frameStart, frameBytes, offset, bytes }: Place): Buffer {
    if (this.#frame?.start !== frameStart) {
      this.#file ??= openSync(`${this.#path}.pack`, 'r')
      const packed = Buffer.alloc(frameBytes)
      readSync(this.#file, packed, 0, frameBytes, frameStart)
      this.#frame = { start: frameStart, bytes: zstdDecompressSync(packed) }
    }
    return this.#frame.bytes.subarray(offset, offset + bytes)
  }

  /** Every object, those of one frame together. */
  *places(): Generator<readonly [hash: string, place: Place]> {
    const index = (this.#index ??= readFileSync(`${this.#path}.idx`))
    const rows = Array.from({ length: index.length / RECORD_BYTES }, (_, row) => row * RECORD_BYTES)
    const placed = rows.map((at) => [index.toString('hex', at, at + HASH_BYTES), readPlace(index, at)] as const)
    yield* placed.sort(([, left], [, right]) => left.frameStart - right.frameStart)
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
    this.#frame = null
  }
}

function readPlace(index: Buffer, at: number): Place {
  return {
    frameStart: index.readUIntBE(at + 20, 6),
    frameBytes: index.readUInt32BE(at + 26),
    offset: index.readUInt32BE(at + 30),
    bytes: index.readUInt32BE(at + 34),
  }
}
