import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What tells that a held program runs: the shell that starts it writes its line for the orphan guard here, as its first deed. As long as
 * nothing is there, what holds the program has not come so far.
 */
export class StartMark {
  /** What the program gets as file descriptor 3; a file without a name. */
  readonly descriptor: number
  #isOpen = true
  #isSet = false

  constructor(folder: string) {
    const path = join(folder, `start-${randomBytes(4).toString('hex')}`)
    this.descriptor = openSync(path, 'ax+', 0o600)
    rmSync(path, { force: true })
  }

  isSet(): boolean {
    if (!this.#isSet && this.#isOpen) this.#isSet = fstatSync(this.descriptor).size > 0
    return this.#isSet
  }

  /** From now on it says what it said last. */
  close(): void {
    this.isSet()
    if (this.#isOpen) closeSync(this.descriptor)
    this.#isOpen = false
  }
}
