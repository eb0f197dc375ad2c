import { createOriginFetch } from '@hermes/safety'
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

const LIST_TIMEOUT_MS = 10_000

/** The models there are at an endpoint, sorted; `null` when it does not say within ten seconds. */
export async function modelsAt(
  endpoint: Pick<Endpoint, 'provider' | 'baseUrl' | 'apiKey'>,
  timeoutMs = LIST_TIMEOUT_MS,
): Promise<readonly string[] | null> {
  const fetch = createOriginFetch({ baseUrl: endpoint.baseUrl })
  const models = await listModels({ ...endpoint, fetch, signal: AbortSignal.timeout(timeoutMs) }).catch(() => null)
  return models !== null && models.length === 0 ? null : models
}
