import type { IncomingMessage } from 'node:http'
import { HermesError } from '@hermes/contracts'

// The module of Node behind the global `Response` and `Headers` takes about ten milliseconds to load, and a good part of the time of a
// request to use. Nothing that only asks a model needs it.

type Body = ReadableStream<Uint8Array<ArrayBuffer>>

/** What an answer begins with. */
export interface HttpAnswer extends Pick<Response, 'status' | 'statusText' | 'headers'> {
  readonly body: Body | null
}

/** A server may never stop: nobody waits for whole answers of this size. */
const MAX_BYTES = 64_000_000

/**
 * A `Response` in all it does, with headers that cannot be changed, as those of `fetch`. Reading it whole rejects beyond 64 MB, unpacked, with
 * HermesError `fetch.too_large`; as a stream it has no limit.
 */
export class HttpResponse implements Response {
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  readonly type = 'basic'
  readonly url = ''
  readonly redirected = false
  #body: Body | null
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
    return this.#body
  }

  get bodyUsed(): boolean {
    return this.#isRead
  }

  clone(): Response {
    if (this.#isRead || this.#body?.locked) throw new TypeError('The body was read already.')
    const [mine, theirs] = this.#body?.tee() ?? [null, null]
    this.#body = mine
    const { status, statusText, headers } = this
    return new HttpResponse({ status, statusText, headers, body: theirs })
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#isRead || this.#body?.locked) throw new TypeError('The body was read already.')
    this.#isRead = true
    const pieces: Uint8Array<ArrayBuffer>[] = []
    let size = 0
    for await (const piece of this.#body ?? []) {
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
