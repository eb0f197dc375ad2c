/** Which proxy leads where, by the names that Node's agents take. */
export interface Proxies {
  readonly HTTP_PROXY?: string
  readonly HTTPS_PROXY?: string
  /** Hosts that are reached without one: names, `.domains`, addresses, ranges, `*`, each with or without a port. */
  readonly NO_PROXY?: string
}

/** What the environment says about proxies, and what is wrong with it, a line each. */
export interface ReadProxies {
  /** `null` when there is none. */
  readonly proxies: Proxies | null
  readonly problems: readonly string[]
}

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in lower case too; `ALL_PROXY` stands in for the first two. A value that is no
 * http or https address is left out; one of `ALL_PROXY` (often `socks5`) without a word, others are a problem. Pure.
 */
export function readProxies(env: Readonly<Record<string, string | undefined>>): ReadProxies {
  const problems: string[] = []
  const find = (name: string) => (env[name.toLowerCase()] || env[name] || '').trim()
  const address = (name: string) => {
    const value = toAddress(find(name))
    if (value === null)
      problems.push(
        `${name} is "${withoutLogin(find(name))}", which is no http or https address; no proxy is used for it.`,
      )
    return value || toAddress(find('ALL_PROXY')) || ''
  }
  const [HTTPS_PROXY, HTTP_PROXY, NO_PROXY] = [address('HTTPS_PROXY'), address('HTTP_PROXY'), find('NO_PROXY')]
  if (HTTPS_PROXY === '' && HTTP_PROXY === '') return { proxies: null, problems }
  return {
    proxies: {
      ...(HTTPS_PROXY === '' ? {} : { HTTPS_PROXY }),
      ...(HTTP_PROXY === '' ? {} : { HTTP_PROXY }),
      ...(NO_PROXY === '' ? {} : { NO_PROXY }),
    },
    problems,
  }
}

/** The address, with `http://` put before a bare host; empty for nothing, `null` for what is none. */
function toAddress(value: string): string | null {
  if (value === '') return ''
  const url = value.includes('://') ? value : `http://${value}`
  return /^https?:\/\/[^/]/i.test(url) && URL.canParse(url) ? url.replace(/\/+$/, '') : null
}

function withoutLogin(value: string): string {
  return value.replace(/\/\/[^@/]*@/, '//')
}

/** Whether a host is this machine, which no proxy leads to. */
export function isThisMachine(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/i.test(hostname)
}
