import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai/error'
import { requestBytes } from './request-bytes.js'

// This module loads the errors of the SDK, so it is itself loaded on first use.

/** What a client is made from. */
interface OpenAiClientOptions {
  readonly baseUrl: string
  readonly credential: string | null
  readonly headers: Readonly<Record<string, string>>
  /** How long the headers of an answer may take. */
  readonly timeoutMs: number
  readonly fetch: typeof fetch | undefined
}

/** What the wires of OpenAI want of it. */
export interface OpenAiClient {
  /**
   * Sends one request to `path` under the base URL. Rejects with the SDK's error for a status that is none of success, for a broken
   * connection and, having aborted `controller`, when no headers come in time.
   */
  send(path: string, body: object, controller: AbortController): Promise<Response>
}

/**
 * Makes a client that takes nothing from the environment. The SDK tells errors apart; its request pipeline, made for retries and
 * credentials of which nothing is used here, would cost each call more than the rest of the call together.
 */
export function createOpenAiClient(options: OpenAiClientOptions): OpenAiClient {
  const { baseUrl, timeoutMs } = options
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'hermes',
    ...(options.credential === null ? {} : { authorization: `Bearer ${options.credential}` }),
    ...options.headers,
  }
  const post = (path: string, body: object, { signal }: AbortController) => {
    const init = { method: 'POST', headers, body: requestBytes(body), signal }
    return (options.fetch ?? fetch)(baseUrl.replace(/\/$/, '') + path, init)
  }
  return {
    send: async (path, body, controller) => {
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        controller.abort()
      }, timeoutMs)
      const response = await post(path, body, controller)
        .catch((cause: unknown) => {
          throw isLate || isTimeout(cause)
            ? new APIConnectionTimeoutError()
            : new APIConnectionError({ cause: asError(cause) })
        })
        .finally(() => clearTimeout(timer))
      if (response.ok) return response
      throw await statusError(response)
    },
  }
}

/** A refusal, with the body as the SDK takes it: as JSON where it is that, else as text. */
async function statusError(response: Response): Promise<Error> {
  const { status, headers } = response
  const text = await response.text().catch((error: unknown) => asError(error).message)
  try {
    return APIError.generate(status, JSON.parse(text), undefined, headers)
  } catch {
    return APIError.generate(status, undefined, text, headers)
  }
}

function isTimeout(error: unknown): boolean {
  const { cause } = asError(error)
  return /timed? ?out/i.test(`${String(error)} ${cause === undefined ? '' : String(cause)}`)
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
