import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const CHUNK_BYTES = 64 * 1024
/** What is more than this behind is passed over: the log itself still has it. */
const MAX_BEHIND_BYTES = 4 * 1024 * 1024

/** Reads what is added to a log. */
export class LogFollower {
  readonly #path: string
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #position: number

  /** Begins at the end of what is there. */
  constructor(path: string) {
    this.#path = path
    this.#position = this.#open((_, size) => size) ?? 0
  }

  /** Gives what was added since the last time, in pieces. */
  read(listener: (text: string) => void): void {
    this.#open((descriptor, size) => {
      // The log was cut to its end, which was read already.
      if (size < this.#position) this.#position = size
      this.#position = Math.max(this.#position, size - MAX_BEHIND_BYTES)
      const buffer = Buffer.alloc(CHUNK_BYTES)
      while (this.#position < size) {
        const read = readSync(descriptor, buffer, 0, Math.min(buffer.length, size - this.#position), this.#position)
        if (read === 0) return
        this.#position += read
        const text = this.#decoder.decode(buffer.subarray(0, read), { stream: true })
        if (text !== '') listener(text)
      }
    })
  }

  #open<T>(use: (descriptor: number, size: number) => T): T | null {
    let descriptor: number
    try {
      descriptor = openSync(this.#path, 'r')
    } catch {
      return null
    }
    try {
      return use(descriptor, fstatSync(descriptor).size)
    } finally {
      closeSync(descriptor)
    }
  }
}
