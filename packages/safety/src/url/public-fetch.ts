import type { LookupAddress } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import { HermesError } from '@hermes/contracts'
import type { Action, Permit } from '@hermes/contracts/policy'
import { type CheckUrlOptions, hostKind, reachedAs } from './check-url.js'
import { createRoutes } from './connections.js'
import { sendRequest } from './http-fetch.js'
import type { Proxies } from './proxies.js'

/** Options of {@link createPublicFetch}. */
interface PublicFetchOptions {
  /** Proxies on the way; see `readProxies`. Default: none. */
  readonly proxies?: Proxies | null
  /** All addresses of a host. Default: the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly LookupAddress[]>
  /** Places beside public ones that names may lead to. Default: none. */
  readonly network?: CheckUrlOptions
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
 * Resolves the host once, here, so that what was checked is what is connected to, unless a proxy resolves it. Literal addresses were judged by
 * the policy; so was where a name that only a network knows leads, but no further than into that network.
 */
async function get(url: URL, signal: AbortSignal, options: PublicFetchOptions): Promise<IncomingMessage> {
  // Without a pool: a connection that was kept may have been made with another lookup.
  const route = createRoutes(options.proxies ?? null).find(url)
  const init = { method: 'GET', headers: HEADERS, body: null, signal }
  if (route.proxy !== null && route.proxy.protocol !== 'socks5:') return sendRequest(url, init, route)
  const { resolve = lookupAll, network = {} } = options
  const { hostname } = url
  if (isAddress(hostname)) return sendRequest(url, init, route)
  const addresses = await resolve(hostname)
  const judged = hostKind(hostname)
  const inside = addresses.find(({ address, family }) => {
    const kind = reachedAs(family === 6 ? `[${address}]` : address, network)
    return kind !== 'public' && (kind === 'metadata' || kind !== judged)
  })
  if (inside)
    throw new HermesError(
      `${hostname} leads to ${inside.address}, which is not on the public network, so it is not read. If that is meant, add the address or its range to security.allowed_ranges in config.yaml.`,
      { code: 'policy.address_refused', details: { host: hostname } },
    )
  return sendRequest(url, init, { ...route, lookup: pinnedTo(addresses) })
}

/** Connects to these addresses, whatever the name. */
function pinnedTo(addresses: readonly LookupAddress[]): LookupFunction {
  return (name, { all }, callback) => {
    const [first] = addresses
    if (!first) callback(new Error(`${name} has no address`), '')
    else if (all) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }
}

const isAddress = (hostname: string): boolean => hostname.startsWith('[') || /^[\d.]+$/.test(hostname)

async function lookupAll(hostname: string): Promise<readonly LookupAddress[]> {
  const { lookup } = process.getBuiltinModule('node:dns/promises')
  return lookup(hostname, { all: true })
}

async function readResponse(
  url: URL,
  message: IncomingMessage,
  { maxBytes = DEFAULT_MAX_BYTES }: Limited,
): Promise<PublicResponse> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxBytes) break
  }
  message.destroy()
  const [mediaType = ''] = (message.headers['content-type'] ?? '').split(';')
  return {
    url: url.href,
    status: message.statusCode ?? 0,
    mediaType: mediaType.trim().toLowerCase(),
    body: Buffer.concat(chunks).subarray(0, maxBytes),
    isCut: bytes > maxBytes,
  }
}
