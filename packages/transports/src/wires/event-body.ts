import type { EventSourceMessage } from 'eventsource-parser'
import { createParser } from 'eventsource-parser'

const SENTINEL = '[DONE]'
/** The largest event that is read, in characters; pictures and sounds come in one event each. */
const MAX_EVENT_CHARS = 128 * 2 ** 20

/** Options of {@link EventBody}. */
interface EventBodyOptions {
  /** Ends a read that is under way, also where the body does not hear of the abort itself. */
  readonly signal: AbortSignal
  /** Whether the server has said its last word: who leaves then keeps the connection for the next request. Default: never. */
  readonly isComplete?: () => boolean
}

const END = { done: true, value: undefined } as const

/**
 * The JSON of the server-sent events of a response, one list for each piece that arrives: all events of a piece are there at once, and a
 * promise for each would cost more than reading it. Ends after the sentinel `[DONE]`; an event that the end of the body cuts off counts as
 * complete, for servers that forget its blank line. `next` rejects with a `SyntaxError` for what is no JSON, and with an error that has
 * the server's own as `error`, and `headers`, for an event that says one.
 */
export class EventBody<Event> implements AsyncIterableIterator<readonly Event[]> {
  readonly #headers: Headers
  readonly #options: EventBodyOptions
  readonly #pieces: Pieces | null
  readonly #text = new TextDecoder()
  #messages: EventSourceMessage[] = []
  readonly #parser = createParser({
    onEvent: (message) => {
      this.#messages.push(message)
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded')
        this.#failure = new SyntaxError('An event of the answer has no end.')
    },
    maxBufferSize: MAX_EVENT_CHARS,
  })
  #failure: Error | null = null
  #isDone = false
  #hasEnded = false
  #interrupt: ((reason: unknown) => void) | null = null

  constructor(response: Pick<Response, 'headers' | 'body'>, options: EventBodyOptions) {
    this.#headers = response.headers
    this.#options = options
    this.#pieces = piecesOf(response)
    options.signal.addEventListener('abort', () => this.#interrupt?.(options.signal.reason), { once: true })
  }

  /** Whether the sentinel went by. */
  get isDone(): boolean {
    return this.#isDone
  }

  next(): Promise<IteratorResult<readonly Event[], undefined>> {
    if (this.#failure) return this.#fail(this.#failure)
    if (this.#isDone || this.#hasEnded || !this.#pieces) return Promise.resolve(END)
    return this.#nextPiece(this.#pieces).then(this.#decode)
  }

  async return(): Promise<IteratorResult<readonly Event[], undefined>> {
    if (this.#isDone || this.#hasEnded || !this.#pieces) return END
    if (this.#options.isComplete?.()) drain(this.#pieces)
    else await this.#pieces.cancel()
    return END
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #nextPiece(pieces: Pieces): Promise<IteratorResult<Uint8Array, unknown>> {
    return new Promise((resolve, reject) => {
      const { signal } = this.#options
      if (signal.aborted) return reject(signal.reason)
      this.#interrupt = reject
      pieces.next().then(resolve, reject)
    })
  }

  readonly #decode = ({
    done,
    value,
  }: IteratorResult<Uint8Array, unknown>): IteratorResult<readonly Event[], undefined> => {
    this.#hasEnded = done === true
    this.#parser.feed(done ? `${this.#text.decode()}\n\n` : this.#text.decode(value as Uint8Array, { stream: true }))
    const events = this.#take()
    if (this.#failure && events.length === 0) throw this.#failure
    return done && events.length === 0 ? END : { done: false, value: events }
  }

  /** What came before an error is still given. */
  #take(): readonly Event[] {
    const events: Event[] = []
    const messages = this.#messages
    this.#messages = []
    for (const { event, data } of messages) {
      if (data === SENTINEL) {
        this.#isDone = true
        if (!this.#hasEnded && this.#pieces) drain(this.#pieces)
        break
      }
      try {
        const value = JSON.parse(data)
        if (event === 'error' || value?.error) throw reportedError(value?.error ?? value, this.#headers)
        events.push(value)
      } catch (error) {
        this.#failure = error as Error
        break
      }
    }
    return events
  }

  async #fail(error: Error): Promise<never> {
    await this.#pieces?.cancel().catch(() => undefined)
    throw error
  }
}

/** An error that stands inside of an answer. */
export function reportedError(error: unknown, headers?: Headers): Error {
  return Object.assign(new Error('The server ended its answer with an error.'), { error, headers })
}

const DRAIN_MS = 1_000

/** Where the pieces of a body come from. */
interface Pieces {
  next(): Promise<IteratorResult<Uint8Array, unknown>>
  /** Closes the connection, also while `next` waits. */
  cancel(): Promise<unknown>
}

/** The pieces of an answer: straight from the connection where the answer can itself be iterated, else by the web stream of its body. */
function piecesOf(response: Pick<Response, 'body'> & Partial<AsyncIterable<Uint8Array>>): Pieces | null {
  // A web stream makes promises and requests of its own for each piece, and its own iterator waits for one under way before it ends.
  const iterator = response[Symbol.asyncIterator]?.()
  if (iterator) return { next: () => iterator.next(), cancel: async () => iterator.return?.() }
  const reader = response.body?.getReader()
  if (!reader) return null
  return {
    next: () => reader.read() as Promise<IteratorResult<Uint8Array, unknown>>,
    cancel: () => reader.cancel(),
  }
}

/** Reads off the rest of a body that is as good as over, for a second at most, so that its connection can serve the next request. */
function drain(pieces: Pieces): void {
  const leave = () => {
    pieces.cancel().catch(() => undefined)
  }
  const timer = setTimeout(leave, DRAIN_MS)
  timer.unref()
  const readOff = async () => {
    while (!(await pieces.next()).done);
  }
  readOff()
    .catch(() => undefined)
    .finally(() => clearTimeout(timer))
}
