import type { ModelEvent } from '@hermes/contracts/model'

/** A piece of an answer, sorted. */
export interface SortedText {
  readonly reasoning: string
  readonly text: string
}

/** The events of sorted text, none for what is empty. */
export function eventsOf({ reasoning, text }: SortedText): ModelEvent[] {
  if (reasoning === '') return text === '' ? [] : [{ type: 'text-delta', text }]
  const thought = { type: 'reasoning-delta', text: reasoning } as const
  return text === '' ? [thought] : [thought, { type: 'text-delta', text }]
}

const NOTHING: SortedText = { reasoning: '', text: '' }

/**
 * Sorts streamed text into reasoning and text for models that put their thoughts between tags: a tag counts at the start of an answer
 * only, so that an answer about tags keeps them. However the text is cut into pieces, the sum of what comes out is the same.
 */
export class ThinkTags {
  readonly #tags: readonly string[]
  #state: 'start' | 'thinking' | 'after' | 'text' = 'start'
  #close = ''
  #held = ''

  /** Without names everything is text. */
  constructor(names: readonly string[] = []) {
    this.#tags = names.map((name) => `<${name}>`)
    if (names.length === 0) this.#state = 'text'
  }

  /** What is known of the text so far; the rest is held until more comes. */
  push(piece: string): SortedText {
    if (this.#state === 'text') return { reasoning: '', text: piece }
    this.#held += piece
    if (this.#state === 'start' && !this.#begin()) return this.#state === 'start' ? NOTHING : this.#rest()
    if (this.#state === 'thinking') return this.#think()
    return this.#rest()
  }

  /** What is still held when the answer ends. */
  end(): SortedText {
    const held = this.#held
    this.#held = ''
    return this.#state === 'thinking' ? { reasoning: held, text: '' } : { reasoning: '', text: held }
  }

  /** Whether a tag opens the answer; as long as that is open the state stays `start`. */
  #begin(): boolean {
    const begun = this.#held.trimStart()
    const lower = begun.toLowerCase()
    const tag = this.#tags.find((candidate) => lower.startsWith(candidate))
    if (tag !== undefined) {
      this.#state = 'thinking'
      this.#close = `</${tag.slice(1)}`
      this.#held = begun.slice(tag.length)
      return true
    }
    if (!this.#tags.some((candidate) => candidate.startsWith(lower))) this.#state = 'text'
    return false
  }

  #think(): SortedText {
    const lower = this.#held.toLowerCase()
    const at = lower.indexOf(this.#close)
    if (at >= 0) {
      const reasoning = this.#held.slice(0, at)
      this.#held = this.#held.slice(at + this.#close.length)
      this.#state = 'after'
      return { reasoning, text: this.#rest().text }
    }
    const kept = heldTail(lower, this.#close)
    const reasoning = this.#held.slice(0, this.#held.length - kept)
    this.#held = this.#held.slice(this.#held.length - kept)
    return { reasoning, text: '' }
  }

  /** The blank lines between thoughts and answer belong to neither. */
  #rest(): SortedText {
    const text = this.#state === 'after' ? this.#held.trimStart() : this.#held
    if (text === '') {
      this.#held = ''
      return NOTHING
    }
    this.#state = 'text'
    this.#held = ''
    return { reasoning: '', text }
  }
}

/** How many characters at the end of a text may be the beginning of `tag`. */
function heldTail(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--)
    if (tag.startsWith(text.slice(-length))) return length
  return 0
}

/**
 * The text of a complete answer whose server took the opening tag away: what stands before a closing tag on a line of its own, with
 * no opening tag before it, is reasoning.
 */
export function splitOrphanTag(text: string, names: readonly string[] = []): SortedText {
  for (const name of names) {
    const match = new RegExp(`^([\\s\\S]*?)\\n\\s*</${name}>[ \\t]*(?:\\n|$)\\s*`, 'i').exec(text)
    if (match && !match[1]!.toLowerCase().includes(`<${name}`))
      return { reasoning: match[1]!, text: text.slice(match[0].length) }
  }
  return { reasoning: '', text }
}
