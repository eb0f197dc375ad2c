import { HermesError } from '@hermes/contracts'
import type { WireApi } from '@hermes/contracts/model'
import { findProvider, type ProviderQuirks } from './catalogue.js'
import { detectApi } from './detect-api.js'
import { shownAddress } from './transport-error.js'
import { credentialHeaders } from './wires/anthropic-messages/credential-headers.js'

/** For requests that do not go through the SDK, which brings its own. */
const API_VERSION = '2026-10-21'

/** One endpoint whose models are asked for. */
interface ListModelsOptions {
  readonly provider: string
  /** As for the transport. */
  readonly baseUrl: string
  readonly apiKey: string | null
  /** Default: judged by provider and address. */
  readonly api?: WireApi | undefined
  /** Sent with the request, after and above the provider's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** As for the transport. Default: those of the provider in the catalogue. */
  readonly quirks?: ProviderQuirks | undefined
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
  const request = modelListRequest(options)
  if (!request) throw noList(baseUrl, {})
  const response = await ask(request.url, { headers: request.headers, ...(signal ? { signal } : {}) })
  const body: unknown = response.ok ? await response.json().catch(() => null) : null
  const data = (body as { data?: unknown } | null)?.data
  if (!Array.isArray(data)) throw noList(baseUrl, { status: response.status })
  return data.flatMap((item: { id?: unknown }) => (typeof item?.id === 'string' ? [item.id] : [])).sort()
}

function noList(baseUrl: string, details: { readonly status?: number }): HermesError {
  return new HermesError(`${shownAddress(baseUrl)} does not list its models.`, {
    code: 'transport.no_model_list',
    details,
  })
}

/** Where and how an endpoint is asked for its models, or for `model` alone where it can be; `null` where it cannot be asked. */
export function modelListRequest(
  options: Omit<ListModelsOptions, 'fetch' | 'signal'> & { readonly model?: string },
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } | null {
  const { provider, baseUrl, apiKey, model } = options
  const { api = detectApi({ provider, baseUrl, model: model ?? '' }) } = options
  const quirks = { ...findProvider(provider)?.quirks, ...options.quirks }
  const base = baseUrl.replace(/\/+$/, '')
  // Some refuse whoever does not say what it is.
  const more = { 'user-agent': 'hermes', ...quirks.headers, ...options.headers }
  switch (api) {
    case 'bedrock-converse':
      // Bedrock lists models at another address, which takes signed requests only.
      return null
    case 'anthropic-messages': {
      const path = model === undefined ? '?limit=1000' : `/${encodeURIComponent(model)}`
      const credential = credentialHeaders(apiKey, quirks.credentialHeader)
      const headers = { 'anthropic-version': API_VERSION, ...more, ...credential }
      return { url: `${base.replace(/\/v1$/, '')}/v1/models${path}`, headers }
    }
    case 'chat-completions':
    case 'responses':
      return { url: `${base}/models`, headers: { ...more, ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) } }
    default:
      return api satisfies never
  }
}
