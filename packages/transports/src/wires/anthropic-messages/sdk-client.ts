import { BaseAnthropic } from '@anthropic-ai/sdk/client'
import { lendBody } from '../request-bytes.js'
import { credentialHeaders } from './credential-headers.js'
import type { WireRequest } from './wire-types.js'

// This module loads the SDK, so it is itself loaded on first use. Bundlers keep only what it names: no resource of the SDK is needed,
// and its `messages.create` writes advice about models to the console.

/** What an SDK client of this wire is made from. */
interface SdkClientOptions {
  readonly baseUrl: string
  readonly credential: string | null
  readonly credentialHeader?: 'x-api-key' | 'authorization' | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly fetch: typeof fetch | undefined
}

/** Without any credential the SDK would look for one on disk; this stands in its place and never leaves the process. */
const NO_KEY = 'none'

const BETA = 'anthropic-beta'
/** Answers at a higher speed. @see https://platform.claude.com/docs/build-with-claude/fast-mode */
const FAST_MODE = 'fast-mode-2026-02-01'

/** One request. */
interface SdkRequest {
  readonly body: WireRequest
  readonly conversation: object
  readonly controller: AbortController
}

/** What this wire wants of the SDK. */
export interface SdkClient {
  /** Sends one request of a conversation; see {@link lendBody}. Rejects with the SDK's error for a status that is none of success. */
  send(path: string, request: SdkRequest): Promise<Response>
}

/**
 * Makes a client that takes nothing from the environment: every option it would look up there is given, and the
 * headers that leave are ours and the SDK's version of the protocol, without those of `ANTHROPIC_CUSTOM_HEADERS`.
 */
export function createSdkClient(options: SdkClientOptions): SdkClient {
  const client = new BaseAnthropic({
    apiKey: options.credential || NO_KEY,
    authToken: null,
    webhookKey: null,
    baseURL: options.baseUrl,
    maxRetries: 0,
    timeout: options.timeoutMs,
    logLevel: 'off',
    openTelemetry: false,
    fetch: (url, init) => {
      const own = new Headers(init?.headers)
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'hermes',
        'anthropic-version': own.get('anthropic-version') ?? '',
        ...credentialHeaders(options.credential, options.credentialHeader),
        ...withBeta(options.headers, own.get(BETA)),
      }
      return (options.fetch ?? fetch)(url, { ...init, headers })
    },
  })
  return {
    send: async (path, { body, conversation, controller: { signal } }) => {
      const { bytes, giveBack } = lendBody(body, conversation)
      const headers = body.speed === 'fast' ? { [BETA]: FAST_MODE } : {}
      const call = { body: bytes, headers, stream: body.stream ?? false, signal }
      const response = await client.post(path, call).asResponse()
      giveBack()
      return response
    },
  }
}

/** The headers, with one more part of the protocol that is no standard yet. */
function withBeta(headers: SdkClientOptions['headers'], beta: string | null): SdkClientOptions['headers'] {
  if (beta === null) return headers
  const name = Object.keys(headers).find((one) => one.toLowerCase() === BETA) ?? BETA
  return { ...headers, [name]: [headers[name], beta].filter(Boolean).join(',') }
}
