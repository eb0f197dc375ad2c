import type { HermesConfig } from '@hermes/config'
import { createOriginFetch, type Proxies } from '@hermes/safety'
import type { ToolSettings } from '@hermes/tools'
import { networkOf } from './network-settings.js'

/** The ways of a home into the network, each for its own purpose. */
interface HomeNetwork {
  readonly proxies: Proxies | null
  /** To the origin of a configured address and nowhere else. */
  readonly fetchTo: (address: string) => typeof fetch
  /** For model calls: asking twice costs nothing that asking anew would not. */
  readonly fetchToModel: (address: string) => typeof fetch
  /** The hosts of a plugin are no choice of the person's: a name may not lead into their network. */
  readonly fetchAsPlugin: (address: string) => typeof fetch
  /** Anything of the public network. */
  readonly fetchBytes: NonNullable<ToolSettings['fetchBytes']>
}

export function openNetwork(config: HermesConfig, proxies: Proxies | null): HomeNetwork {
  const network = networkOf(config)
  return {
    proxies,
    fetchTo: (baseUrl) => createOriginFetch({ baseUrl, proxies }),
    fetchToModel: (baseUrl) => createOriginFetch({ baseUrl, proxies, repeatsPosts: true }),
    fetchAsPlugin: (baseUrl) => async (input, init) => {
      const { createPublicLookup } = await import('@hermes/safety/public-fetch')
      return createOriginFetch({ baseUrl, proxies, lookup: createPublicLookup({ network }) })(input, init)
    },
    fetchBytes: async (url, options) => {
      const { createPublicFetch } = await import('@hermes/safety/public-fetch')
      return createPublicFetch({ proxies, network })(url, options)
    },
  }
}
