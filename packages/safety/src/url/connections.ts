import type { Agent, AgentOptions, ClientRequestArgs } from 'node:http'
import type { LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Proxies, proxyFor } from './proxies.js'

/** How a request leaves. */
export interface Route {
  /** Whose connections it uses: those of Node where there is none, one of its own where that is `false`. */
  readonly agent?: Agent | false
  readonly proxy: URL | null
  /** Says which address is connected to, unless a proxy resolves the name. Default: the system's resolver. */
  readonly lookup?: LookupFunction
}

/** Ways to addresses, with the connections that are kept. */
interface Routes {
  /**
   * `pool` keeps the connections of one kind of request apart from others; without one, a connection is made for this request alone.
   * Throws HermesError `fetch.bad_proxy` where the proxy that is named is none.
   */
  find(url: URL, pool?: 'shared' | 'own'): Route
}

// As long as Node's own: whoever sits between may have forgotten about an older one without a word.
const IDLE_MS = 5_000

/** What {@link createRoutes} gives goes through the proxy meant for each address. */
export function createRoutes(proxies: Proxies | null): Routes {
  const pools = new Map<string, Agent>()
  return {
    find: (url, pool) => {
      const proxy = proxyFor(url, proxies)
      if (proxy === null && pool !== 'own') return { proxy, ...(pool ? {} : { agent: false }) }
      if (!pool) return { proxy, agent: createAgent(url, proxy, { keepAlive: false }) }
      // The agent knows the proxy, and not every address has the same one.
      const key = [pool, url.protocol, proxy?.href].join(' ')
      const agent = pools.get(key) ?? createAgent(url, proxy, { keepAlive: true, timeout: IDLE_MS })
      pools.set(key, agent)
      return { proxy, agent }
    },
  }
}

/** What a request tells the agent that makes its connection. */
interface TunnelArgs extends ClientRequestArgs {
  readonly tunnelSignal?: AbortSignal
}

function createAgent({ protocol }: URL, proxy: URL | null, options: AgentOptions): Agent {
  const { Agent } = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http')
  if (proxy === null) return new Agent(options)
  const isTunnelled = protocol === 'https:' || proxy.protocol.startsWith('socks')
  if (!isTunnelled) return new Agent({ ...options, proxyEnv: { HTTP_PROXY: proxy.href } })
  const agent = new Agent(options)
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (wanted: TunnelArgs, done) => {
    const { lookup, tunnelSignal: signal } = wanted
    const open = async () => {
      const { openTunnel } = await import('./tunnel.js')
      const socket = await openTunnel(proxy, { host: wanted.host!, port: Number(wanted.port), lookup, signal })
      return protocol === 'https:' ? connect({ ...wanted, socket } as TunnelArgs)! : socket
    }
    open().then(
      (socket: Duplex) => done?.(null, socket),
      (error: Error) => done?.(error, null as never),
    )
    return undefined
  }
  return agent
}
