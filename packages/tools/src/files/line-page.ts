import { HermesError } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { type Sniffed, sniff } from './binary-kind.js'

/** Some lines of a file. */
export interface LinePage {
  readonly lines: readonly string[]
  /** Lines seen; the file's count when `complete`. */
  readonly totalLines: number
  /** False when counting stopped behind the page because the file is very large. */
  readonly complete: boolean
  readonly clampedLines: number
}

const CHUNK_BYTES = 1024 * 1024
/** Behind the page, this much is scanned for the sake of the line count. */
const COUNT_BYTES = 64 * CHUNK_BYTES

/** What to read with {@link readLinePage}. */
export interface LinePageRequest {
  readonly path: string
  /** As the file system says; 0 also for files whose size is not known. */
  readonly sizeBytes: number
  /** First line, from 1. */
  readonly offset: number
  readonly limit: number
  /** Characters kept of a line. */
  readonly maxLineLength: number
  readonly signal: AbortSignal
}

/** Reads lines in chunks of bounded size. Resolves with the kind for a binary file, `null` when there is no such file. */
export async function readLinePage(
  environment: Environment,
  request: LinePageRequest,
): Promise<LinePage | Extract<Sniffed, { type: 'binary' }> | null> {
  let bytes = await environment.read(request.path, { offset: 0, length: CHUNK_BYTES })
  if (!bytes) return null
  const sniffed = sniff(bytes)
  if (sniffed.type === 'binary') return sniffed
  const decoder = new TextDecoder(sniffed.encoding, { ignoreBOM: true })
  const collector = new LineCollector(request)
  let position = bytes.length
  let scannedBehind = 0
  bytes = bytes.subarray(sniffed.bomBytes)
  while (bytes.length > 0) {
    request.signal.throwIfAborted()
    collector.push(decoder.decode(bytes, { stream: true }))
    if (collector.isPageFull) scannedBehind += bytes.length
    if (scannedBehind > COUNT_BYTES) return collector.page(false)
    if (position < CHUNK_BYTES && position >= request.sizeBytes) break
    const next = await environment.read(request.path, { offset: position, length: CHUNK_BYTES })
    if (!next)
      throw new HermesError(`${request.path} disappeared while it was read.`, { code: 'tool.file_disappeared' })
    position += next.length
    bytes = next
  }
  collector.push(decoder.decode())
  collector.end()
  return collector.page(true)
}

/** The same page of a text that is already there. */
export function textPage(text: string, request: LinePageRequest): LinePage {
  const collector = new LineCollector(request)
  collector.push(text)
  collector.end()
  return collector.page(true)
}

class LineCollector {
  readonly #request: LinePageRequest
  readonly #lines: string[] = []
  #line = ''
  #lineLength = 0
  #number = 1
  #clamped = 0

  constructor(request: LinePageRequest) {
    this.#request = request
  }

  get isPageFull(): boolean {
    return this.#number >= this.#request.offset + this.#request.limit
  }

  push(text: string): void {
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      this.#append(text, start, end)
      this.#endLine()
      start = end + 1
    }
    this.#append(text, start, text.length)
  }

  /** A last line without line end counts. */
  end(): void {
    if (this.#lineLength > 0) this.#endLine()
  }

  page(complete: boolean): LinePage {
    return { lines: this.#lines, totalLines: this.#number - 1, complete, clampedLines: this.#clamped }
  }

  #append(text: string, start: number, end: number): void {
    this.#lineLength += end - start
    if (this.#number < this.#request.offset || this.isPageFull) return
    const room = this.#request.maxLineLength + 1 - this.#line.length
    if (room > 0) this.#line += text.slice(start, Math.min(end, start + room))
  }

  #endLine(): void {
    if (this.#number >= this.#request.offset && !this.isPageFull) this.#lines.push(this.#finished())
    this.#number++
    this.#line = ''
    this.#lineLength = 0
  }

  #finished(): string {
    const { maxLineLength } = this.#request
    if (this.#lineLength <= maxLineLength + 1 && this.#line.endsWith('\r')) return this.#line.slice(0, -1)
    if (this.#lineLength <= maxLineLength) return this.#line
    this.#clamped++
    const left = this.#lineLength - maxLineLength
    return `${this.#line.slice(0, maxLineLength).toWellFormed()} [… ${left} more characters]`
  }
}
