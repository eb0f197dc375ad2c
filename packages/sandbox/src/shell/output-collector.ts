import { closeSync, openSync, writeSync } from 'node:fs'

const HEAD_SHARE = 0.4

/** Where the whole output goes once it is longer than what is kept. */
interface OverflowFile {
  readonly path: string
  readonly maxBytes: number
}

/** Keeps the head and the tail of a stream in memory, and all of it in a file once it is longer than `maxBytes`. */
export class OutputCollector {
  readonly #headBytes: number
  readonly #tailBytes: number
  readonly #overflow: OverflowFile
  readonly #head: Buffer[] = []
  #headSize = 0
  #tail: Buffer[] = []
  #tailSize = 0
  #total = 0
  #file: number | null = null
  #fileBytes = 0
  #filePath: string | null = null

  constructor(maxBytes: number, overflow: OverflowFile) {
    this.#headBytes = Math.floor(maxBytes * HEAD_SHARE)
    this.#tailBytes = Math.max(1, maxBytes - this.#headBytes)
    this.#overflow = overflow
  }

  get totalBytes(): number {
    return this.#total
  }

  /** Where the whole text is; `null` while nothing was cut, or when the file could not be made. */
  get filePath(): string | null {
    return this.#filePath
  }

  /** How much of it is in the file. */
  get savedBytes(): number {
    return Math.min(this.#fileBytes, this.#overflow.maxBytes)
  }

  push(chunk: Buffer): void {
    const wasWhole = this.#total <= this.#headBytes + this.#tailBytes
    this.#total += chunk.length
    if (wasWhole && this.#total > this.#headBytes + this.#tailBytes) this.#startFile()
    this.#save(chunk)
    const room = this.#headBytes - this.#headSize
    if (room > 0) {
      this.#head.push(chunk.subarray(0, room))
      this.#headSize += Math.min(room, chunk.length)
    }
    if (chunk.length > room) this.#pushTail(chunk.subarray(Math.max(room, 0)))
  }

  /** The text so far: whole, or head and tail around a line that says how much is missing. */
  text(): string {
    const head = Buffer.concat(this.#head)
    const tail = Buffer.concat(this.#tail)
    if (this.#total <= this.#headBytes + this.#tailBytes) return decode(Buffer.concat([head, tail]))
    const keptHead = withoutCutEnd(head)
    const keptTail = withoutCutStart(tail.subarray(Math.max(0, tail.length - this.#tailBytes)))
    const missing = this.#total - keptHead.length - keptTail.length
    return `${decode(keptHead)}\n[… ${missing.toLocaleString('en-US')} bytes left out …]\n${decode(keptTail)}`
  }

  /** Closes the file. The collector takes nothing afterwards. */
  end(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  #pushTail(chunk: Buffer): void {
    this.#tail.push(chunk)
    this.#tailSize += chunk.length
    while (this.#tailSize - this.#tail[0]!.length >= this.#tailBytes) this.#tailSize -= this.#tail.shift()!.length
    // Many tiny chunks cost more than their bytes, and shifting a long list is slow.
    if (this.#tail.length > 256) this.#tail = [Buffer.concat(this.#tail).subarray(-this.#tailBytes)]
    if (this.#tail.length === 1) this.#tailSize = this.#tail[0]!.length
  }

  #startFile(): void {
    try {
      this.#file = openSync(this.#overflow.path, 'wx', 0o600)
      this.#filePath = this.#overflow.path
      for (const earlier of [...this.#head, ...this.#tail]) this.#save(earlier)
    } catch {
      // The command's output matters more than its copy: without a file the cut text is all there is.
      this.#file = null
    }
  }

  #save(chunk: Buffer): void {
    if (this.#file === null) return
    const room = this.#overflow.maxBytes - this.#fileBytes
    this.#fileBytes += chunk.length
    try {
      writeSync(this.#file, chunk.subarray(0, room))
      if (chunk.length <= room) return
      writeSync(this.#file, `\n[The rest was not saved: the limit is ${this.#overflow.maxBytes} bytes.]\n`)
    } catch {
      // A full disk ends the copy, not the command.
    }
    this.end()
  }
}

function decode(bytes: Buffer): string {
  return bytes.toString('utf8')
}

/** Drops the first bytes of a character whose last ones are missing. */
function withoutCutEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if ((byte & 0xc0) === 0x80) continue
    const width = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return width > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** Drops the last bytes of a character whose first ones are missing. */
export function withoutCutStart(bytes: Buffer): Buffer {
  let start = 0
  while (start < Math.min(3, bytes.length) && (bytes[start]! & 0xc0) === 0x80) start++
  return bytes.subarray(start)
}
