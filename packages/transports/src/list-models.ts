import { HermesError } from '@hermes/contracts'
import type { WireApi } from '@hermes/contracts/model'
import { findProvider } from './catalogue.js'
import { detectApi } from './detect-api.js'
import { credentialHeaders } from './wires/anthropic-messages/credential-headers.js'

/** For requests that do not go through the SDK, which brings its own. */
const API_VERSION = '2026-10-21'

/** One endpoint whose models are asked for. */
export interface ListModelsOptions {
  readonly provider: string
  /** As for the transport. */
  readonly baseUrl: string
  readonly apiKey: string | null
  /** Default: judged by provider and address. */
  readonly api?: WireApi | undefined
  readonly fetch: typeof fetch
  /** Aborting rejects with an `AbortError`. */
  readonly signal?: AbortSignal
}

/**
 * The ids of the models an endpoint offers, sorted.
 * @throws HermesError `transport.no_model_list` when the endpoint does not say.
 */
export async function listModels(options: ListModelsOptions): Promise<readonly string[]> {
  const { baseUrl, fetch: ask, signal } = options
  const { provider, api = detectApi({ provider, baseUrl, model: '' }) } = options
  // Bedrock lists models at another address, which takes signed requests only.
  if (api === 'bedrock-converse') throw noList(baseUrl, {})
  const { url, headers } = request({ ...options, api })
  const response = await ask(url, { headers, ...(signal ? { signal } : {}) })
  const body: unknown = response.ok ? await response.json().catch(() => null) : null
  const data = (body as { data?: unknown } | null)?.data
  if (!Array.isArray(data)) throw noList(baseUrl, { status: response.status })
  return data.flatMap((item: { id?: unknown }) => (typeof item?.id === 'string' ? [item.id] : [])).sort()
}

function noList(baseUrl: string, details: { readonly status?: number }): HermesError {
  return new HermesError(`${baseUrl} does not list its models.`, { code: 'transport.no_model_list', details })
}

function request({ provider, baseUrl, apiKey, api }: ListModelsOptions) {
  const base = baseUrl.replace(/\/+$/, '')
  if (api !== 'anthropic-messages')
    return { url: `${base}/models`, headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {} }
  const keyHeader = findProvider(provider)?.quirks.credentialHeader
  const headers = { 'anthropic-version': API_VERSION, ...credentialHeaders(apiKey, keyHeader) }
  return { url: `${base.replace(/\/v1$/, '')}/v1/models?limit=1000`, headers }
}
