import { closeSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import { HermesError } from '@hermes/contracts'
import { encodeIndex, type Place } from './pack-file.js'
import type { Slices } from './slices.js'

const FRAME_BYTES = 1 << 20
const MAX_OPEN_FRAMES = 4
const compress = promisify(zstdCompress)
const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

interface Pending {
  readonly hash: string
  readonly offset: number
  readonly bytes: number
}

/** Writes one pack. Nothing is visible before {@link PackWriter.finish}. */
export class PackWriter {
  readonly #path: string
  readonly #maxBytes: number
  readonly #places = new Map<string, Place>()
  readonly #known = new Set<string>()
  #file: number | null = null
  #chunks: Uint8Array[] = []
  #pending: Pending[] = []
  #chunkBytes = 0
  #writtenBytes = 0
  /** Frames are packed side by side and written in their order. */
  #writes: Promise<void> = Promise.resolve()
  #openFrames = 0
  #failure: unknown = null

  /** `path` is that of the pack without its ending; `maxBytes` is how large it may grow. */
  constructor(path: string, maxBytes: number) {
    this.#path = path
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#writtenBytes
  }

  has(hash: string): boolean {
    return this.#known.has(hash)
  }

  /** Takes an object; `bytes` must not change afterwards. */
  add(hash: string, bytes: Uint8Array): void {
    this.#known.add(hash)
    this.#pending.push({ hash, offset: this.#chunkBytes, bytes: bytes.length })
    this.#chunks.push(bytes)
    this.#chunkBytes += bytes.length
    if (this.#chunkBytes >= FRAME_BYTES) this.#startFrame()
  }

  /** Whether so much waits to be packed that the writer should be waited for. */
  get isFull(): boolean {
    return this.#openFrames >= MAX_OPEN_FRAMES
  }

  /**
   * Waits until everything handed over so far is written.
   * @throws HermesError `checkpoint.too_large`, or what the file system says.
   */
  async drain(): Promise<void> {
    await this.#writes
    if (this.#failure !== null) throw this.#failure
  }

  /** Makes the pack visible; `false` when there was nothing to write. */
  async finish(slices: Slices): Promise<boolean> {
    if (this.#chunks.length > 0) this.#startFrame()
    await this.drain()
    if (this.#file === null) return false
    closeSync(this.#file)
    this.#file = null
    writeFileSync(`${this.#path}.idx.new`, await encodeIndex(this.#places, slices), { mode: 0o600 })
    renameSync(`${this.#path}.pack.new`, `${this.#path}.pack`)
    // The index comes last: a pack counts from then on.
    renameSync(`${this.#path}.idx.new`, `${this.#path}.idx`)
    return true
  }

  /** Leaves nothing behind. */
  async discard(): Promise<void> {
    await this.#writes
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
    rmSync(`${this.#path}.pack.new`, { force: true })
  }

  #startFrame(): void {
    const whole = Buffer.concat(this.#chunks)
    const objects = this.#pending
    this.#chunks = []
    this.#pending = []
    this.#chunkBytes = 0
    this.#openFrames++
    const packed = compress(whole, FASTEST)
    // Its failure is met in the chain below; until then it must not count as unobserved.
    packed.catch(() => undefined)
    this.#writes = this.#writes
      .then(async () => this.#write(await packed, objects))
      .catch((error: unknown) => {
        this.#failure ??= error
      })
      .finally(() => {
        this.#openFrames--
      })
  }

  #write(frame: Uint8Array, objects: readonly Pending[]): void {
    if (this.#failure !== null) return
    if (this.#writtenBytes + frame.length > this.#maxBytes) {
      throw new HermesError(
        'The files here do not fit into the space for checkpoints; raise checkpoints.max_total_size_mb.',
        { code: 'checkpoint.too_large', details: { maxBytes: this.#maxBytes } },
      )
    }
    this.#file ??= openSync(`${this.#path}.pack.new`, 'wx', 0o600)
    for (let written = 0; written < frame.length; ) written += writeSync(this.#file, frame, written)
    for (const { hash, offset, bytes } of objects) {
      this.#places.set(hash, { frameStart: this.#writtenBytes, frameBytes: frame.length, offset, bytes })
    }
    this.#writtenBytes += frame.length
  }
}
