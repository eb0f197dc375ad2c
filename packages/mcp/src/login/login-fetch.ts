import { HermesError } from '@hermes/contracts'
import { checkUrl } from '@hermes/safety'
import { limitedFetch } from '../connection/limited-fetch.js'

const TIMEOUT_MS = 30_000
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/

/**
 * The way to the authorization server that a server at `address` names: https alone, and from a server of the network to none of a private
 * one; a server of this machine may name others of it.
 */
export function loginFetch(address: string, fetchTo: (address: string) => typeof fetch): typeof fetch {
  const isHere = LOOPBACK.test(new URL(address).hostname)
  const { origin } = new URL(address)
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const isPlain = url.protocol !== 'https:' && !(isHere && LOOPBACK.test(url.hostname))
    const allowed = url.origin === origin || isHere || checkUrl(url.href).ok
    if (isPlain || !allowed)
      throw new HermesError(`The server sends its login to ${url.origin}, which Hermes does not go to.`, {
        code: 'mcp.login_refused',
      })
    const body = init?.body instanceof URLSearchParams ? init.body.toString() : init?.body
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    const signal = init?.signal ? AbortSignal.any([init.signal, timeout]) : timeout
    const more = body === undefined ? {} : { body }
    return limitedFetch(fetchTo(url.origin))(input, { ...init, ...more, signal })
  }
}
