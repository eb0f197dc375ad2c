import { HermesError } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { type Sniffed, sniff } from './binary-kind.js'
import type { LineIndex } from './line-index.js'

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
/** Lines of larger files are not counted for their own sake, and no page is longer. */
const COUNT_BYTES = 64 * CHUNK_BYTES

type TextKind = Extract<Sniffed, { type: 'text' }>

/** What to read with {@link readLinePage}. */
interface LinePageRequest {
  /** Without links. */
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

/**
 * Reads lines in chunks of bounded size. Resolves with the kind for a binary file, `null` when there is no such file. `indexOf` gives
 * what is known of where the lines of a large file are; it is filled on the way.
 */
export async function readLinePage(
  environment: Environment,
  request: LinePageRequest,
  indexOf: () => LineIndex,
): Promise<LinePage | Extract<Sniffed, { type: 'binary' }> | null> {
  const head = await environment.read(request.path, { offset: 0, length: CHUNK_BYTES, noLinks: true })
  if (!head) return null
  const sniffed = sniff(head)
  if (sniffed.type === 'binary') return sniffed
  const isLarge = head.length === CHUNK_BYTES && request.sizeBytes > CHUNK_BYTES
  if (isLarge && sniffed.encoding === 'utf-8') return largePage(environment, request, { head, sniffed, indexOf })
  const collector = new LineCollector(request)
  const toEnd = request.sizeBytes <= COUNT_BYTES
  return collector.page(
    await collect(environment, request, { collector, sniffed, from: { offset: 0, bytes: head }, toEnd }),
  )
}

interface LargeFile {
  readonly head: Uint8Array
  readonly sniffed: TextKind
  readonly indexOf: () => LineIndex
}

/** The page alone is decoded; what lies before it is looked through once, what lies behind is counted where that is not much. */
async function largePage(
  environment: Environment,
  request: LinePageRequest,
  { head, sniffed, indexOf }: LargeFile,
): Promise<LinePage> {
  const { path, offset, sizeBytes, signal } = request
  const fromHead = new LineCollector(request)
  fromHead.push(new TextDecoder('utf-8', { ignoreBOM: true }).decode(head.subarray(sniffed.bomBytes)))
  const isLong = sizeBytes > COUNT_BYTES
  if (fromHead.isPageFull && isLong) return fromHead.page(false)
  const index = indexOf()
  const everything = { line: Number.POSITIVE_INFINITY, maxBytes: sizeBytes, signal }
  if (!isLong) await index.scan(environment, path, everything)
  if (fromHead.isPageFull) return { ...fromHead.page(true), totalLines: index.lines }
  await index.scan(environment, path, { line: offset - 1, maxBytes: sizeBytes, signal })
  const block = index.blockOf(offset)
  const collector = new LineCollector(request, block.line)
  const from = block.offset === 0 ? { offset: 0, bytes: head } : { offset: block.offset, bytes: null }
  await collect(environment, request, { collector, sniffed, from, toEnd: false })
  if (sizeBytes - index.scannedBytes <= COUNT_BYTES) await index.scan(environment, path, everything)
  const page = collector.page(index.isComplete)
  return { ...page, totalLines: index.isComplete ? index.lines : Math.max(index.lines, page.totalLines) }
}

interface Collecting {
  readonly collector: LineCollector
  readonly sniffed: TextKind
  readonly from: { readonly offset: number; readonly bytes: Uint8Array | null }
  /** Goes on behind the page, for the sake of the line count. */
  readonly toEnd: boolean
}

/** Whether it came to the end of the file: it stops behind the page, or where that gets too long. */
async function collect(
  environment: Environment,
  { path, sizeBytes, signal }: LinePageRequest,
  { collector, sniffed, from, toEnd }: Collecting,
): Promise<boolean> {
  const decoder = new TextDecoder(sniffed.encoding, { ignoreBOM: true })
  let { offset: position, bytes } = from
  const stopAt = position + COUNT_BYTES
  for (;;) {
    bytes ??= await environment.read(path, { offset: position, length: CHUNK_BYTES, noLinks: true })
    if (!bytes) throw new HermesError(`${path} disappeared while it was read.`, { code: 'tool.file_disappeared' })
    if (bytes.length === 0) break
    signal.throwIfAborted()
    collector.push(decoder.decode(position === 0 ? bytes.subarray(sniffed.bomBytes) : bytes, { stream: true }))
    if (!toEnd && collector.isPageFull) return false
    position += bytes.length
    if (position < CHUNK_BYTES && position >= sizeBytes) break
    if (position > stopAt) {
      collector.cutOff()
      return false
    }
    bytes = null
  }
  collector.push(decoder.decode())
  collector.end()
  return true
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
  #number: number
  #clamped = 0
  #isCutOff = false

  /** `number` is that of the line that what comes first belongs to. */
  constructor(request: LinePageRequest, number = 1) {
    this.#request = request
    this.#number = number
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

  /** Nothing more is read of a line whose end did not come. */
  cutOff(): void {
    this.#isCutOff = true
    if (this.#lineLength > this.#request.maxLineLength + 1) this.#endLine()
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
    const more = this.#isCutOff ? `at least ${left}` : left
    return `${this.#line.slice(0, maxLineLength).toWellFormed()} [… ${more} more characters]`
  }
}
