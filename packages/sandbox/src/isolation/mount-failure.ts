/**
 * What bubblewrap writes when a place that it was to hide was removed since the bounds were drawn: lock files, temporary files and sockets
 * come and go all day. The program was not started.
 */
const MOUNT_FAILURE = /^bwrap: Can't (?:create file at|mkdir|find source path) [^\n]*\n?$/
const BEGIN = Buffer.from("bwrap: Can't ")
const MAX_BYTES = 8_192

/** Holds output back for as long as it may be nothing but the message of a bubblewrap that could not mount. */
export class MountFailure {
  readonly #emit: (chunk: Buffer) => void
  #kept: Buffer | null = Buffer.alloc(0)

  constructor(emit: (chunk: Buffer) => void) {
    this.#emit = emit
  }

  push(chunk: Buffer): void {
    if (this.#kept === null) {
      this.#emit(chunk)
      return
    }
    this.#kept = Buffer.concat([this.#kept, chunk])
    const length = Math.min(this.#kept.length, BEGIN.length)
    const isLike = this.#kept.subarray(0, length).equals(BEGIN.subarray(0, length))
    if (!isLike || this.#kept.length > MAX_BYTES) this.flush()
  }

  /** Whether the output is that message and nothing else. */
  isAll({ exitCode }: { readonly exitCode: number | null }): boolean {
    return exitCode === 1 && this.#kept !== null && MOUNT_FAILURE.test(this.#kept.toString())
  }

  /** Passes on what was held back, and from now on everything. */
  flush(): void {
    const kept = this.#kept
    this.#kept = null
    if (kept !== null && kept.length > 0) this.#emit(kept)
  }
}
