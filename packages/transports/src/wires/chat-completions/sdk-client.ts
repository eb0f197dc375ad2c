import { OpenAI } from 'openai/client'
import { Stream } from 'openai/streaming'
import type { WireRequest } from './wire-request.js'
import type { WireChunk } from './wire-types.js'

// This module loads the SDK, so it is itself loaded on first use.

/** What an SDK client of this wire is made from. */
export interface SdkClientOptions {
  readonly baseUrl: string
  readonly credential: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly fetch: typeof fetch | undefined
}

const PATH = '/chat/completions'

/** The SDK refuses an empty key; without a credential this stands in its place and never leaves the process. */
const NO_KEY = 'none'

/** The two things this wire wants of the SDK. */
export interface SdkClient {
  /** Sends one request. Rejects with the SDK's error for a status that is none of success. */
  send(body: WireRequest, controller: AbortController): Promise<Response>
  /** The chunks of a streamed response. Ends without a word when `controller` is aborted. */
  chunks(response: Response, controller: AbortController): AsyncIterable<WireChunk>
}

/**
 * Makes a client that takes nothing from the environment: every option it would look up there is given, and the
 * headers that leave are ours alone, without its own or those of `OPENAI_CUSTOM_HEADERS`.
 */
export function createSdkClient(options: SdkClientOptions): SdkClient {
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
    send: (body, { signal }) => client.post(PATH, { body, stream: body['stream'] === true, signal }).asResponse(),
    chunks: (response, controller) => Stream.fromSSEResponse<WireChunk>(response, controller, client),
  }
}
