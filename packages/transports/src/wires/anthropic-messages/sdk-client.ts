import type { Anthropic } from '@anthropic-ai/sdk/client'
import { credentialHeaders } from './credential-headers.js'

/** What an SDK client of this wire is made from. */
export interface SdkClientOptions {
  readonly baseUrl: string
  readonly credential: string | null
  readonly credentialHeader: 'x-api-key' | 'authorization'
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly fetch: typeof fetch | undefined
}

/** Without any credential the SDK would look for one on disk; this stands in its place and never leaves the process. */
const NO_KEY = 'none'

/**
 * Loads the SDK and makes a client that takes nothing from the environment: every option it would look up there is given, and the
 * headers that leave are ours and the SDK's version of the protocol, without those of `ANTHROPIC_CUSTOM_HEADERS`.
 */
export async function createSdkClient(options: SdkClientOptions): Promise<Anthropic> {
  const { Anthropic } = await import('@anthropic-ai/sdk/client')
  return new Anthropic({
    apiKey: options.credential || NO_KEY,
    authToken: null,
    webhookKey: null,
    baseURL: options.baseUrl,
    maxRetries: 0,
    timeout: options.timeoutMs,
    logLevel: 'off',
    openTelemetry: false,
    fetch: (url, init) => {
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'hermes',
        'anthropic-version': new Headers(init?.headers).get('anthropic-version') ?? '',
        ...credentialHeaders(options.credential, options.credentialHeader),
        ...options.headers,
      }
      return (options.fetch ?? fetch)(url, { ...init, headers })
    },
  })
}
