import type { WireApi } from '@hermes/contracts/model'

/** What decides which wire an endpoint speaks. */
export interface Endpoint {
  readonly provider: string
  readonly baseUrl: string
  readonly model: string
}

/**
 * The wire an endpoint speaks, judged by provider and address. GPT-5 models on OpenAI's own address speak `chat-completions` too and
 * are sent there, as long as Hermes has no `responses` wire to prefer.
 */
export function detectApi({ provider, baseUrl }: Endpoint): WireApi {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const host = url?.hostname ?? ''
  const path = url?.pathname.replace(/\/+$/, '') ?? ''
  if (provider === 'anthropic' || host === 'api.anthropic.com' || path.endsWith('/anthropic'))
    return 'anthropic-messages'
  if (provider === 'bedrock' || /^bedrock-runtime\..+\.amazonaws\.com$/.test(host)) return 'bedrock-converse'
  if (provider === 'openai-codex' || path.includes('/backend-api/codex')) return 'responses'
  return 'chat-completions'
}
