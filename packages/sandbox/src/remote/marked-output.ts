/** What a command's stream is made of: its own output, and what our script says around it. */
interface MarkedListener {
  onOutput(chunk: Buffer): void
  /** `words` follow the mark, as `start 12 345`. What comes after `end` and before `done` goes to `onState`. */
  onMark(words: readonly string[]): void
  onState(chunk: Buffer): void
}

/** Tells a command's output from marks, which are `NUL mark words NUL`; a chunk may end within one. */
export class MarkedOutput {
  readonly #prefix: Buffer
  readonly #listener: MarkedListener
  #rest = Buffer.alloc(0)
  #phase: 'before' | 'running' | 'ended' = 'before'

  constructor(mark: string, listener: MarkedListener) {
    this.#prefix = Buffer.from(`\0${mark} `)
    this.#listener = listener
  }

  push(chunk: Buffer): void {
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (;;) {
      const at = data.indexOf(this.#prefix)
      const close = at === -1 ? -1 : data.indexOf(0, at + this.#prefix.length)
      if (at === -1 || close === -1) {
        const keep = at === -1 ? data.length - partOf(this.#prefix, data) : at
        this.#emit(data.subarray(0, keep))
        this.#rest = Buffer.from(data.subarray(keep))
        return
      }
      this.#emit(data.subarray(0, at))
      this.#mark(data.toString('utf8', at + this.#prefix.length, close))
      data = data.subarray(close + 1)
    }
  }

  #mark(text: string): void {
    const words = text.split(' ')
    if (words[0] === 'start') this.#phase = 'running'
    if (words[0] === 'end') this.#phase = 'ended'
    this.#listener.onMark(words)
  }

  #emit(data: Buffer): void {
    // What comes before the start is the talk of a login shell's start-up files.
    if (data.length === 0 || this.#phase === 'before') return
    if (this.#phase === 'running') this.#listener.onOutput(data)
    else this.#listener.onState(data)
  }
}

/** How many bytes at the end of `data` may be the beginning of `prefix`. */
function partOf(prefix: Buffer, data: Buffer): number {
  for (let length = Math.min(prefix.length - 1, data.length); length > 0; length--) {
    if (data.subarray(data.length - length).equals(prefix.subarray(0, length))) return length
  }
  return 0
}
