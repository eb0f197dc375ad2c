import { once } from 'node:events'
import type { Socket } from 'node:net'
import { HermesError, isAbort } from '@hermes/contracts'
import { reachedAs } from './check-url.js'
import { checkedAddresses, isAddress, pinnedTo, type Resolving } from './checked-addresses.js'
import { type Proxies, proxyFor } from './proxies.js'
import type { TunnelTarget } from './tunnel.js'

/** Options of {@link connectChecked}. */
interface CheckedConnectionOptions extends Resolving {
  /** Proxies on the way to public hosts; see `readProxies`. Default: none. */
  readonly proxies?: Proxies | null
  /** Whether a host of this machine or a private network may be connected to; metadata and reserved addresses never. Default: none may. */
  readonly mayReachNear?: (target: ConnectionTarget) => boolean
  /** Ends the attempt, not the connection. */
  readonly signal?: AbortSignal
}

/** Where a connection leads. */
interface ConnectionTarget {
  /** As the host of a parsed URL: IPv6 in brackets. */
  readonly hostname: string
  readonly port: number
}

const CONNECT_WITHIN_MS = 20_000

/**
 * A connection for a program that may only reach what the policy lets it, such as a browser. The name is resolved here, its addresses are checked,
 * and one of them is connected to.
 * @throws HermesError `policy.address_refused`; errors of the system; the abort.
 */
export async function connectChecked(target: ConnectionTarget, options: CheckedConnectionOptions): Promise<Socket> {
  const { hostname, port } = target
  const { network = {}, proxies = null, signal } = options
  const kind = reachedAs(hostname, network)
  const isNear = kind === 'loopback' || kind === 'private'
  if (kind !== 'public' && !(isNear && options.mayReachNear?.(target)))
    throw new HermesError(`${hostname}:${port} is not on the public network.`, {
      code: 'policy.address_refused',
      details: { host: hostname, kind },
    })
  const proxy = isNear ? null : proxyFor(new URL(`${port === 80 ? 'http' : 'https'}://${hostname}:${port}`), proxies)
  const isLookedUp = !isAddress(hostname) && (proxy === null || proxy.protocol === 'socks5:')
  const lookup = isLookedUp ? pinnedTo(await checkedAddresses(hostname, options)) : undefined
  const way = { host: hostname.replace(/^\[|\]$/g, ''), port, lookup, signal }
  if (proxy === null) return connectTo(way)
  const { openTunnel } = await import('./tunnel.js')
  return openTunnel(proxy, way)
}

async function connectTo({ host, port, lookup, signal }: TunnelTarget): Promise<Socket> {
  const { connect } = process.getBuiltinModule('node:net')
  const limit = AbortSignal.timeout(CONNECT_WITHIN_MS)
  const socket = connect({ host, port, noDelay: true, ...(lookup ? { lookup, autoSelectFamily: true } : {}) })
  try {
    await once(socket, 'connect', { signal: signal ? AbortSignal.any([signal, limit]) : limit })
    return socket
  } catch (error) {
    socket.destroy()
    throw isAbort(error) ? new Error(`${host} does not answer on port ${port}`) : error
  }
}
