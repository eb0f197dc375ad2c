// Every reason a call can fail for, what follows from it, and an answer of each wire that gives it: over HTTP, through the wire's SDK.
import { HermesError } from '@hermes/contracts'
import type { ErrorClass, ErrorReason, WireApi } from '@hermes/contracts/model'
import { type FaultStep, type ModelServer, startModelServer } from '@hermes/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClassifyContext, classifyError, createTransport, toTransportError } from './index.js'

/** What a server answers: a status, its words, and its code or type; or something that breaks off. */
type Answer = readonly [status: number, message: string, code?: string] | FaultStep

interface Meaning {
  /** What is true of it; all else is false. */
  readonly flags: readonly ('retryable' | 'shouldCompress' | 'shouldRotateCredential' | 'shouldFallback')[]
  readonly repair?: ErrorClass['repair']
  readonly answers: Partial<Record<WireApi, Answer>>
}

const broken = { fault: 'malformed', text: 'half', afterChunks: 2 } as const
const strange = { fault: 'error-event', type: 'brand_new', message: 'Hm', text: 'half' } as const
const everywhere = (answer: Answer): Record<WireApi, Answer> => ({
  'chat-completions': answer,
  'anthropic-messages': answer,
  responses: answer,
  'bedrock-converse': answer,
})

