import { HermesError } from '@hermes/contracts'
import { isInRanges } from './ip-address.js'

/** Which proxy leads where, by the names that the environment has for them. */
export interface Proxies {
  /** `http:`, `https:`, `socks5:` (names are resolved here) or `socks5h:` and `socks:` (by the proxy). */
  readonly HTTP_PROXY?: string
  readonly HTTPS_PROXY?: string
  /** Hosts that are reached without one: names with all below them, addresses, `ADDRESS/BITS`, `*`, each with or without a port. */
  readonly NO_PROXY?: string
}

/** What the environment says about proxies, and what is wrong with it, a line each. */
interface ReadProxies {
  /** `null` when there is none. */
  readonly proxies: Proxies | null
  readonly problems: readonly string[]
  /** What works, but not as a person may think, a line each. */
  readonly notes: readonly string[]
}

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in lower case too; `ALL_PROXY` stands in for the first two. A value that is no address of
 * a proxy is a problem, and stays: requests that it is for fail, they do not go out without it. Pure.
 */
export function readProxies(env: Readonly<Record<string, string | undefined>>): ReadProxies {
  const problems = new Set<string>()
  const notes = new Set<string>()
  const find = (name: string) => (env[name.toLowerCase()] || env[name] || '').trim()
  const named = (variable: string) => {
    const from = find(variable) === '' ? 'ALL_PROXY' : variable
    const value = find(from)
    const address = value === '' || value.includes('://') ? value.replace(/\/+$/, '') : `http://${value}`
    const problem = address === '' ? null : problemOf(from, address)
    if (problem !== null) problems.add(problem)
    else if (/^socks5:/i.test(address)) notes.add(looksUpHere(from, address))
    return address === '' ? {} : { [variable]: address }
  }
  const found: Proxies = { ...named('HTTPS_PROXY'), ...named('HTTP_PROXY') }
  if (Object.keys(found).length === 0) return { proxies: null, problems: [], notes: [] }
  const NO_PROXY = find('NO_PROXY')
  const proxies = NO_PROXY === '' ? found : { ...found, NO_PROXY }
  return { proxies, problems: [...problems], notes: [...notes] }
}

function looksUpHere(name: string, address: string): string {
  const shown = withoutLogin(address)
  return `${name} is "${shown}": this machine looks the names of hosts up itself, past the proxy. For the proxy to do that: ${shown.replace(/^socks5:/i, 'socks5h:')}`
}

/** What is wrong with a proxy, for a person, without the login; `null` where nothing is. */
function problemOf(name: string, address: string): string | null {
  const shown = withoutLogin(address)
  if (!/^(?:https?|socks|socks5h?):\/\/[^/]/i.test(address) || !URL.canParse(address))
    return `${name} is "${shown}", which is no address of an HTTP or SOCKS5 proxy: nothing is sent that it is for. Correct it, or unset it to connect directly.`
  try {
    loginOf(new URL(address))
    return null
  } catch {
    return `The login in ${name} (for "${shown}") cannot be read, a percent sign is written %25: nothing is sent that the proxy is for.`
  }
}

/** User and password for a proxy, both empty where it wants none. @throws URIError where they are not encoded as in a URL. */
export function loginOf({ username, password }: URL): readonly string[] {
  return [username, password].map(decodeURIComponent)
}

/**
 * The proxy on the way to an address; `null` when none leads there, which is so for this machine always. Pure.
 * @throws HermesError `fetch.bad_proxy` when what is named is none.
 */
export function proxyFor(url: URL, proxies: Proxies | null): URL | null {
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const address = proxies?.[name]
  if (!proxies || address === undefined || isThisMachine(url.hostname) || isExempt(url, proxies.NO_PROXY)) return null
  const problem = problemOf(`${name} or ALL_PROXY`, address)
  if (problem !== null) throw new HermesError(problem, { code: 'fetch.bad_proxy' })
  return new URL(address)
}

function isExempt({ protocol, hostname, port }: URL, list = ''): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  const used = port || (protocol === 'https:' ? '443' : '80')
  return list.split(/[\s,]+/).some((entry) => {
    // More than one colon without brackets: an address of IPv6, not a port.
    const [, inner, plain, wanted = used] = /^(?:\[(.+)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? []
    const name = (inner ?? plain ?? entry).toLowerCase()
    if (name === '' || wanted !== used) return false
    // As curl does: a name stands for all below it, with a dot in front or without.
    const domain = name.replace(/^\./, '')
    const isBelow = /^\*\../.test(name)
      ? host.endsWith(name.slice(1))
      : !/^[\d.]+$/.test(host) && host.endsWith(`.${domain}`)
    return name === '*' || host === domain || isBelow || isInRanges(host, [name])
  })
}

/** An address of a proxy as people may see it, without user and password. */
export function withoutLogin(address: string): string {
  const host = address.indexOf('//') + 2
  const login = address.lastIndexOf('@')
  const shown = host > 1 && login >= host ? address.slice(0, host) + address.slice(login + 1) : address
  return shown.replace(/\/$/, '')
}

/** What went wrong with a proxy, in one line that names it. */
export function proxyError(proxy: URL, what: string, cause?: NodeJS.ErrnoException): Error {
  const message = `The proxy ${withoutLogin(proxy.href)} ${what}`
  return Object.assign(new Error(message, { cause }), { code: cause?.code ?? 'ERR_PROXY_TUNNEL' })
}

/** Whether a host is this machine, which no proxy leads to. */
export function isThisMachine(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/i.test(hostname)
}
