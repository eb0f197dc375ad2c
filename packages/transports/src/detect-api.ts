import type { WireApi } from '@hermes/contracts/model'
import { nameHas } from './catalogue/provider.js'
import { findProvider } from './catalogue.js'

/** What decides which wire an endpoint speaks. */
interface Endpoint {
  readonly provider: string
  readonly baseUrl: string
  /** Empty when it is not known yet. */
  readonly model: string
}

/** Models that OpenAI serves best on the `responses` wire: on that of chat completions they forget their thoughts between calls. */
const ON_RESPONSES = ['gpt-5', 'gpt-6', 'codex']

/**
 * The wire an endpoint speaks: as the catalogue says of the provider and its models, else judged by the address, and at OpenAI's own
 * by the model too.
 */
export function detectApi({ provider, baseUrl, model }: Endpoint): WireApi {
  const known = findProvider(provider)
  const served = known?.modelApis.find(({ models }) => nameHas(model, models))
  if (served) return served.api
  if (known && known.api !== 'chat-completions') return known.api
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const host = url?.hostname ?? ''
  const path = url?.pathname.replace(/\/+$/, '') ?? ''
  if (host === 'api.anthropic.com' || path.endsWith('/anthropic')) return 'anthropic-messages'
  if (host === 'api.kimi.com' && path === '/coding') return 'anthropic-messages'
  if (/^bedrock-runtime\..+\.amazonaws\.com$/.test(host)) return 'bedrock-converse'
  if (path.includes('/backend-api/codex')) return 'responses'
  if (/(?:^|\.)api\.openai\.com$/.test(host) && nameHas(model, ON_RESPONSES)) return 'responses'
  return 'chat-completions'
}
