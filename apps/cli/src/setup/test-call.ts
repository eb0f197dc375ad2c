import type { Variables } from '@hermes/config'
import { errorLine } from '@hermes/contracts'
import { userText } from '@hermes/contracts/conversation'
import { createModelClient } from '@hermes/models'
import { type Endpoint, fetchTo } from './endpoint.js'

const TIMEOUT_MS = 60_000

/**
 * Asks the model for one word, without another attempt. `null` when it answered, else one line that says what is wrong; an abort is
 * such a line too.
 */
export async function testCall(
  { provider, baseUrl, apiKey }: Pick<Endpoint, 'provider' | 'baseUrl' | 'apiKey'>,
  model: string,
  { env, signal }: { readonly env: Variables; readonly signal?: AbortSignal },
): Promise<string | null> {
  const options = { timeoutMs: TIMEOUT_MS, stallTimeoutMs: TIMEOUT_MS, maxRetries: 0 }
  const fetch = fetchTo(baseUrl, env)
  try {
    const client = createModelClient({ provider, model, baseUrl, apiKey, fetch, ...options })
    const request = { messages: [userText('Answer with the one word: ready')], tools: [] }
    for await (const event of client.stream(request, { purpose: 'setup', ...(signal ? { signal } : {}) }))
      if (event.type === 'finish') return null
    return `${baseUrl} gave no answer.`
  } catch (error) {
    return errorLine(error)
  }
}
