import type { IncomingMessage } from 'node:http'
import { HermesError } from '@hermes/contracts'

// The module of Node behind the global `Response` and `Headers` takes about ten milliseconds to load, and a good part of the time of a
// request to use. Nothing that only asks a model needs it.

type Body = ReadableStream<Uint8Array<ArrayBuffer>>

/** What arrives of an answer, for one reader. `return` ends the connection at once, also while `next` waits. */
export type Pieces = AsyncIterableIterator<Uint8Array<ArrayBuffer>, undefined>

/** What an answer begins with, and where the rest of it comes from. */
interface HttpAnswer extends Pick<Response, 'status' | 'statusText' | 'headers'> {
  readonly body: Body | Pieces | null
}

/** A server may never stop: nobody waits for whole answers of this size. */
const MAX_BYTES = 64_000_000

/**
 * A `Response` in all it does, with headers that cannot be changed, as those of `fetch`. Reading it whole rejects beyond 64 MB, unpacked, with
 * HermesError `fetch.too_large`; as a stream it has no limit. Iterated itself, it hands on what arrives without a web stream in between.
 */
export class HttpResponse implements Response, AsyncIterable<Uint8Array<ArrayBuffer>> {
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  readonly type = 'basic'
  readonly url = ''
  readonly redirected = false
  #body: Body | Pieces | null
  #isRead = false

  constructor({ status, statusText, headers, body }: HttpAnswer) {
    this.status = status
    this.statusText = statusText
    this.headers = headers
    this.#body = body
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300
  }

  get body(): Body | null {
    if (this.#body && !isStream(this.#body)) this.#body = toStream(this.#body)
    return this.#body
  }

  get bodyUsed(): boolean {
    return this.#isRead
  }

  clone(): Response {
    this.#mustBeUnread()
    const [mine, theirs] = this.body?.tee() ?? [null, null]
    this.#body = mine
    const { status, statusText, headers } = this
    return new HttpResponse({ status, statusText, headers, body: theirs })
  }

  /** @throws TypeError when somebody reads the body already. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array<ArrayBuffer>, undefined> {
    this.#mustBeUnread()
    this.#isRead = true
    return (this.#body ?? NOTHING)[Symbol.asyncIterator]()
  }

  #mustBeUnread(): void {
    const isLocked = this.#body !== null && isStream(this.#body) && this.#body.locked
    if (this.#isRead || isLocked) throw new TypeError('The body was read already.')
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const pieces: Uint8Array<ArrayBuffer>[] = []
    let size = 0
    for await (const piece of this) {
      pieces.push(piece)
      size += piece.byteLength
      // Leaving the loop ends the connection.
      if (size > MAX_BYTES) throw tooLarge()
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes())
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return new Uint8Array(await this.bytes()).buffer
  }

  async blob(): Promise<Blob> {
    return new Response(await this.bytes(), this).blob()
  }

  async formData(): Promise<FormData> {
    return new Response(await this.bytes(), this).formData()
  }
}

const NOTHING: AsyncIterable<never, undefined> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
}

function isStream(body: Body | Pieces): body is Body {
  return 'getReader' in body
}

/** A web stream of what arrives. The module of Node behind it takes some milliseconds to load: made for those who ask for it. */
export function toStream(pieces: Pieces): Body {
  return new ReadableStream(
    {
      pull: async (controller) => {
        const { done, value } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await pieces.return?.()),
    },
    { highWaterMark: 0 },
  )
}

function tooLarge(): HermesError {
  const message = `The answer of the server has more than ${MAX_BYTES / 1_000_000} MB; it was not read to its end.`
  return new HermesError(message, { code: 'fetch.too_large', details: { maxBytes: MAX_BYTES } })
}

/** The headers of a message, in the order of their names. */
export function toHeaders(values: IncomingMessage['headersDistinct']): Headers {
  const refuse = (): never => {
    throw new TypeError('The headers of an answer cannot be changed.')
  }
  function* entries(): ReturnType<Headers['entries']> {
    for (const name of Object.keys(values).sort()) {
      const all = values[name] ?? []
      for (const value of name === 'set-cookie' ? all : [all.join(', ')]) yield [name, value]
    }
  }
  return {
    get: (name) => values[name.toLowerCase()]?.join(', ') ?? null,
    has: (name) => values[name.toLowerCase()] !== undefined,
    getSetCookie: () => [...(values['set-cookie'] ?? [])],
    entries,
    keys: () => new Headers([...entries()]).keys(),
    values: () => new Headers([...entries()]).values(),
    forEach: (each) => new Headers([...entries()]).forEach(each),
    [Symbol.iterator]: entries,
    append: refuse,
    set: refuse,
    delete: refuse,
  }
}
