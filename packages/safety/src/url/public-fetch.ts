import type { IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import { HermesError } from '@hermes/contracts'
import type { Action, Permit } from '@hermes/contracts/policy'
import { checkedAddresses, isAddress, pinnedTo, type Resolving } from './checked-addresses.js'
import { createRoutes } from './connections.js'
import { sendRequest } from './http-fetch.js'
import type { Proxies } from './proxies.js'

/** Options of {@link createPublicFetch}. */
interface PublicFetchOptions extends Resolving {
  /** Proxies on the way; see `readProxies`. Default: none. */
  readonly proxies?: Proxies | null
}

/**
 * A lookup that leads no public name to an address of this machine or a private network, for {@link createOriginFetch}: with
 * `policy.address_refused` as the cause of what fails then.
 */
export function createPublicLookup(resolving: Resolving = {}): LookupFunction {
  return (name, options, callback) => {
    checkedAddresses(name, resolving).then(
      (addresses) => pinnedTo(addresses)(name, options, callback),
      (error: Error) => callback(error, ''),
    )
  }
}

/** One request for something that a person or a text named. */
interface PublicRequest {
  /** Leave for one action, asked before each hop. */
  readonly permit: (action: Action) => Promise<Permit>
  readonly signal?: AbortSignal
  /** Bytes of the body that are kept; the rest is not read. Default 2,000,000. */
  readonly maxBytes?: number
  /** For everything together. Default 30,000. */
  readonly timeoutMs?: number
}

/** What came back, after redirects. */
interface PublicResponse {
  readonly url: string
  readonly status: number
  /** Without parameters, in lower case; empty when the server does not say. */
  readonly mediaType: string
  /** The encoding of the text as the server names it, in lower case; empty when it does not say. */
  readonly charset: string
  /** Seconds to wait, or a date, where the server says so; empty otherwise. */
  readonly retryAfter: string
  readonly body: Uint8Array
  /** Whether more came than was kept. */
  readonly isCut: boolean
}

/** Gets what an address leads to. */
type PublicFetch = (url: string, request: PublicRequest) => Promise<PublicResponse>

const MAX_HOPS = 5
const DEFAULT_MAX_BYTES = 2_000_000
const DEFAULT_TIMEOUT_MS = 30_000

/**
 * A way to get addresses that nobody configured: by GET, each hop with leave of its own. A public name must not resolve to an address of
 * this machine or a private network, and the connection goes to the address that was checked; a proxy resolves by itself, but not `socks5:`.
 * Rejects with `policy.denied` of the permit, `policy.address_refused`, `fetch.failed`, or the abort.
 */
export function createPublicFetch(options: PublicFetchOptions = {}): PublicFetch {
  return async (address, request) => {
    const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = request
    const timeout = AbortSignal.timeout(timeoutMs)
    const limit = signal ? AbortSignal.any([signal, timeout]) : timeout
    try {
      return await follow(new URL(address), { ...request, signal: limit }, options)
    } catch (error) {
      signal?.throwIfAborted()
      if (HermesError.isInstance(error) || !(error instanceof Error)) throw error
      const { message } = error.cause instanceof Error ? error.cause : error
      const reason = timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : message
      throw new HermesError(`${address} cannot be read: ${reason}.`, { code: 'fetch.failed', cause: error })
    }
  }
}

type Limited = PublicRequest & { readonly signal: AbortSignal }

async function follow(start: URL, request: Limited, options: PublicFetchOptions): Promise<PublicResponse> {
  let url = start
  for (let hops = 0; hops <= MAX_HOPS; hops++) {
    const action = { type: 'fetch', url: url.href, method: 'GET' } as const
    const permit = await request.permit(action)
    permit.consume(action)
    const message = await get(url, request.signal, options)
    const location = message.headers.location
    if (!isRedirect(message) || location === undefined) return readResponse(url, message, request)
    message.destroy()
    url = new URL(location, url)
  }
  throw new HermesError(`${start.href} redirects more than ${MAX_HOPS} times.`, { code: 'fetch.failed' })
}

const isRedirect = ({ statusCode = 0 }: IncomingMessage) => [301, 302, 303, 307, 308].includes(statusCode)

const HEADERS = {
  accept: 'text/html, text/*;q=0.9, */*;q=0.1',
  'accept-encoding': 'identity',
  'user-agent': 'hermes',
}

/**
 * Resolves the host once, here, unless a proxy resolves it. Literal addresses were judged by the policy.
 */
async function get(url: URL, signal: AbortSignal, options: PublicFetchOptions): Promise<IncomingMessage> {
  // Without a pool: a connection that was kept may have been made with another lookup.
  const route = createRoutes(options.proxies ?? null).find(url)
  const init = { method: 'GET', headers: HEADERS, body: null, signal }
  if (route.proxy !== null && route.proxy.protocol !== 'socks5:') return sendRequest(url, init, route)
  const { hostname } = url
  if (isAddress(hostname)) return sendRequest(url, init, route)
  return sendRequest(url, init, { ...route, lookup: pinnedTo(await checkedAddresses(hostname, options)) })
}

/** What was asked to come as it is, and does not: what is counted is what it unpacks to. */
function unpacked(message: IncomingMessage): AsyncIterable<Buffer> {
  const { createBrotliDecompress, createUnzip } = process.getBuiltinModule('node:zlib')
  const encoding = message.headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return message
  if (!/^(?:gzip|x-gzip|deflate|br)$/.test(encoding)) return message
  const unpack = encoding === 'br' ? createBrotliDecompress() : createUnzip()
  message.on('error', (error) => unpack.destroy(error))
  return message.pipe(unpack)
}

async function readResponse(
  url: URL,
  message: IncomingMessage,
  { maxBytes = DEFAULT_MAX_BYTES }: Limited,
): Promise<PublicResponse> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of unpacked(message)) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxBytes) break
  }
  message.destroy()
  const type = message.headers['content-type'] ?? ''
  const [mediaType = ''] = type.split(';')
  return {
    url: url.href,
    status: message.statusCode ?? 0,
    mediaType: mediaType.trim().toLowerCase(),
    charset: /;\s*charset\s*=\s*["']?([\w:.-]+)/i.exec(type)?.[1]?.toLowerCase() ?? '',
    retryAfter: message.headers['retry-after'] ?? '',
    body: Buffer.concat(chunks).subarray(0, maxBytes),
    isCut: bytes > maxBytes,
  }
}