const MEANINGS: Readonly<Record<ErrorReason, Meaning>> = {
  'thinking-signature': {
    flags: ['shouldFallback'],
    repair: 'drop-reasoning',
    answers: {
      'chat-completions': [400, 'Provider returned error: Invalid `signature` in `thinking` block'],
      'anthropic-messages': [400, 'messages.1.content.0: Invalid `signature` in `thinking` block'],
      responses: [400, 'The encrypted content could not be verified.', 'invalid_encrypted_content'],
      'bedrock-converse': [400, 'messages.1: Invalid `signature` in `thinking` block', 'ValidationException'],
    },
  },
  'long-context-tier': {
    flags: ['shouldCompress'],
    answers: {
      'chat-completions': [429, 'Extra usage is required for long context requests.'],
      'anthropic-messages': [429, 'Extra usage is required for long context requests.', 'rate_limit_error'],
    },
  },
  'llama-cpp-grammar-pattern': {
    flags: ['shouldFallback'],
    repair: 'simplify-schemas',
    answers: {
      'chat-completions': [500, 'Failed to initialize samplers: failed to parse grammar', 'server_error'],
      'anthropic-messages': [400, 'JSON schema conversion failed: pattern must start with ^'],
      responses: [400, 'Unable to generate parser for this template'],
    },
  },
  auth: {
    flags: ['shouldRotateCredential', 'shouldFallback'],
    repair: 'refresh-credential',
    answers: {
      'chat-completions': [401, 'Incorrect API key provided.', 'invalid_api_key'],
      'anthropic-messages': [401, 'invalid x-api-key', 'authentication_error'],
      responses: [401, 'Incorrect API key provided.', 'invalid_api_key'],
      'bedrock-converse': [
        403,
        'The security token included in the request is invalid.',
        'UnrecognizedClientException',
      ],
    },
  },
  'auth-permanent': {
    flags: ['shouldRotateCredential', 'shouldFallback'],
    answers: {
      'chat-completions': [401, 'This API key has been revoked.'],
      'anthropic-messages': [401, 'This organization has been disabled.', 'authentication_error'],
      responses: [401, 'The account of this key was deactivated.'],
    },
  },
  billing: {
    flags: ['shouldRotateCredential', 'shouldFallback'],
    answers: {
      'chat-completions': [402, 'Insufficient credits.'],
      'anthropic-messages': [400, 'Your credit balance is too low to access the Anthropic API.'],
      responses: [429, 'You exceeded your current quota, check your plan.', 'insufficient_quota'],
      'bedrock-converse': [
        403,
        'Model access is denied due to INVALID_PAYMENT_INSTRUMENT: A valid payment instrument must be provided.',
        'AccessDeniedException',
      ],
    },
  },
  'rate-limit': {
    flags: ['retryable', 'shouldRotateCredential', 'shouldFallback'],
    answers: {
      'chat-completions': [402, 'Usage limit reached, try again in 5 minutes.'],
      'anthropic-messages': [429, 'This request would exceed the rate limit.', 'rate_limit_error'],
      responses: [429, 'Rate limit reached for requests.', 'rate_limit_exceeded'],
      'bedrock-converse': [429, 'Too many tokens, please wait before trying again.', 'ThrottlingException'],
    },
  },
  overloaded: {
    flags: ['retryable', 'shouldFallback'],
    answers: {
      'chat-completions': [503, 'The engine is currently busy.'],
      'anthropic-messages': [529, 'Overloaded', 'overloaded_error'],
      responses: [503, 'Our servers are overloaded.', 'server_is_overloaded'],
      'bedrock-converse': [503, 'The service is unavailable.', 'ServiceUnavailableException'],
    },
  },
  'server-error': {
    flags: ['retryable', 'shouldFallback'],
    answers: { ...everywhere([500, 'Oops']), 'chat-completions': [502, 'Bad gateway'] },
  },
  timeout: {
    flags: ['retryable', 'shouldFallback'],
    repair: 'rebuild-client',
    answers: {
      ...everywhere([504, 'Timed out']),
      'bedrock-converse': [408, 'The model took too long.', 'ModelTimeoutException'],
    },
  },
  connection: {
    flags: ['retryable', 'shouldFallback'],
    repair: 'rebuild-client',
    answers: everywhere({ fault: 'refuse' }),
  },
  'context-overflow': {
    flags: ['shouldCompress'],
    answers: {
      'chat-completions': [400, "This model's maximum context length is 8192 tokens.", 'context_length_exceeded'],
      'anthropic-messages': [400, 'prompt is too long: 210000 tokens > 200000 maximum'],
      responses: [400, 'Your input exceeds the context window of this model.', 'context_length_exceeded'],
      'bedrock-converse': [400, 'Input is too long for requested model.', 'ValidationException'],
    },
  },
  'payload-too-large': {
    flags: ['shouldCompress'],
    answers: {
      ...everywhere([413, 'Too large']),
      'anthropic-messages': [413, 'Request exceeds the maximum size', 'request_too_large'],
    },
  },
  'image-too-large': {
    flags: [],
    repair: 'shrink-images',
    answers: {
      'chat-completions': [400, 'The image is too large: at most 20 MB.'],
      'anthropic-messages': [400, 'messages.0.content.1.image: image exceeds 5 MB maximum'],
      responses: [400, 'Bad image.', 'image_too_large'],
      'bedrock-converse': [400, 'messages.0: image exceeds 5 MB maximum', 'ValidationException'],
    },
  },
  'model-not-found': {
    flags: ['shouldFallback'],
    answers: {
      'chat-completions': [404, 'The model `m` does not exist.', 'model_not_found'],
      'anthropic-messages': [404, 'model: m', 'not_found_error'],
      responses: [404, 'The model `m` does not exist.', 'model_not_found'],
      'bedrock-converse': [400, 'The provided model identifier is invalid.', 'ValidationException'],
    },
  },
  'provider-policy-blocked': {
    flags: [],
    answers: { 'chat-completions': [404, 'No endpoints found matching your data policy.'] },
  },
  'content-policy-blocked': {
    flags: ['shouldFallback'],
    answers: {
      'chat-completions': [403, 'Your input was flagged.'],
      'anthropic-messages': [400, 'Output blocked by content filtering policy'],
      responses: [400, 'No.', 'bio_policy'],
      'bedrock-converse': [400, 'Output blocked by content filtering policy', 'ValidationException'],
    },
  },
  'format-error': { flags: ['shouldFallback'], answers: everywhere([400, 'messages.3: field required']) },
  'malformed-response': { flags: ['retryable', 'shouldFallback'], answers: everywhere(broken) },
  unknown: { flags: ['retryable', 'shouldFallback'], answers: everywhere(strange) },
}

const ENDPOINTS: Readonly<Record<WireApi, (server: ModelServer) => { provider: string; baseUrl: string }>> = {
  'chat-completions': ({ baseUrl }) => ({ provider: 'custom', baseUrl }),
  'anthropic-messages': ({ anthropicBaseUrl: baseUrl }) => ({ provider: 'anthropic', baseUrl }),
  responses: ({ baseUrl }) => ({ provider: 'openai', baseUrl }),
  'bedrock-converse': ({ anthropicBaseUrl: baseUrl }) => ({ provider: 'bedrock', baseUrl }),
}

