import type { JsonObject } from '@hermes/contracts'
import type { AssistantMessage, AssistantPart } from '@hermes/contracts/conversation'
import type { RecallFence } from '@hermes/safety'

/** Takes blocks of recalled text out of a stream, wherever its pieces are cut. */
export interface RecallScrubber {
  /** What of the text so far may be shown now. */
  feed(text: string): string
  /** What was held back at the end of the stream: the rest of a block that never ended is dropped. */
  flush(): string
}

/** A model may repeat what it was shown; that is not for the person's eyes. Text about such blocks stays: only `fences` count. */
export function createRecallScrubber(fences: readonly RecallFence[]): RecallScrubber {
  return new FenceScrubber(fences)
}

/** `text` without blocks of recalled text. */
export function scrubRecalled(text: string, fences: readonly RecallFence[]): string {
  if (!fences.some(({ open }) => text.includes(open))) return text
  const scrubber = createRecallScrubber(fences)
  return scrubber.feed(text) + scrubber.flush()
}

/** The same message without such blocks in what it says, thinks and calls with. What goes back to an endpoint byte for byte stays. */
export function scrubMessage(message: AssistantMessage, fences: readonly RecallFence[]): AssistantMessage {
  if (fences.length === 0) return message
  const content = message.content.map((part) => scrubPart(part, fences))
  return content.every((part, index) => part === message.content[index]) ? message : { ...message, content }
}

function scrubPart(part: AssistantPart, fences: readonly RecallFence[]): AssistantPart {
  if (part.type !== 'tool-call') {
    const text = scrubRecalled(part.text, fences)
    return text === part.text ? part : { ...part, text }
  }
  if (part.args === null) {
    const rawArgs = scrubRecalled(part.rawArgs, fences)
    return rawArgs === part.rawArgs ? part : { ...part, rawArgs }
  }
  let isChanged = false
  const rawArgs = JSON.stringify(part.args, (_key, value: unknown) => {
    if (typeof value !== 'string') return value
    const text = scrubRecalled(value, fences)
    isChanged ||= text !== value
    return text
  })
  return isChanged ? { ...part, args: JSON.parse(rawArgs) as JsonObject, rawArgs } : part
}

class FenceScrubber implements RecallScrubber {
  readonly #fences: readonly RecallFence[]
  /** Either the beginning of what may be a fence, or nothing. */
  #buffered = ''
  /** The end of the block that the text is in. */
  #close: string | null = null

  constructor(fences: readonly RecallFence[]) {
    this.#fences = fences
  }

  feed(text: string): string {
    let rest = this.#buffered + text
    let shown = ''
    this.#buffered = ''
    for (;;) {
      const found = this.#next(rest)
      if (found === null) {
        const marks = this.#close === null ? this.#fences.map(({ open }) => open) : [this.#close]
        const kept = Math.max(0, ...marks.map((mark) => partial(rest, mark)))
        this.#buffered = rest.slice(rest.length - kept)
        return this.#close === null ? shown + rest.slice(0, rest.length - kept) : shown
      }
      if (this.#close === null) shown += rest.slice(0, found.at)
      rest = rest.slice(found.at + found.length)
      this.#close = found.close
    }
  }

  /** The next mark in `text`, and what ends the block behind it. */
  #next(text: string): { readonly at: number; readonly length: number; readonly close: string | null } | null {
    if (this.#close !== null) {
      const at = text.indexOf(this.#close)
      return at === -1 ? null : { at, length: this.#close.length, close: null }
    }
    const found = this.#fences
      .map(({ open, close }) => ({ at: text.indexOf(open), length: open.length, close }))
      .filter(({ at }) => at !== -1)
    return found.toSorted((left, right) => left.at - right.at)[0] ?? null
  }

  flush(): string {
    const buffered = this.#close === null ? this.#buffered : ''
    this.#buffered = ''
    this.#close = null
    return buffered
  }
}

/** How many characters at the end of `text` begin `mark`. */
function partial(text: string, mark: string): number {
  for (let length = Math.min(text.length, mark.length - 1); length > 0; length--)
    if (mark.startsWith(text.slice(text.length - length))) return length
  return 0
}
