import { errorLine } from '@hermes/contracts'
import { userText } from '@hermes/contracts/conversation'
import { createModelClient } from '@hermes/models'
import { createOriginFetch } from '@hermes/safety'
import type { Endpoint } from './endpoint.js'

const TIMEOUT_MS = 60_000

/**
 * Asks the model for one word, without another attempt. `null` when it answered, else one line that says what is wrong; an abort is
 * such a line too.
 */
export async function testCall(
  { provider, baseUrl, apiKey }: Pick<Endpoint, 'provider' | 'baseUrl' | 'apiKey'>,
  model: string,
  signal?: AbortSignal,
): Promise<string | null> {
  const options = { timeoutMs: TIMEOUT_MS, stallTimeoutMs: TIMEOUT_MS, maxRetries: 0 }
  const fetch = createOriginFetch({ baseUrl })
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
