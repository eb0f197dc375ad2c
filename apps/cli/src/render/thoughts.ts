import type { AgentEvent } from '@hermes/agent-core'
import type { Output } from '../io.js'
import type { Blocks } from './blocks.js'
import { createStyle, PrintableStream } from './style.js'

/** Shows what the model thinks, dim, as it comes; nothing while it is not wanted. */
export class Thoughts {
  readonly #output: Output
  readonly #blocks: Blocks
  readonly #isWanted: () => boolean
  readonly #printable = new PrintableStream()
  #isOpen = false
  /** Whose thoughts came in pieces. */
  #streamedId = ''

  constructor(output: Output, blocks: Blocks, isWanted: () => boolean) {
    this.#output = output
    this.#blocks = blocks
    this.#isWanted = isWanted
  }

  /** Call `end` before something else is written. */
  add({ messageId, text }: Pick<AgentEvent & { readonly type: 'reasoning-delta' }, 'messageId' | 'text'>): void {
    if (!this.#isWanted()) return
    this.#streamedId = messageId
    this.#write(text)
  }

  /** Those of a message that came whole. */
  see({ messageId, message }: Pick<AgentEvent & { readonly type: 'message-end' }, 'messageId' | 'message'>): void {
    if (!this.#isWanted() || this.#streamedId === messageId) return
    this.#write(message.content.map((part) => (part.type === 'reasoning' ? part.text : '')).join(''))
    this.end()
  }

  end(): void {
    if (this.#isOpen) this.#output.write(`${this.#dim(this.#printable.end())}\n`)
    this.#isOpen = false
  }

  #write(text: string): void {
    const begun = this.#isOpen ? text : text.trimStart()
    if (begun === '') return
    if (!this.#isOpen) this.#blocks.begin('thoughts')
    this.#isOpen = true
    this.#output.write(this.#dim(this.#printable.add(begun)))
  }

  #dim(text: string): string {
    return text === '' ? '' : createStyle(this.#output).dim(text)
  }
}
