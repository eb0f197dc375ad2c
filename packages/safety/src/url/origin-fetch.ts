import type { LookupFunction } from 'node:net'
import { HermesError } from '@hermes/contracts'
import { createHttpFetch, isRequest } from './http-fetch.js'
import type { Proxies } from './proxies.js'

/** Options of {@link createOriginFetch}. */
interface OriginFetchOptions {
  /** Only the origin counts; a path in it is ignored. */
  readonly baseUrl: string
  /** Default: Node's HTTP client. */
  readonly fetch?: typeof globalThis.fetch
  /** Proxies on the way there; see `readProxies`. Default: none. */
  readonly proxies?: Proxies | null
  /** Says which address is connected to, for a service that nobody configured; see `createPublicLookup`. Default: the system's resolver. */
  readonly lookup?: LookupFunction
  /**
   * Whether a POST may be sent a second time when a kept connection turns out to be closed before any answer: for model calls, which
   * change nothing. Default `false`.
   */
  readonly repeatsPosts?: boolean
}

/**
 * A `fetch` for one service that the operator configured: it reaches that origin and nothing else. Up to five redirects inside the
 * origin are followed for GET and HEAD; for other methods the redirect itself is the response. Abort passes through.
 * @throws HermesError `policy.origin_refused` for another origin, also as the target of a redirect; on creation `policy.bad_origin`.
 */
export function createOriginFetch(options: OriginFetchOptions): typeof globalThis.fetch {
  if (!/^https?:/i.test(options.baseUrl) || !URL.canParse(options.baseUrl)) {
    throw new HermesError(`"${options.baseUrl}" is not an http or https URL; correct the base URL.`, {
      code: 'policy.bad_origin',
    })
  }
  const { origin } = new URL(options.baseUrl)
  const send = options.fetch ?? createHttpFetch(options)
  return async (input, init) => {
    let url = new URL(isRequest(input) ? input.url : input)
    if (url.origin !== origin) throw refused(url, origin)
    const method = (init?.method ?? (isRequest(input) ? input.method : 'GET')).toUpperCase()
    const follows = method === 'GET' || method === 'HEAD'
    let response = await send(input, { ...init, redirect: 'manual' })
    for (let hops = 0; isRedirect(response); hops++) {
      url = new URL(response.headers.get('location') ?? '', url)
      if (url.origin !== origin) {
        await response.body?.cancel()
        throw refused(url, origin)
      }
      if (!follows || hops === MAX_HOPS) return response
      await response.body?.cancel()
      response = await send(isRequest(input) ? new Request(url, input) : url, { ...init, redirect: 'manual' })
    }
    return response
  }
}

const MAX_HOPS = 5

function isRedirect(response: Response): boolean {
  return [301, 302, 303, 307, 308].includes(response.status) && response.headers.has('location')
}

function refused(target: URL, origin: string): HermesError {
  const url = target.origin + target.pathname
  return new HermesError(`Refused to contact ${url}: only ${origin} is configured for this client.`, {
    code: 'policy.origin_refused',
    details: { origin, url },
  })
}
