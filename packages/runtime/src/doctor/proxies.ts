import type { Finding } from '@hermes/contracts/extension'
import { readProxies, withoutLogin } from '@hermes/safety'
import type { DoctorHome } from './finding.js'
import { fail, ok, warn } from './finding.js'

/** Which proxies requests go through; nothing where there are none. */
export function proxyFindings({ env }: Pick<DoctorHome, 'env'>): readonly Finding[] {
  const { proxies, problems, notes } = readProxies(env)
  if (proxies === null) return []
  if (problems.length > 0) return problems.map(fail)
  const { HTTPS_PROXY, HTTP_PROXY, NO_PROXY } = proxies
  const ways =
    HTTP_PROXY === HTTPS_PROXY
      ? `all requests go ${way(HTTPS_PROXY)}`
      : `https goes ${way(HTTPS_PROXY)}, http ${way(HTTP_PROXY)}`
  return [ok(`Proxy: ${ways}${NO_PROXY === undefined ? '' : `, but straight to ${NO_PROXY}`}`), ...notes.map(warn)]
}

const way = (address: string | undefined) => (address === undefined ? 'straight' : `through ${withoutLogin(address)}`)
