import { type AddressKind, ipv4Kind, ipv6Kind, isInRanges } from './ip-address.js'

/** Options of {@link checkUrl}. */
export interface CheckUrlOptions {
  /** Default `false`. */
  readonly allowLoopback?: boolean
  /** Private networks; cloud metadata addresses stay refused. Default `false`. */
  readonly allowPrivate?: boolean
  /** Addresses and ranges such as `198.18.0.0/15` that are reached like public ones; metadata addresses never. Default none. */
  readonly allowRanges?: readonly string[]
}

/** Whether a URL may be fetched. */
type UrlCheck = { readonly ok: true } | { readonly ok: false; readonly rule: string; readonly reason: string }

const METADATA_HOSTS = Object.freeze(['metadata.google.internal', 'metadata', 'metadata.goog', 'instance-data'])
const PRIVATE_SUFFIXES = Object.freeze(['.local', '.internal', '.lan', '.intranet', '.home.arpa', '.corp', '.home'])

/**
 * Checks a URL by its text alone: scheme, credentials, and hosts that are literal addresses in any spelling (decimal, octal, hex, IPv6
 * with an IPv4 inside) or names that only exist inside a network. A public name may still resolve to a private address.
 */
export function checkUrl(url: string, options: CheckUrlOptions = {}): UrlCheck {
  if (!URL.canParse(url)) return refuse('bad-url', 'it is not an absolute URL')
  const { protocol, username, password, hostname } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') {
    return refuse('url-scheme', `only http and https are fetched, not ${protocol.slice(0, -1)}`)
  }
  if (username !== '' || password !== '') return refuse('url-credentials', 'it carries a user name or password')
  const kind = reachedAs(hostname, options)
  switch (kind) {
    case 'public':
      return { ok: true }
    case 'metadata':
      return refuse('metadata-endpoint', 'it is the metadata service of a cloud, which hands out credentials')
    case 'loopback':
      return refuse('loopback', 'it points to this machine')
    case 'private':
      return refuse('private-network', 'it points into a private network')
    case 'reserved':
      return refuse('reserved-address', 'its address is reserved')
    default:
      return kind satisfies never
  }
}

/** What a host of a parsed URL is taken for where `options` open some places. */
export function reachedAs(hostname: string, options: CheckUrlOptions): AddressKind {
  const kind = hostKind(hostname)
  const { allowLoopback = false, allowPrivate = false, allowRanges = [] } = options
  if (kind === 'metadata' || kind === 'public') return kind
  if ((kind === 'loopback' && allowLoopback) || (kind === 'private' && allowPrivate)) return 'public'
  return allowRanges.length > 0 && isInRanges(hostname.replace(/^\[|\]$/g, ''), allowRanges) ? 'public' : kind
}

/** What kind of place a host of a parsed URL is: the parser has already turned odd spellings of addresses into plain ones. */
export function hostKind(hostname: string): AddressKind {
  const host = hostname.toLowerCase().replace(/\.$/, '')
  if (host.startsWith('[')) return ipv6Kind(host.slice(1, -1))
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return ipv4Kind(host)
  if (METADATA_HOSTS.includes(host)) return 'metadata'
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback'
  if (!host.includes('.') || PRIVATE_SUFFIXES.some((suffix) => host.endsWith(suffix))) return 'private'
  return 'public'
}

function refuse(rule: string, reason: string): UrlCheck {
  return { ok: false, rule, reason }
}
