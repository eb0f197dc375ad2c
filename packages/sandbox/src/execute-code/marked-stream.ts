import type { Readable } from 'node:stream'

/** One output of a program that stays: what it writes goes to whoever reads, up to a mark. */
export class MarkedStream {
  #buffered: Buffer = Buffer.alloc(0)
  #reader: { readonly mark: Buffer; readonly push: (chunk: Buffer) => void; readonly end: () => void } | null = null

  constructor(stream: Readable) {
    stream.on('data', (chunk: Buffer) => this.#take(chunk))
    stream.on('error', () => undefined)
  }

  /** Gives everything before `mark` to `push`; resolves at the mark. */
  read(mark: string, push: (chunk: Buffer) => void): Promise<void> {
    return new Promise((resolve) => {
      this.#reader = { mark: Buffer.from(mark), push, end: resolve }
      this.#take(Buffer.alloc(0))
    })
  }

  /** Gives what was held back in case it was the start of the mark. */
  flush(): void {
    this.#reader?.push(this.#buffered)
    this.#buffered = Buffer.alloc(0)
    this.#reader = null
  }

  #take(chunk: Buffer): void {
    const reader = this.#reader
    // What comes between two programs is nobody's.
    if (!reader) return
    const bytes = this.#buffered.length === 0 ? chunk : Buffer.concat([this.#buffered, chunk])
    const at = bytes.indexOf(reader.mark)
    if (at !== -1) {
      reader.push(bytes.subarray(0, at))
      this.#buffered = Buffer.alloc(0)
      this.#reader = null
      reader.end()
      return
    }
    const sure = Math.max(0, bytes.length - reader.mark.length + 1)
    if (sure > 0) reader.push(bytes.subarray(0, sure))
    this.#buffered = bytes.subarray(sure)
  }
}
