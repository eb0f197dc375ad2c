import { HermesError } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { ToolState } from '@hermes/contracts/tool'

const BLOCK_BYTES = 256 * 1024
const BLOCKS_PER_READ = 16
const NEWLINE = 10
const KEPT = 4

/** Where the lines of one version of a file are, as far as it was looked through: how many line ends come before each block. */
export class LineIndex {
  readonly #before: number[] = [0]
  #scannedBytes = 0
  #endsInNewline = true
  #isComplete = false

  /** Lines so far; the file's count once it is complete. A last line without line end counts. */
  get lines(): number {
    return this.#before.at(-1)! + (this.#isComplete && !this.#endsInNewline ? 1 : 0)
  }

  get isComplete(): boolean {
    return this.#isComplete
  }

  get scannedBytes(): number {
    return this.#scannedBytes
  }

  /** The last block known to begin before the line does, from 1: its offset, and the number of the line that goes on there. */
  blockOf(line: number): { readonly offset: number; readonly line: number } {
    let [low, high] = [0, this.#before.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#before[middle]! < line - 1) low = middle
      else high = middle - 1
    }
    return { offset: low * BLOCK_BYTES, line: this.#before[low]! + 1 }
  }

  /** Looks further until `line` is passed, `maxBytes` were looked at, or the file ends. */
  async scan(environment: Environment, path: string, until: IndexScan): Promise<void> {
    const into = Buffer.allocUnsafeSlow(BLOCK_BYTES * BLOCKS_PER_READ)
    const stopAt = this.#scannedBytes + until.maxBytes
    while (!this.#isComplete && this.#before.at(-1)! < until.line && this.#scannedBytes < stopAt) {
      until.signal.throwIfAborted()
      const part = { offset: this.#scannedBytes, length: into.length, into }
      const bytes = await environment.read(path, { ...part, noLinks: true })
      if (!bytes) throw new HermesError(`${path} disappeared while it was read.`, { code: 'tool.file_disappeared' })
      this.#add(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), bytes.length < into.length)
    }
  }

  #add(bytes: Buffer, isEnd: boolean): void {
    for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
      const block = bytes.subarray(start, start + BLOCK_BYTES)
      let count = this.#before.at(-1)!
      for (let at = block.indexOf(NEWLINE); at !== -1; at = block.indexOf(NEWLINE, at + 1)) count++
      this.#before.push(count)
    }
    this.#scannedBytes += bytes.length
    if (bytes.length > 0) this.#endsInNewline = bytes.at(-1) === NEWLINE
    this.#isComplete = isEnd
  }
}

/** How far to look. */
interface IndexScan {
  readonly line: number
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** The index of a version of a file; a few are kept in the session. */
export function lineIndexOf(state: ToolState, path: string, version: string): LineIndex {
  const kept = state.scratch(
    'line-indexes',
    () => new Map<string, { readonly version: string; readonly index: LineIndex }>(),
  )
  const known = kept.get(path)
  const index = known?.version === version ? known.index : new LineIndex()
  kept.delete(path)
  kept.set(path, { version, index })
  if (kept.size > KEPT) kept.delete(kept.keys().next().value!)
  return index
}
