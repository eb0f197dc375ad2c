import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { LookupFunction } from 'node:net'
import { createRoutes, type Route } from './connections.js'
import { HttpResponse, type Pieces, toHeaders, toStream } from './http-response.js'
import { type Proxies, proxyError } from './proxies.js'

/** Options of {@link createHttpFetch}. */
interface HttpFetchOptions {
  /** Default: none. */
  readonly proxies?: Proxies | null | undefined
  /** Whether a POST may be sent a second time when a kept connection turns out to be closed. GET and HEAD always may. Default `false`. */
  readonly repeatsPosts?: boolean | undefined
  /** Says which address is connected to, unless a proxy resolves the name; no connection is kept then. Default: the system's resolver. */
  readonly lookup?: LookupFunction | undefined
}

/**
 * A `fetch` over Node's own HTTP client, which goes through the proxy meant for an address, but never to this machine. Such a request costs
 * about half the time and memory of the global one. Failures and abort look as they do there; redirects are handed back, and a body is sent
 * once it is whole. Throws HermesError `fetch.bad_proxy` where the proxy that is named is none.
 *
 * A kept connection that breaks before a byte of the answer is no failure of what may be sent twice: that is sent once more, on a fresh one.
 * A server that closed one so, or may not be asked twice, is met on a new connection after each stream: many close there unannounced.
 */
export function createHttpFetch({ proxies = null, repeatsPosts = false, lookup }: HttpFetchOptions = {}): typeof fetch {
  const routes = createRoutes(proxies)
  let closesUnasked = false
  const ask = async (url: URL, init: PlainInit) => {
    const { method } = init
    if (lookup) return toResponse(await sendRequest(url, init, { ...routes.find(url), lookup }), init)
    const isRepeatable = method === 'GET' || method === 'HEAD' || (method === 'POST' && repeatsPosts)
    // What may not be sent twice takes no connection that carried a stream for others.
    const kept = routes.find(url, isRepeatable ? 'shared' : 'own')
    const keepsStream = isRepeatable && !closesUnasked
    const message = await sendRequest(url, init, { ...kept, keepsStream }).catch((error: unknown) => {
      if (!isRepeatable || !(error instanceof StaleConnectionError)) throw error
      closesUnasked = true
      return sendRequest(url, init, routes.find(url))
    })
    return toResponse(message, init)
  }
  return async (input, init = {}) => {
    const { body, signal } = init
    const isPlain = !isRequest(input) && (!body || typeof body === 'string' || body instanceof Uint8Array)
    if (!isPlain) return ask(...(await wholeRequest(new Request(input, init))))
    const method = (init.method ?? 'GET').toUpperCase()
    const headers = { accept: '*/*', 'accept-encoding': 'identity', ...toRecord(init.headers) }
    return ask(new URL(input), { method, headers, body: body || null, signal: signal ?? null })
  }
}

/** Without naming the global class: that would load the module behind it. */
export function isRequest(input: string | URL | Request): input is Request {
  return typeof input === 'object' && !(input instanceof URL)
}

function toRecord(headers: RequestInit['headers']): OutgoingHttpHeaders {
  return headers && Symbol.iterator in headers ? Object.fromEntries(headers) : { ...headers }
}

async function wholeRequest(request: Request): Promise<[URL, PlainInit]> {
  const { method, signal } = request
  const body = await request.bytes()
  const headers = { 'accept-encoding': 'identity', ...toRecord(request.headers) }
  return [new URL(request.url), { method, headers, body: body.length > 0 ? body : null, signal }]
}

/** A request as Node's client takes it. */
interface PlainInit {
  readonly method: string
  readonly headers: OutgoingHttpHeaders
  readonly body: string | Uint8Array | null
  readonly signal: AbortSignal | null
}

interface SendRoute extends Route {
  /** Whether the connection may be used again after a stream. Default `false`. */
  readonly keepsStream?: boolean
}

/** A kept connection that the server had closed by the time it was used. Looks like any other failure of `fetch`. */
class StaleConnectionError extends TypeError {
  override readonly name = 'TypeError'
}

