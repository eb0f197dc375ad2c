import { OpenAI } from 'openai/client'
import { Stream } from 'openai/streaming'
import { requestBytes } from './request-bytes.js'

// This module loads the SDK, so it is itself loaded on first use.

/** What an SDK client is made from. */
export interface OpenAiClientOptions {
  readonly baseUrl: string
  readonly credential: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly fetch: typeof fetch | undefined
}

/** The SDK leaves it to the caller to say what bytes are. */
const JSON_TYPE = { 'content-type': 'application/json' }

/** The SDK refuses an empty key; without a credential this stands in its place and never leaves the process. */
const NO_KEY = 'none'

/** The two things that the wires of OpenAI want of the SDK. */
export interface OpenAiClient {
  /** Sends one request to `path` under the base URL. Rejects with the SDK's error for a status that is none of success. */
  send(path: string, body: object, controller: AbortController): Promise<Response>
  /** The events of a streamed response. Ends without a word when `controller` is aborted; aborts it when left early. */
  events<Event>(response: Response, controller: AbortController): AsyncIterable<Event>
}

/**
 * Makes a client that takes nothing from the environment: every option it would look up there is given, and the
 * headers that leave are ours alone, without its own or those of `OPENAI_CUSTOM_HEADERS`.
 */
export function createOpenAiClient(options: OpenAiClientOptions): OpenAiClient {
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'hermes',
    ...(options.credential === null ? {} : { authorization: `Bearer ${options.credential}` }),
    ...options.headers,
  }
  const client = new OpenAI({
    apiKey: options.credential || NO_KEY,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: options.baseUrl,
    maxRetries: 0,
    timeout: options.timeoutMs,
    logLevel: 'off',
    fetch: (url, init) => (options.fetch ?? fetch)(url, { ...init, headers }),
  })
  return {
    send: (path, body, { signal }) =>
      client
        .post(path, { body: requestBytes(body), headers: JSON_TYPE, stream: isStreaming(body), signal })
        .asResponse(),
    events: <Event>(response: Response, controller: AbortController) =>
      Stream.fromSSEResponse<Event>(response, controller, client),
  }
}

function isStreaming(body: object): boolean {
  return 'stream' in body && body.stream === true
}
