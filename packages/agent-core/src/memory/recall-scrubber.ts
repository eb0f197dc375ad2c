import type { AssistantMessage } from '@hermes/contracts/conversation'

/** The name of the fence around what was recalled. */
export const RECALL_TAG = 'memory-context'

const OPEN = `<${RECALL_TAG}>`
const CLOSE = `</${RECALL_TAG}>`

/** Takes fenced blocks of recalled text out of a stream, wherever its pieces are cut. */
export interface RecallScrubber {
  /** What of the text so far may be shown now. */
  feed(text: string): string
  /** What was held back at the end of the stream: the rest of a block that never ended is dropped. */
  flush(): string
}

/** A model may repeat what it was shown; that is not for the person's eyes. @see 001 section 9.4 */
export function createRecallScrubber(): RecallScrubber {
  return new TagScrubber()
}

/** `text` without fenced blocks. */
export function scrubRecalled(text: string): string {
  if (!text.includes(OPEN)) return text
  const scrubber = createRecallScrubber()
  return scrubber.feed(text) + scrubber.flush()
}

/** The same message without fenced blocks in its text. */
export function scrubMessage(message: AssistantMessage): AssistantMessage {
  if (!message.content.some((part) => part.type === 'text' && part.text.includes(OPEN))) return message
  const content = message.content.map((part) =>
    part.type === 'text' ? { ...part, text: scrubRecalled(part.text) } : part,
  )
  return { ...message, content }
}

class TagScrubber implements RecallScrubber {
  /** Either the beginning of what may be a tag, or nothing. */
  #held = ''
  #isInside = false

  feed(text: string): string {
    let rest = this.#held + text
    let shown = ''
    this.#held = ''
    for (;;) {
      const tag = this.#isInside ? CLOSE : OPEN
      const at = rest.indexOf(tag)
      if (at === -1) {
        const kept = partialTag(rest, tag)
        this.#held = rest.slice(rest.length - kept)
        return this.#isInside ? shown : shown + rest.slice(0, rest.length - kept)
      }
      if (!this.#isInside) shown += rest.slice(0, at)
      rest = rest.slice(at + tag.length)
      this.#isInside = !this.#isInside
    }
  }

  flush(): string {
    const held = this.#isInside ? '' : this.#held
    this.#held = ''
    this.#isInside = false
    return held
  }
}

/** How many characters at the end of `text` begin `tag`. */
function partialTag(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--)
    if (tag.startsWith(text.slice(text.length - length))) return length
  return 0
}
