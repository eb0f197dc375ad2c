import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai/error'
import { lendBody } from './request-bytes.js'

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

/** One request. */
interface OpenAiRequest {
  readonly body: object
  /** What stands for the conversation in it; see {@link lendBody}. */
  readonly conversation: object
  readonly controller: AbortController
}

/** What the wires of OpenAI want of it. */
export interface OpenAiClient {
  /**
   * Sends one request to `path` under the base URL. Rejects with the SDK's error for a status that is none of success, for a broken
   * connection and, having aborted the controller, when no headers come in time.
   */
  send(path: string, request: OpenAiRequest): Promise<Response>
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
  const post = (path: string, body: Buffer<ArrayBuffer>, { signal }: AbortController) =>
    (options.fetch ?? fetch)(baseUrl.replace(/\/$/, '') + path, { method: 'POST', headers, body, signal })
  return {
    send: async (path, { body, conversation, controller }) => {
      const { bytes, giveBack } = lendBody(body, conversation)
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        controller.abort()
      }, timeoutMs)
      const response = await post(path, bytes, controller)
        .catch((cause: unknown) => {
          throw isLate || isTimeout(cause)
            ? new APIConnectionTimeoutError()
            : new APIConnectionError({ cause: asError(cause) })
        })
        .finally(() => clearTimeout(timer))
      if (!response.ok) throw await statusError(response)
      // What a server refuses it may not have read to its end.
      giveBack()
      return response
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
