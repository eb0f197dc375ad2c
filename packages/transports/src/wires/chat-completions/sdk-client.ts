import type { OpenAI } from 'openai/client'

/** What an SDK client of this wire is made from. */
export interface SdkClientOptions {
  readonly baseUrl: string
  readonly credential: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly fetch: typeof fetch | undefined
}

/** The SDK refuses an empty key; without a credential this stands in its place and never leaves the process. */
const NO_KEY = 'none'

/**
 * Loads the SDK and makes a client that takes nothing from the environment: every option it would look up there is given, and the
 * headers that leave are ours alone, without its own or those of `OPENAI_CUSTOM_HEADERS`.
 */
export async function createSdkClient(options: SdkClientOptions): Promise<OpenAI> {
  const { OpenAI } = await import('openai/client')
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'hermes',
    ...(options.credential === null ? {} : { authorization: `Bearer ${options.credential}` }),
    ...options.headers,
  }
  return new OpenAI({
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
}
