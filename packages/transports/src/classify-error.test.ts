import { HermesError } from '@hermes/contracts'
import type { ErrorClass } from '@hermes/contracts/model'
import { describe, expect, it } from 'vitest'
import { type ClassifyContext, classifyError, toTransportError } from './index.js'

const target = { provider: 'acme', baseUrl: 'https://api.acme.test/v1', model: 'm1' }

function answered(status: number, error: object | string = {}, headers: Record<string, string> = {}) {
  const body = typeof error === 'string' ? { message: error } : error
  return Object.assign(new Error(`${status} failed`), { status, error: body, headers: new Headers(headers) })
}

function network(code: string, message = 'fetch failed') {
  return Object.assign(new Error('Connection error.'), { cause: new TypeError(message, { cause: { code } }) })
}

describe('classifyError', () => {
  it.each<[string, unknown, Partial<ErrorClass>]>([
    ['401', answered(401), { reason: 'auth', retryable: false, shouldRotateCredential: true }],
    ['401 for a dead key', answered(401, 'This key has been revoked.'), { reason: 'auth-permanent' }],
    [
      '402',
      answered(402, 'Insufficient credits'),
      { reason: 'billing', retryable: false, shouldRotateCredential: true },
    ],
    [
      '402 that passes',
      answered(402, 'Usage limit reached, try again in 5 minutes'),
      { reason: 'rate-limit', retryable: true, retryAfterMs: 300_000 },
    ],
    ['403', answered(403), { reason: 'auth', retryable: false, shouldRotateCredential: true, shouldFallback: true }],
    [
      '403 by moderation',
      answered(403, 'Your input was flagged'),
      { reason: 'content-policy-blocked', shouldFallback: true },
    ],
    [
      '404 for a model',
      answered(404, 'The model `x` does not exist'),
      { reason: 'model-not-found', shouldFallback: true },
    ],
    ['404 by code', answered(404, { code: 'model_not_found' }), { reason: 'model-not-found' }],
    ['404 by ollama', answered(404, 'model "x" not found, try pulling it first'), { reason: 'model-not-found' }],
    [
      '404 by privacy settings',
      answered(404, 'No endpoints found matching your data policy'),
      { reason: 'provider-policy-blocked', shouldFallback: false },
    ],
    ['404 for a path', answered(404, '404 page not found'), { reason: 'format-error' }],
    ['408', answered(408), { reason: 'timeout', retryable: true }],
    ['413', answered(413), { reason: 'payload-too-large', retryable: false, shouldCompress: true }],
    ['429', answered(429), { reason: 'rate-limit', retryable: true, shouldRotateCredential: true }],
    ['429 without quota', answered(429, { code: 'insufficient_quota' }), { reason: 'billing', retryable: false }],
    [
      '429 for one large request',
      answered(429, 'Request too large for gpt: Limit 30000 tokens'),
      { reason: 'context-overflow', shouldCompress: true },
    ],
    [
      '429 by tier',
      answered(429, 'Extra usage is required for long context requests'),
      { reason: 'long-context-tier' },
    ],
    ['500', answered(500), { reason: 'server-error', retryable: true }],
    [
      '500 for context',
      answered(500, 'the request exceeds the available context size'),
      { reason: 'context-overflow', retryable: false },
    ],
    ['503', answered(503), { reason: 'overloaded', retryable: true }],
    ['504', answered(504), { reason: 'timeout' }],
    ['529', answered(529), { reason: 'overloaded' }],
    ['400', answered(400, 'Bad request'), { reason: 'format-error', retryable: false }],
    [
      '400 for context',
      answered(400, "This model's maximum context length is 8192 tokens"),
      { reason: 'context-overflow', shouldCompress: true },
    ],
    ['400 by context code', answered(400, { code: 'context_length_exceeded' }), { reason: 'context-overflow' }],
    [
      '400 for an image',
      answered(400, 'image exceeds 5 MB maximum'),
      { reason: 'image-too-large', repair: 'shrink-images' },
    ],
    ['400 for a key', answered(400, 'API key not valid.'), { reason: 'auth' }],
    [
      '400 for a parameter',
      answered(400, 'Unsupported parameter: temperature'),
      { reason: 'format-error', repair: 'strip-unsupported' },
    ],
    [
      '400 for a parameter of older models',
      answered(400, '`temperature` is deprecated for this model.'),
      { reason: 'format-error', repair: 'strip-unsupported' },
    ],
    [
      '400 for a signature',
      answered(400, 'Invalid signature in thinking block'),
      { reason: 'thinking-signature', repair: 'drop-reasoning' },
    ],
    [
      '400 for a grammar',
      answered(400, 'failed to parse grammar'),
      { reason: 'llama-cpp-grammar-pattern', repair: 'simplify-schemas' },
    ],
    ['a status inside a stream', { error: { code: 503, message: 'busy' } }, { reason: 'overloaded' }],
    ['nothing listening', network('ECONNREFUSED'), { reason: 'connection', retryable: true, repair: 'rebuild-client' }],
    ['an unknown host', network('ENOTFOUND'), { reason: 'connection' }],
    ['a reset', network('ECONNRESET'), { reason: 'connection' }],
    ['a timeout', network('UND_ERR_HEADERS_TIMEOUT'), { reason: 'timeout', retryable: true }],
    ['a TLS hiccup', new Error('SSL alert: bad record mac'), { reason: 'timeout', shouldCompress: false }],
    ['broken JSON', new SyntaxError('Unexpected end of JSON input'), { reason: 'malformed-response', retryable: true }],
    ['anything else', new Error('?'), { reason: 'unknown', retryable: true }],
    ['what is no error', 'words', { reason: 'unknown' }],
    [
      'a stalled stream',
      new HermesError('x', { code: 'transport.stalled', retryable: true }),
      { reason: 'timeout', retryable: true },
    ],
    [
      'a replay that differs',
      answered(409, { type: 'replay_mismatch', message: 'replay: …' }),
      { reason: 'format-error', retryable: false },
    ],
  ])('classifies %s', (_name, error, expected) => {
    expect(classifyError(error)).toMatchObject(expected)
  })

  it('gives the same class for an error it has classified before', () => {
    for (const status of [401, 402, 403, 404, 408, 413, 429, 500, 503])
      for (const message of ['try again in 2s', 'image too large', 'model not found', 'thinking signature']) {
        const raw = answered(status, message)
        expect(classifyError(toTransportError(raw, target))).toEqual(classifyError(raw))
      }
  })

  it('reads waits from headers in seconds, milliseconds and dates, and from words', () => {
    const nowMs = Date.parse('2026-01-01T00:00:00Z')
    const wait = (headers: Record<string, string>, message = '') =>
      classifyError(answered(429, message, headers), { nowMs }).retryAfterMs
    expect(wait({ 'retry-after': '3' })).toBe(3_000)
    expect(wait({ 'retry-after': '0.5' })).toBe(500)
    expect(wait({ 'retry-after': '9', 'retry-after-ms': '250' })).toBe(250)
    expect(wait({ 'retry-after': 'Thu, 01 Jan 2026 00:00:20 GMT' })).toBe(20_000)
    expect(wait({ 'retry-after': 'Thu, 01 Jan 2020 00:00:20 GMT' })).toBe(0)
    expect(wait({}, 'Please try again in 1.5s.')).toBe(1_500)
    expect(wait({}, 'retry in 40 ms')).toBe(40)
    expect(wait({}, 'Try again in 2 minutes')).toBe(120_000)
    expect(wait({ 'retry-after': 'soon' })).toBeUndefined()
  })

  it('takes a hang-up on a nearly full conversation for overflow, but not a TLS hiccup or a small one', () => {
    const full: ClassifyContext = { conversationTokens: 70, windowTokens: 100 }
    expect(classifyError(network('ECONNRESET'), full)).toMatchObject({
      reason: 'context-overflow',
      shouldCompress: true,
    })
    expect(classifyError(network('ECONNRESET'), { ...full, conversationTokens: 50 }).reason).toBe('connection')
    expect(classifyError(network('ECONNREFUSED'), full).reason).toBe('connection')
    expect(classifyError(network('ECONNRESET', 'SSL alert'), full).reason).toBe('timeout')
  })
})

