import type { Message } from '@hermes/contracts/conversation'

const ID_CHARS = 16

/** What the calls of one answer are called. */
export class CallIds {
  readonly #messages: readonly Message[]
  readonly #taken = new Set<string>()

  /** `messages`: the conversation so far. */
  constructor(messages: readonly Message[]) {
    this.#messages = messages
  }

  /**
   * The id of the next call: `input` by the server, unless that is empty or taken. The same conversation gives the same id; since each
   * id becomes part of the messages that the next one is made from, ids do not come back within a conversation.
   */
  next(input: string): string {
    const id = input !== '' && !this.#isTaken(input) ? input : this.#fresh()
    this.#taken.add(id)
    return id
  }

  #fresh(): string {
    // Loaded here and not above, since few servers make it needed and loading it takes milliseconds at each start.
    const { createHash } = process.getBuiltinModule('node:crypto')
    const seed = JSON.stringify([this.#messages.length, this.#messages.slice(-2), this.#taken.size])
    for (let attempt = 0; ; attempt++) {
      const hash = createHash('sha256').update(`${seed}${attempt}`).digest('hex').slice(0, ID_CHARS)
      if (!this.#isTaken(`call_${hash}`)) return `call_${hash}`
    }
  }

  /** Asked for every call of a long conversation, so it makes nothing. */
  #isTaken(id: string): boolean {
    if (this.#taken.has(id)) return true
    for (let at = 0; at < this.#messages.length; at++) {
      const message = this.#messages[at]!
      if (message.role !== 'assistant') continue
      for (const part of message.content) if (part.type === 'tool-call' && part.id === id) return true
    }
    return false
  }
}
