import type { OpenAiClient } from '../openai-client.js'
import type { WireOptions } from '../wire-options.js'
import type { Wire } from '../wire-transport.js'
import type { Refusals } from './exchange.js'
import type { WireEvent } from './wire-types.js'

const PATH = '/responses'

/** The OpenAI Responses wire to one endpoint. All but this much of it is loaded on first use. */
export function responses(options: WireOptions): Wire<OpenAiClient, Response, WireEvent> {
  const refusals: Refusals = { summaries: false }
  return {
    path: () => PATH,
    createClient: async (credential) =>
      (await import('../openai-client.js')).createOpenAiClient({ ...options, credential }),
    begin: async (request, stamp) =>
      (await import('./exchange.js')).beginExchange(request, {
        path: PATH,
        stamp,
        quirks: options.quirks,
        refusals,
      }),
  }
}