describe('errors of Anthropic', () => {
  const anthropic = (type: string, message: string, details?: object) => ({
    type: 'error',
    error: { type, message, ...(details ? { details } : {}) },
    request_id: 'req_1',
  })
  const status = (code: number, body: object) => Object.assign(new Error(`${code}`), { status: code, error: body })

  it.each<[string, unknown, Partial<ErrorClass>]>([
    [
      'a balance that is used up',
      status(400, anthropic('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.')),
      { reason: 'billing', retryable: false, shouldFallback: true },
    ],
    [
      'a spend limit of the organisation',
      status(400, anthropic('invalid_request_error', 'You have reached your specified API usage limits.')),
      { reason: 'billing' },
    ],
    [
      'a spend limit by its code',
      status(429, anthropic('rate_limit_error', 'Try again later.', { error_code: 'enforced_spend_limit_reached' })),
      { reason: 'billing', retryable: false },
    ],
    ['an unknown model', status(404, anthropic('not_found_error', 'model: claude-9')), { reason: 'model-not-found' }],
    [
      'a conversation too long',
      status(400, anthropic('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum')),
      { reason: 'context-overflow', shouldCompress: true },
    ],
    [
      'a tier for long contexts',
      status(429, anthropic('rate_limit_error', 'Extra usage is required for long context requests.')),
      { reason: 'long-context-tier' },
    ],
    ['a body too large', status(413, anthropic('request_too_large', 'Too big')), { reason: 'payload-too-large' }],
    [
      'a signature that does not fit',
      status(400, anthropic('invalid_request_error', 'messages.1.content.0: Invalid `signature` in `thinking` block')),
      { reason: 'thinking-signature', repair: 'drop-reasoning' },
    ],
    [
      'the same from a reseller as a rate limit',
      status(429, anthropic('rate_limit_error', 'messages.1.content.0: Invalid `signature` in `thinking` block')),
      { reason: 'thinking-signature', retryable: false, repair: 'drop-reasoning' },
    ],
    [
      'thoughts that were changed',
      status(400, anthropic('invalid_request_error', '`thinking` blocks in the latest message cannot be modified.')),
      { repair: 'drop-reasoning' },
    ],
    [
      'a thought that is missing',
      status(
        400,
        anthropic('invalid_request_error', 'Expected `thinking` or `redacted_thinking`, but found `tool_use`'),
      ),
      { repair: 'drop-reasoning' },
    ],
    ['overload inside a stream', { error: anthropic('overloaded_error', 'Overloaded') }, { reason: 'overloaded' }],
    [
      'a failure inside a stream',
      { error: anthropic('api_error', 'Oops') },
      { reason: 'server-error', retryable: true },
    ],
    ['a rate limit inside a stream', { error: anthropic('rate_limit_error', 'Slow down') }, { reason: 'rate-limit' }],
  ])('classifies %s', (_name, error, expected) => {
    expect(classifyError(error)).toMatchObject(expected)
    expect(classifyError(toTransportError(error, target))).toEqual(classifyError(error))
  })

  it('keeps the id of the request', () => {
    const error = Object.assign(status(500, anthropic('api_error', 'Oops')), {
      headers: new Headers({ 'request-id': 'req_1' }),
    })
    expect(toTransportError(error, target).details).toMatchObject({ requestId: 'req_1' })
  })

  it('names the address that does not answer', () => {
    const error = status(404, anthropic('not_found_error', 'Not found'))
    expect(toTransportError(error, { ...target, path: '/v1/messages' }).message).toBe(
      'Nothing answers at https://api.acme.test/v1/v1/messages (404); check the base URL, to which /v1/messages is added.',
    )
  })
})