/** What is read over time, on whose end many servers disagree with what they said about keeping the connection. */
const STREAMS = /^(?:text\/event-stream|application\/(?:x-)?ndjson|application\/vnd\.amazon\.eventstream)/i

/** Sends a request and gives what its answer begins with. Rejects as `fetch` does, with the error of the system as the cause. */
export function sendRequest(url: URL, init: PlainInit, route: SendRoute): Promise<IncomingMessage> {
  // Loaded by the first request: a static import would be paid for by every start, a dynamic one by every request.
  const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  const { method, headers, body, signal } = init
  const { proxy, keepsStream = false, ...way } = route
  return new Promise((resolve, reject) => {
    if (signal?.aborted) throw signal.reason
    const tunnel = proxy && signal ? { tunnelSignal: signal } : {}
    const sent = request(url, { method, headers, ...way, ...tunnel })
    const abort = () => {
      // Node takes its own listener off when the rest of the answer is there already, and the error would end the process.
      sent.socket?.on('error', () => undefined)
      sent.destroy(signal?.reason)
      // While a tunnel is made nothing tells that the request is over.
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
    sent.on('close', () => signal?.removeEventListener('abort', abort))
    let answer: IncomingMessage | null = null
    let bytesBefore = 0
    sent.on('socket', (socket) => {
      bytesBefore = socket.bytesRead
    })
    sent.on('response', (message) => {
      answer = message
      // Whoever reads finds it there; told to nobody, it would be lost.
      message.on('error', () => undefined)
      if (!keepsStream && STREAMS.test(message.headers['content-type'] ?? '')) sent.shouldKeepAlive = false
      resolve(message)
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // In the middle of an answer the connection would only be told as closed, whatever TLS had to say.
      answer?.destroy(error)
      const isSilent = answer === null && sent.socket?.bytesRead === bytesBefore
      if (sent.reusedSocket && isSilent && (error.code === 'ECONNRESET' || error.code === 'EPIPE'))
        return reject(new StaleConnectionError('fetch failed', { cause: error }))
      const isOnTheWay = error.syscall === 'connect' || (error as { hostname?: string }).hostname === proxy?.hostname
      const cause = proxy && isOnTheWay ? proxyError(proxy, `cannot be reached (${error.code})`, error) : error
      reject(new TypeError('fetch failed', { cause }))
    })
    if (body !== null) sent.setHeader('content-length', Buffer.byteLength(body))
    sent.end(body ?? undefined)
  })
}

const NO_BODY = [204, 205, 304]

function toResponse(message: IncomingMessage, { method, signal }: PlainInit): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', headersDistinct } = message
  const headers = toHeaders(headersDistinct)
  if (method === 'HEAD' || NO_BODY.includes(status)) {
    message.resume()
    return new HttpResponse({ status, statusText, headers, body: null })
  }
  const encoding = headers.get('content-encoding')
  const pieces = piecesOf(message, signal)
  const isPacked = encoding === 'gzip' || encoding === 'deflate'
  const body = isPacked ? toStream(pieces).pipeThrough(new DecompressionStream(encoding)) : pieces
  return new HttpResponse({ status, statusText, headers, body })
}

type Piece = IteratorResult<Uint8Array<ArrayBuffer>, undefined>

const END: Piece = Object.freeze({ done: true, value: undefined })

/** What arrives of a message, as it arrives and before what broke it off, for one reader. `return` ends it at once, also while `next` waits. */
function piecesOf(message: IncomingMessage, signal: AbortSignal | null): Pieces {
  let wake = () => {}
  for (const event of ['readable', 'end', 'close']) message.on(event, () => wake())
  const pieces: Pieces = {
    next: async (): Promise<Piece> => {
      for (;;) {
        const value: Buffer<ArrayBuffer> | null = message.read()
        if (value !== null) return { done: false, value }
        if (message.readableEnded) return END
        if (message.destroyed)
          throw signal?.aborted ? signal.reason : new TypeError('terminated', { cause: message.errored ?? undefined })
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    return: async (): Promise<Piece> => {
      message.destroy()
      return END
    },
    [Symbol.asyncIterator]: () => pieces,
  }
  return pieces
}
