import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { HermesError } from '@hermes/contracts'
import { type CheckUrlOptions, hostKind, reachedAs } from './check-url.js'

/** How names are looked up. */
export interface Resolving {
  /** All addresses of a host. Default: the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly LookupAddress[]>
  /** Places beside public ones that names may lead to. Default: none. */
  readonly network?: CheckUrlOptions
}

/**
 * Where a name leads, looked up once, so that what was checked is what is connected to. A name that only a network knows leads no further than
 * into that network.
 * @throws HermesError `policy.address_refused` where a public name leads elsewhere.
 */
export async function checkedAddresses(
  hostname: string,
  { resolve = lookupAll, network = {} }: Resolving,
): Promise<readonly LookupAddress[]> {
  const addresses = await resolve(hostname)
  const judged = hostKind(hostname)
  const inside = addresses.find(({ address, family }) => {
    const kind = reachedAs(family === 6 ? `[${address}]` : address, network)
    return kind !== 'public' && (kind === 'metadata' || kind !== judged)
  })
  if (!inside) return addresses
  throw new HermesError(
    `${hostname} leads to ${inside.address}, which is not on the public network, so it is not read. If that is meant, add the address or its range to security.allowed_ranges in config.yaml.`,
    { code: 'policy.address_refused', details: { host: hostname } },
  )
}

/** Connects to these addresses, whatever the name. */
export function pinnedTo(addresses: readonly LookupAddress[]): LookupFunction {
  return (name, { all }, callback) => {
    const [first] = addresses
    if (!first) callback(new Error(`${name} has no address`), '')
    else if (all) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }
}

/** Whether the host of a parsed URL is an address. */
export const isAddress = (hostname: string): boolean => hostname.startsWith('[') || /^[\d.]+$/.test(hostname)

async function lookupAll(hostname: string): Promise<readonly LookupAddress[]> {
  const { lookup } = process.getBuiltinModule('node:dns/promises')
  return lookup(hostname, { all: true })
}