describe('toTransportError', () => {
  it('says in one line what was wrong', () => {
    const lines = [
      answered(401, 'Incorrect API key provided: sk-abcdefgh'),
      answered(429, 'Slow\n down', { 'retry-after': '2' }),
      answered(404, '404 page not found'),
      answered(404, 'no such model'),
      network('ENOTFOUND'),
    ].map((error) => toTransportError(error, target).message)
    expect(lines).toEqual([
      'acme refused the API key (401); check that it is complete and meant for https://api.acme.test/v1. It says: Incorrect API key provided: [key]',
      'acme limits how often it may be asked (429), next in 2 s: Slow down',
      'Nothing answers at https://api.acme.test/v1/chat/completions (404); check the base URL, which usually ends in /v1.',
      'acme has no model "m1" (404): no such model',
      'The host of https://api.acme.test/v1 cannot be found; check the address and the network.',
    ])
  })

  it('names the window outside the tier for long contexts, which a refusal of that tier does not', () => {
    const error = answered(429, 'Extra usage is required for long context requests.')
    expect(toTransportError(error, target).details).toMatchObject({ contextTokens: 200_000 })
  })

  it('names where a key is from that may not do this, and what the provider says; no variable of an endpoint that is any', () => {
    const text = (status: number, more: Partial<typeof target> & { readonly keySource?: string }) =>
      toTransportError(answered(status, 'No access for sk-abcdefgh.'), { ...target, ...more }).message
    expect(text(403, { provider: 'openai' })).toBe(
      'openai does not let this API key (OPENAI_API_KEY) use m1 (403); use another key or model. It says: No access for [key]',
    )
    expect(text(401, { provider: 'custom', keySource: 'MY_KEY' })).toContain(
      'https://api.acme.test/v1 (MY_KEY). It says',
    )
    expect(text(401, { provider: 'custom' })).toContain('meant for https://api.acme.test/v1. It says')
  })

  it('names the variable of a key that was refused, and what the provider says without the key', () => {
    const error = answered(401, 'Incorrect API key provided: sk-abcdefgh. Find yours at example.com.')
    expect(
      toTransportError(error, { ...target, provider: 'openai', baseUrl: 'https://api.openai.com/v1' }).message,
    ).toBe(
      'openai refused the API key (401); check that it is complete and meant for https://api.openai.com/v1 (OPENAI_API_KEY). It says: Incorrect API key provided: [key] Find yours at example.com.',
    )
  })

  it('never shows a key that the server echoed', () => {
    const message = 'bad request with my-private-value and sk-proj-abcdefgh123 and Bearer abc.def'
    const shown = toTransportError(answered(400, message), { ...target, credential: 'my-private-value' }).message
    expect(shown).toBe('acme did not accept the request (400): bad request with [key] and [key] and [key]')
  })

  it('passes on the words of a replay that differs', () => {
    const error = toTransportError(
      answered(409, { type: 'replay_mismatch', message: 'replay: request 2 differs' }),
      target,
    )
    expect(error).toMatchObject({
      code: 'transport.replay_mismatch',
      retryable: false,
      message: 'replay: request 2 differs',
    })
  })

  it('keeps an error that has a code already', () => {
    const error = new HermesError('x', { code: 'transport.stalled' })
    expect(toTransportError(error, target)).toBe(error)
  })
})

describe('reset headers', () => {
  const nowMs = Date.parse('2026-03-01T12:00:00Z')
  const limited = (headers: Record<string, string>) =>
    classifyError({ status: 429, headers, error: { message: 'Too many requests.' } }, { nowMs })

  it('say how long to wait where Retry-After does not', () => {
    const headers = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '7s' }
    expect(limited(headers)).toMatchObject({ reason: 'rate-limit', retryAfterMs: 7_000 })
    expect(limited({ ...headers, 'retry-after': '3' })).toMatchObject({ retryAfterMs: 3_000 })
  })

  it('are no reason to wait for a limit that is not used up', () => {
    const headers = { 'x-ratelimit-remaining-requests': '4', 'x-ratelimit-reset-requests': '7s' }
    expect(limited(headers).retryAfterMs).toBeUndefined()
  })
})
