import type { Variables } from '@hermes/config'
import { createOriginFetch, readProxies } from '@hermes/safety'
import { listModels } from '@hermes/transports'

/** Where a model is asked, before anybody has decided which. */
export interface Endpoint {
  /** An id of the provider catalogue. */
  readonly provider: string
  /** For people. */
  readonly name: string
  readonly baseUrl: string
  readonly apiKey: string | null
  /** The variable the key comes from, where that is not one of the provider's own. */
  readonly keyEnv: string | null
  /** Whether the key was typed and is kept nowhere yet. */
  readonly isNewKey: boolean
}

/** A `fetch` to one address, through the proxy that the environment names. */
export function fetchTo(baseUrl: string, env: Variables): typeof fetch {
  return createOriginFetch({ baseUrl, proxies: readProxies(env).proxies })
}

const LIST_TIMEOUT_MS = 10_000

/** The models there are at an endpoint, sorted; `null` when it does not say within ten seconds. */
export async function modelsAt(
  endpoint: Pick<Endpoint, 'provider' | 'baseUrl' | 'apiKey'>,
  { env, timeoutMs = LIST_TIMEOUT_MS }: { readonly env: Variables; readonly timeoutMs?: number },
): Promise<readonly string[] | null> {
  const fetch = fetchTo(endpoint.baseUrl, env)
  const models = await listModels({ ...endpoint, fetch, signal: AbortSignal.timeout(timeoutMs) }).catch(() => null)
  return models !== null && models.length === 0 ? null : models
}
