import type { AgentEvent } from './event.js'

/**
 * Events between a loop that never waits and one consumer that may be slow: adjacent deltas of one message merge while unread.
 */
export class EventQueue implements AsyncIterableIterator<AgentEvent> {
  readonly #buffer: AgentEvent[] = []
  readonly #onLeave: () => void
  #waiting: ((result: IteratorResult<AgentEvent>) => void) | null = null
  #ended = false
  #taken = false

  constructor(onLeave: () => void) {
    this.#onLeave = onLeave
  }

  push(event: AgentEvent): void {
    if (this.#ended) return
    if (this.#waiting) {
      const deliver = this.#waiting
      this.#waiting = null
      deliver({ done: false, value: event })
      return
    }
    const last = this.#buffer.at(-1)
    const merged = last && mergeDeltas(last, event)
    if (merged) this.#buffer[this.#buffer.length - 1] = merged
    else this.#buffer.push(event)
  }

  end(): void {
    this.#ended = true
    this.#waiting?.({ done: true, value: undefined })
    this.#waiting = null
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    const event = this.#buffer.shift()
    if (event) return Promise.resolve({ done: false, value: event })
    if (this.#ended) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  return(): Promise<IteratorResult<AgentEvent>> {
    if (!this.#ended) this.#onLeave()
    this.#buffer.length = 0
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<AgentEvent> {
    if (this.#taken) throw new TypeError('The events of a run can be iterated once.')
    this.#taken = true
    return this
  }
}

/** Two adjacent events as one, where nobody has to know that they were two; else `null`. */
export function mergeDeltas(last: AgentEvent, next: AgentEvent): AgentEvent | null {
  if (last.type === 'message-delta' || last.type === 'reasoning-delta') {
    if (next.type === last.type && next.messageId === last.messageId) return { ...last, text: last.text + next.text }
  }
  if (last.type !== 'tool-progress' || next.type !== 'tool-progress') return null
  return next.callId === last.callId && next.source === last.source ? next : null
}