function toTurn(api: WireApi, answer: Answer): FaultStep {
  if (!Array.isArray(answer)) return answer as FaultStep
  const [status, message, code] = answer as readonly [number, string, string?]
  const error = { message, ...(code === undefined ? {} : { code }) }
  if (api === 'anthropic-messages') {
    const type = code ?? (status < 500 ? 'invalid_request_error' : 'api_error')
    return { fault: 'status', status, body: { type: 'error', error: { type, message } } }
  }
  if (api !== 'bedrock-converse') return { fault: 'status', status, body: { error } }
  const headers: Record<string, string> =
    code === undefined ? {} : { 'x-amzn-errortype': `${code}:http://internal.amazon.com/` }
  return { fault: 'status', status, body: { message }, headers }
}

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer()
})
afterAll(() => server.close())

async function failure(api: WireApi, answer: Answer): Promise<unknown> {
  server.enqueue(toTurn(api, answer))
  const { stream } = transportOn(api)
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] as const
  try {
    for await (const event of stream({ model: 'm', messages, tools: [] }, { credential: 'key' })) void event
  } catch (error) {
    return error
  }
  return null
}

function transportOn(api: WireApi) {
  const transport = createTransport({ ...ENDPOINTS[api](server), api })
  return { stream: transport.stream.bind(transport) }
}

const cells = Object.entries(MEANINGS).flatMap(([reason, { answers, ...meaning }]) =>
  Object.entries(answers).map(([api, answer]) => [reason as ErrorReason, api as WireApi, answer, meaning] as const),
)

describe('the reasons of failures', () => {
  it.each(cells)('%s, as %s says it, has its own code, flags and remedy', async (reason, api, answer, meaning) => {
    const error = await failure(api, answer)
    expect(HermesError.isInstance(error) && error.code).toBe(`transport.${reason.replaceAll('-', '_')}`)
    const { retryAfterMs: _, ...verdict } = classifyError(error)
    const has = (flag: (typeof meaning.flags)[number]) => meaning.flags.includes(flag)
    expect(verdict).toEqual({
      reason,
      retryable: has('retryable'),
      shouldCompress: has('shouldCompress'),
      shouldRotateCredential: has('shouldRotateCredential'),
      shouldFallback: has('shouldFallback'),
      ...(meaning.repair === undefined ? {} : { repair: meaning.repair }),
    })
  })
})

const refused = (status: number | undefined, error: object) =>
  Object.assign(new Error(`${status} failed`), { ...(status === undefined ? {} : { status }), error })
const network = (code: string, message = 'fetch failed') =>
  Object.assign(new Error('Connection error.'), { cause: new TypeError(message, { cause: { code } }) })
const full: ClassifyContext = { conversationTokens: 70, windowTokens: 100 }

/** Errors that two neighbouring stages read differently: the earlier one counts. */
const ORDER: readonly (readonly [stages: string, error: unknown, reason: ErrorReason])[] = [
  [
    'what single vendors say before a status',
    refused(429, { message: 'Invalid signature in thinking block' }),
    'thinking-signature',
  ],
  ['a status before a code', refused(402, { message: 'Pay first.', code: 'rate_limit_exceeded' }), 'billing'],
  ['a code before words', refused(undefined, { message: 'Too many requests', code: 'insufficient_quota' }), 'billing'],
  ['words before a TLS alert', refused(undefined, { message: 'Rate limit reached: SSL alert' }), 'rate-limit'],
  ['a TLS alert before a conversation that is too long', network('ECONNRESET', 'SSL alert number 80'), 'timeout'],
  ['a conversation that is too long before a lost connection', network('ECONNRESET'), 'context-overflow'],
  ['a lost connection before what nobody knows', network('ECONNREFUSED'), 'connection'],
  ['what nobody knows last', new Error('Hm'), 'unknown'],
]

describe('the order of the stages', () => {
  it.each(ORDER)('puts %s', (_stages, error, reason) => {
    expect(classifyError(error, full).reason).toBe(reason)
    const target = { provider: 'acme', baseUrl: 'https://api.acme.test/v1', model: 'm' }
    expect(toTransportError(error, target, full).code).toBe(`transport.${reason.replaceAll('-', '_')}`)
  })
})
