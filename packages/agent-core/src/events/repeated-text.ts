/** A piece of an answer to be shown. */
export interface NewText {
  readonly text: string
  /** The answer is another one than that which broke off, so `text` is all of it so far. */
  readonly isOther: boolean
}

const NOTHING: NewText = { text: '', isOther: false }

/** Leaves out of an answer that is asked again what was shown of it before it broke off, however often it does. */
export class RepeatedText {
  /** What is on the screen of the answer. */
  #shown = ''
  /** What came of it since it was asked again; `null` once it is ahead of what is on the screen. */
  #again: string | null = null

  /** What is new in the next piece. */
  add(text: string): NewText {
    if (this.#again === null) {
      this.#shown += text
      return { text, isOther: false }
    }
    this.#again += text
    if (this.#shown.startsWith(this.#again)) return NOTHING
    const isOther = !this.#again.startsWith(this.#shown)
    return this.#settle(isOther ? this.#again : this.#again.slice(this.#shown.length), isOther)
  }

  /** The answer broke off and is asked again; `false` when nothing of it was shown. */
  breakOff(): boolean {
    if (this.#shown !== '') this.#again = ''
    return this.#shown !== ''
  }

  /** The answer is complete, and the next one begins. What it says of less than was shown is an answer of its own. */
  end(): NewText {
    const { length } = this.#shown
    const last = this.#again === null || this.#again.length === length ? NOTHING : this.#settle(this.#again, true)
    this.#shown = ''
    this.#again = null
    return last
  }

  #settle(text: string, isOther: boolean): NewText {
    this.#shown = this.#again ?? ''
    this.#again = null
    return { text, isOther }
  }
}
