import type { Agent, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { HttpHeaders, HttpResponse } from './http-response.js'
import { isThisMachine, type Proxies } from './proxies.js'

/**
 * A `fetch` over Node's own HTTP client for what model clients send: a text, bytes or no body, redirects handed back (`redirect: 'manual'`).
 * Such a request costs about half the time and memory of the global one and goes through the proxy meant for it, but never to this
 * machine; every other goes to the global one. Connections are kept for the next request. Failures and abort look as they do there.
 */
export function createHttpFetch(proxies: Proxies | null = null): typeof fetch {
  const agentFor = createAgents(proxies)
  return (input, init = {}) => {
    const { body, redirect } = init
    const isPlain = !body || typeof body === 'string' || body instanceof Uint8Array
    if (isRequest(input) || redirect !== 'manual' || !isPlain) return fetch(input, init)
    const url = new URL(input)
    return send(url, init, agentFor(url))
  }
}

/** Without naming the global class: that would load the module behind it. */
export function isRequest(input: string | URL | Request): input is Request {
  return typeof input === 'object' && !(input instanceof URL)
}

type Agents = (url: URL) => Agent | undefined

/** Without an agent of its own a request uses Node's, which keeps connections too. */
function createAgents(proxies: Proxies | null): Agents {
  if (proxies === null) return () => undefined
  const made = new Map<string, Agent>()
  const proxyEnv: Record<string, string> = { ...proxies }
  return ({ protocol, hostname }) => {
    if (isThisMachine(hostname)) return undefined
    const known = made.get(protocol)
    if (known) return known
    const { Agent } = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http')
    const agent = new Agent({ keepAlive: true, proxyEnv })
    made.set(protocol, agent)
    return agent
  }
}

function send(url: URL, { method, headers, body, signal }: RequestInit, agent: Agent | undefined): Promise<Response> {
  // Loaded by the first request: a static import would be paid for by every start, a dynamic one by every request.
  const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  return new Promise((resolve, reject) => {
    const fields = { accept: '*/*', 'accept-encoding': 'identity', ...toRecord(headers) }
    if (signal?.aborted) throw signal.reason
    const sent = request(url, { method: method ?? 'GET', headers: fields, ...(agent ? { agent } : {}) })
    const abort = () => {
      // Node takes its own listener off when the rest of the answer is there already, and the error would end the process.
      sent.socket?.on('error', () => undefined)
      sent.destroy(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
    sent.on('close', () => signal?.removeEventListener('abort', abort))
    let answer: IncomingMessage | null = null
    sent.on('response', (message) => {
      answer = message
      // At once: an error that is told before anybody listens is told to nobody.
      try {
        resolve(toResponse(message, signal))
      } catch (error) {
        message.destroy()
        reject(error)
      }
    })
    sent.on('error', (cause) => {
      // In the middle of an answer the connection would only be told as closed, whatever TLS had to say.
      answer?.destroy(cause)
      reject(signal?.aborted ? signal.reason : new TypeError('fetch failed', { cause }))
    })
    if (typeof body === 'string' || body instanceof Uint8Array)
      sent.setHeader('content-length', Buffer.byteLength(body)).end(body)
    else sent.end()
  })
}

function toRecord(headers: RequestInit['headers']): OutgoingHttpHeaders {
  return headers && Symbol.iterator in headers ? Object.fromEntries(headers) : { ...headers }
}

const NO_BODY = [204, 205, 304]

function toResponse(message: IncomingMessage, signal: AbortSignal | null | undefined): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', headersDistinct } = message
  const headers = new HttpHeaders(headersDistinct)
  if (NO_BODY.includes(status)) {
    message.resume()
    return new HttpResponse({ status, statusText, headers, body: null })
  }
  const encoding = headers.get('content-encoding')
  const stream = toStream(new Pieces(message, signal))
  const isPacked = encoding === 'gzip' || encoding === 'deflate'
  const body = isPacked ? stream.pipeThrough(new DecompressionStream(encoding)) : stream
  return new HttpResponse({ status, statusText, headers, body })
}

/** A web stream that hands on what arrives as it is when it is iterated, without the queue and the promises of its readers. */
function toStream(pieces: Pieces): ReadableStream<Uint8Array<ArrayBuffer>> {
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: async (controller) => {
        const { done, value } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => {
        pieces.return()
      },
    },
    { highWaterMark: 0 },
  )
  return Object.defineProperty(stream, Symbol.asyncIterator, { value: () => pieces })
}

type Piece = IteratorResult<Uint8Array<ArrayBuffer>, undefined>

const END: Piece = Object.freeze({ done: true, value: undefined })

/** What arrives of a message, as it arrives. `next` is to be called by one reader, after its last result; `return` ends it at once. */
class Pieces implements AsyncIterableIterator<Uint8Array<ArrayBuffer>> {
  readonly #message: IncomingMessage
  readonly #signal: AbortSignal | null | undefined
  #waiting: PromiseWithResolvers<Piece> | null = null
  #isOver = false
  #error: unknown = null

  constructor(message: IncomingMessage, signal: AbortSignal | null | undefined) {
    this.#message = message
    this.#signal = signal
    const wake = () => this.#wake()
    const end = () => {
      this.#isOver = true
      this.#wake()
    }
    // An error before anybody reads is found by the first read.
    message.on('error', (cause) => {
      this.#error = cause
      end()
    })
    message.on('readable', wake)
    message.on('end', end)
    message.on('close', end)
  }

  next(): Promise<Piece> {
    const piece = this.#piece()
    if (piece) return Promise.resolve(piece)
    if (this.#isOver) return this.#end()
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  async return(): Promise<Piece> {
    this.#message.destroy()
    return END
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #piece(): Piece | null {
    const value: Buffer<ArrayBuffer> | null = this.#message.read()
    return value && { done: false, value }
  }

  #wake(): void {
    const waiting = this.#waiting
    if (!waiting) return
    const piece = this.#piece()
    if (!piece && !this.#isOver) return
    this.#waiting = null
    waiting.resolve(piece ?? this.#end())
  }

  async #end(): Promise<Piece> {
    if (this.#message.readableEnded) return END
    throw this.#signal?.aborted ? this.#signal.reason : new TypeError('terminated', { cause: this.#error ?? undefined })
  }
}
