import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  ConverseCommand,
  ConverseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime'
import { HermesError } from '@hermes/contracts'
import { type AwsCredential, parseAwsCredential, regionOf, secretsOf } from './aws-credential.js'
import { createFetchHandler, PlainResponse } from './fetch-handler.js'
import type { WireEvent, WireRequest } from './wire-types.js'

// This module loads the SDK, so it is itself loaded on first use.

/** What an SDK client of this wire is made from. */
interface SdkClientOptions {
  readonly baseUrl: string
  readonly credential: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly fetch: typeof fetch | undefined
}

/** A response of success: its events, or `null` and the text when it is no event stream. */
export interface SdkAnswer extends Pick<Response, 'headers' | 'text'> {
  readonly events: AsyncIterable<WireEvent> | null
}

/** The one thing this wire wants of the SDK. */
export interface SdkClient {
  /** Sends one request and does not send it again. Rejects with an error that `classifyError` understands. */
  send(input: WireRequest, streaming: boolean, controller: AbortController): Promise<SdkAnswer>
}

/**
 * Makes a client that takes nothing from the environment: every option it would look up there is given, except by the credential chain
 * when the credential asks for that. The SDK signs and frames; its headers about itself and its retries are left out.
 */
export function createSdkClient(options: SdkClientOptions): SdkClient {
  const { baseUrl, headers, timeoutMs } = options
  const credential = parseAwsCredential(options.credential)
  const client = new BedrockRuntimeClient({
    ...authOptions(credential),
    endpoint: baseUrl,
    region: regionOf(baseUrl),
    defaultsMode: 'standard',
    maxAttempts: 1,
    retryMode: 'standard',
    retryStrategy: { mode: 'standard', retry: (next, args) => next(args) },
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    userAgentAppId: async () => undefined,
    requestHandler: createFetchHandler({
      fetch: (url, init) => (options.fetch ?? fetch)(url, init),
      headers,
      timeoutMs,
      secrets: secretsOf(credential),
    }),
  })
  for (const name of ['getUserAgentMiddleware', 'recursionDetectionMiddleware']) client.middlewareStack.remove(name)
  return { send: (input, streaming, { signal }) => untilAborted(signal, send(client, input, { streaming, signal })) }
}

/** The SDK looks for credentials to the end, whatever the signal says. */
function untilAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  return Promise.race([work, aborted])
}

async function send(
  client: BedrockRuntimeClient,
  input: WireRequest,
  { streaming, signal }: { readonly streaming: boolean; readonly signal: AbortSignal },
): Promise<SdkAnswer> {
  const stream = new ConverseStreamCommand(input)
  let headers = new Headers()
  stream.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      headers = new Headers((result.response as { readonly headers: Record<string, string> }).headers)
      return result
    },
    { step: 'deserialize', priority: 'low', name: 'keepHeaders' },
  )
  try {
    if (!streaming) {
      await client.send(new ConverseCommand(input), { abortSignal: signal })
      throw new SyntaxError('The server streamed although it was not asked to.')
    }
    const { stream: events = null } = await client.send(stream, { abortSignal: signal })
    return { headers, events, text: async () => '' }
  } catch (error) {
    if (!(error instanceof PlainResponse)) throw withoutCredentials(error) ?? error
    const { response } = error
    return { headers: response.headers, events: null, text: () => response.text() }
  }
}

/** The error for a chain of credentials that led to none; `null` for another error. */
function withoutCredentials(error: unknown): HermesError | null {
  if (!(error instanceof Error) || error.name !== 'CredentialsProviderError') return null
  const text = error.message.split('\n')[0]?.replace(/\.?$/, '.')
  return new HermesError(
    `No AWS credentials: ${text} Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or sign in with the AWS CLI.`,
    { code: 'transport.auth', cause: error },
  )
}

/** Exactly one way to authorise, so that the SDK looks for no other. */
function authOptions(credential: AwsCredential): BedrockRuntimeClientConfig {
  switch (credential.type) {
    case 'bearer':
      return { token: { token: credential.token }, authSchemePreference: ['httpBearerAuth'] }
    case 'keys': {
      const { type: _, ...credentials } = credential
      return { credentials, authSchemePreference: ['sigv4'] }
    }
    case 'chain': {
      const { profile } = credential
      return { ...(profile === undefined ? {} : { profile }), authSchemePreference: ['sigv4'] }
    }
    case 'none': {
      const scheme = 'smithy.api#noAuth'
      return {
        httpAuthSchemeProvider: () => [{ schemeId: scheme }],
        httpAuthSchemes: [
          { schemeId: scheme, identityProvider: () => async () => ({}), signer: { sign: async (request) => request } },
        ],
      }
    }
    default:
      return credential satisfies never
  }
}
