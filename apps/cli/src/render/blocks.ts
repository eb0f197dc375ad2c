/** What stands together on the screen. */
type Block = 'typed' | 'thoughts' | 'words' | 'calls' | 'end'

/** Keeps apart what the person typed, what the model thinks, what it says, what it does and how that ended: an empty line where one follows the other. */
export class Blocks {
  readonly #write: (text: string) => void
  #last: Block | 'ended' | null = null

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  /** Call it at the start of a line, before something of `block` is written. */
  begin(block: Block): void {
    if (this.#last !== null && this.#last !== block) this.#write('\n')
    this.#last = block
  }

  /** What was written is whole: more of its kind is another block. */
  end(): void {
    if (this.#last !== null) this.#last = 'ended'
  }
}
