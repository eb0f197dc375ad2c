import type { Output } from '../io.js'
import { Blocks } from '../render/blocks.js'
import { createStyle, printable, type Style, wrap } from '../render/style.js'

const MAX_SHOWN_LINES = 10

/** What a conversation writes above its line: whole lines, and what the model says piece by piece. */
export class Written {
  readonly #output: Output
  readonly #time: () => string
  /** Whether the model is in the middle of a line. */
  #isMidLine = false
  /** What the run under way has written. */
  #blocks: Blocks | null = null

  /** `time` is what stands before a message of the person. */
  constructor(output: Output, time: () => string) {
    this.#output = output
    this.#time = time
  }

  get style(): Style {
    return createStyle(this.#output)
  }

  /** Whole lines; they never begin in the middle of one that the model is writing. */
  get lines(): Output {
    const write = (text: string) => {
      this.#output.write(this.#isMidLine ? `\n${text}` : text)
      this.#isMidLine = false
    }
    return { ...this.#output, write }
  }

  /** Text that may end in the middle of a line. */
  get stream(): Output {
    const write = (text: string) => {
      if (text === '') return
      this.#isMidLine = !text.endsWith('\n')
      this.#output.write(text)
    }
    return { ...this.#output, write }
  }

  /** Whole lines that stand with the calls of the run under way. */
  get besideCalls(): Output {
    const write = (text: string) => {
      this.#blocks?.begin('calls')
      this.lines.write(text)
    }
    return { ...this.#output, write }
  }

  /** What a run writes keeps to blocks from here on, until {@link endBlocks}; the first stands apart from what is there. */
  beginBlocks(): Blocks {
    this.#blocks = new Blocks((space) => this.lines.write(space))
    this.#blocks.begin('typed')
    return this.#blocks
  }

  endBlocks(): void {
    this.#blocks = null
  }

  /** Ends a line that was begun. */
  endLine(): void {
    if (this.#isMidLine) this.stream.write('\n')
  }

  say(text: string): void {
    this.lines.write(`${wrap(printable(text), this.#output.columns())}\n`)
  }

  /** What wants to be looked at. */
  note(text: string): void {
    this.#paint(text, this.style.notice)
  }

  /** What went wrong. */
  fail(text: string): void {
    this.#paint(text, this.style.red)
  }

  #paint(text: string, colour: (row: string) => string): void {
    const rows = wrap(printable(text), this.#output.columns()).split('\n')
    this.lines.write(`${rows.map(colour).join('\n')}\n`)
  }

  /** A line of the person goes up into the output once it is taken. */
  echo(shown: string): void {
    if (shown === '') return
    const lines = printable(shown).split('\n')
    const left = lines.length - MAX_SHOWN_LINES
    const head = left > 0 ? [...lines.slice(0, MAX_SHOWN_LINES), `… ${left} more lines`] : lines
    const { accent, bold, dim, prompt } = this.style
    const time = this.#time()
    const first = `${time === '' ? '' : dim(time)}${accent(prompt)}`
    const marked = head.map((line, index) => `${index === 0 ? first : ' '} ${bold(line)}`)
    this.lines.write(`\n${marked.join('\n')}\n`)
  }
}
