import { HermesError } from '@hermes/contracts'

/** One endpoint whose models are asked for. */
export interface ListModelsOptions {
  /** Usually ends in `/v1`. */
  readonly baseUrl: string
  readonly apiKey: string | null
  readonly fetch: typeof fetch
  /** Aborting rejects with an `AbortError`. */
  readonly signal?: AbortSignal
}

/**
 * The ids of the models an OpenAI-compatible endpoint offers (`GET /models`), sorted.
 * @throws HermesError `transport.no_model_list` when the endpoint does not say.
 */
export async function listModels(options: ListModelsOptions): Promise<readonly string[]> {
  const { baseUrl, apiKey, fetch: ask, signal } = options
  const response = await ask(`${baseUrl.replace(/\/+$/, '')}/models`, {
    headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
    ...(signal ? { signal } : {}),
  })
  const body: unknown = response.ok ? await response.json().catch(() => null) : null
  const data = (body as { data?: unknown } | null)?.data
  if (!Array.isArray(data)) {
    throw new HermesError(`${baseUrl} does not list its models.`, {
      code: 'transport.no_model_list',
      details: { status: response.status },
    })
  }
  return data.flatMap((item: { id?: unknown }) => (typeof item?.id === 'string' ? [item.id] : [])).sort()
}
