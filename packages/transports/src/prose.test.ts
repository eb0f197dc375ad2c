import { readFileSync } from 'node:fs'
import { HermesError } from '@hermes/contracts'
import type { ErrorClass, ErrorReason } from '@hermes/contracts/model'
import { describe, expect, it } from 'vitest'
import { classifyError, toTransportError } from './index.js'

const target = { provider: 'acme', baseUrl: 'https://api.acme.test/v1', model: 'm1' }
const sdk = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  // What the SDK makes of a body: its `error` where there is one, and all of it as text where there is none.
  const inner = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  const text = (inner as { message?: string } | undefined)?.message ?? JSON.stringify(inner ?? body)
  return Object.assign(new Error(`${status} ${text}`), { status, error: inner, headers: new Headers(headers) })
}

type Row = [vendor: string, status: number, body: unknown, reason: ErrorReason, more?: Partial<ErrorClass>]

/** One error per line, as the vendors' documentation and users' reports have them. */
const ROWS = readFileSync(`${import.meta.dirname}/__fixtures__/vendor-errors.jsonl`, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Row)

describe('what vendors say', () => {
  it.each<Row>(ROWS)('%s with %i: %j is %s', (_vendor, status, body, reason, more = {}) => {
    const error = sdk(status, body)
    expect(classifyError(error)).toMatchObject({ reason, ...more })
    expect(classifyError(toTransportError(error, target))).toEqual(classifyError(error))
    expect(toTransportError(error, target).message).toMatch(/^[^\n]+$/)
  })

  it.each([
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
      128_000,
    ],
    ['prompt is too long: 210000 tokens > 200000 maximum', 200_000],
    ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
    ['input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease', 200_000],
    ['the model is loaded with context length of only 4096 tokens, which is not enough', 4_096],
    ['`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000', 4_096],
    ['Range of input length should be [1, 129024]', 129_024],
    ['Maximum context length is 32,768 tokens.', 32_768],
    ['prompt token count of 200000 exceeds the limit of 128000', 128_000],
    ['Your request exceeded model token limit: 131072', 131_072],
    ['prompt length 40000 exceeds maximum model length 32768', 32_768],
    ['The decoder prompt (length 5000) is longer than the maximum model length of 4096.', 4_096],
    ['slot context: 4096 tokens, prompt 5000 tokens, not enough space', 4_096],
    ["This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131_072],
    ["The input (9000 tokens) is longer than the model's context length (8192 tokens).", 8_192],
    ['the request exceeds the available context size (4096 tokens), try increasing it', 4_096],
    ['Trying to keep the first 5000 tokens to keep from the initial prompt', undefined],
    ['prompt too long; exceeded max context length by 12 tokens', undefined],
    ['输入文本超过最大长度限制', undefined],
    ['输入超过最大长度限制 32768', 32_768],
    // The code of the error, not a window.
    ['invalid params, context window exceeds limit (2013)', undefined],
    ['context length exceeded, error 2013', undefined],
    ['Input is too long for requested model.', undefined],
    ['maximum context length is 12', undefined],
  ])('finds in %j the window %j', (message, contextTokens) => {
    const error = toTransportError(sdk(400, { error: { message, code: 'context_length_exceeded' } }), target)
    expect(error.code).toBe('transport.context_overflow')
    expect(error.details['contextTokens']).toBe(contextTokens)
  })

  it('takes no code for a window', () => {
    const body = { error: { message: 'The context window is 2013: exceeds limit', code: 2013 } }
    expect(toTransportError(sdk(400, body), target)).toMatchObject({ code: 'transport.context_overflow' })
    expect(toTransportError(sdk(400, body), target).details['contextTokens']).toBeUndefined()
  })

  it('hears that a conversation is too long without a code', () => {
    const wordings = [
      'prompt length 40000 exceeds maximum model length 32768',
      'slot context is full: not enough space for the prompt',
      '超过最大长度限制',
      'Prompt 超长',
    ]
    const reasons = wordings.map((message) => classifyError(sdk(400, { error: { message } })).reason)
    expect(reasons).toEqual(wordings.map(() => 'context-overflow'))
  })

  it('knows limits of use that come without a status', () => {
    const reason = (message: string) => classifyError({ error: { message } }).reason
    expect(reason('You have hit your usage limit. Try again in 3 hours.')).toBe('rate-limit')
    expect(reason('Quota exceeded for this month. It resets on 1 December.')).toBe('rate-limit')
    expect(reason('The usage limit was reached.')).toBe('rate-limit')
    expect(reason('Your quota is used up.')).toBe('billing')
    expect(reason('This needs a paid plan.')).toBe('billing')
  })

  it('counts a code before words, and words before what the network layer says', () => {
    const stream = (body: object) => classifyError({ error: body }).reason
    expect(stream({ code: 'insufficient_quota', message: 'Too many requests' })).toBe('billing')
    expect(stream({ message: 'Rate limit reached, the connection was terminated' })).toBe('rate-limit')
    expect(stream({ code: 'weird', message: 'The request timed out' })).toBe('timeout')
    expect(classifyError(new Error('socket hang up')).reason).toBe('connection')
  })

  it('takes a bare refusal of a long conversation for one that is too long', () => {
    const bare = sdk(400, { error: { message: 'Bad request' } })
    expect(classifyError(bare, { conversationTokens: 45, windowTokens: 100 })).toMatchObject({ shouldCompress: true })
    expect(classifyError(bare, { conversationTokens: 30, windowTokens: 100 }).reason).toBe('format-error')
    const text = sdk(400, { error: { message: 'messages.3: field required', code: 'missing' } })
    expect(classifyError(text, { conversationTokens: 90, windowTokens: 100 }).reason).toBe('format-error')
  })

  const broken = (code: string, message = '') =>
    toTransportError(
      Object.assign(new Error('Connection error.'), {
        cause: new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) }),
      }),
      target,
    )

  it.each([
    [
      'ERR_PROXY_TUNNEL',
      'The proxy socks5://p:1 does not accept the login',
      'The proxy socks5://p:1 does not accept the login, which is on the way to https://api.acme.test/v1; check HTTPS_PROXY, ALL_PROXY and NO_PROXY.',
    ],
    [
      'ECONNREFUSED',
      'The proxy http://p:1 cannot be reached (ECONNREFUSED)',
      'The proxy http://p:1 cannot be reached (ECONNREFUSED), which is on the way to https://api.acme.test/v1; check HTTPS_PROXY, ALL_PROXY and NO_PROXY.',
    ],
    [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'self-signed certificate',
      'The certificate of https://api.acme.test/v1 is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); check the address, or name the authority that signed it in NODE_EXTRA_CA_CERTS.',
    ],
    [
      'ERR_TLS_CERT_ALTNAME_INVALID',
      "Hostname/IP does not match certificate's altnames",
      'The certificate of https://api.acme.test/v1 is not trusted (ERR_TLS_CERT_ALTNAME_INVALID); check the address, or name the authority that signed it in NODE_EXTRA_CA_CERTS.',
    ],
    [
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'A0:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number',
      'https://api.acme.test/v1 speaks no TLS; an address of http:// may be meant.',
    ],
    [
      'HPE_HEADER_OVERFLOW',
      'Parse Error: Header overflow',
      'https://api.acme.test/v1 answered with longer headers than are read (16 kB).',
    ],
  ])('says in one line what broke a connection: %s', (code, message, line) => {
    expect(broken(code, message)).toMatchObject({ code: 'transport.connection', message: line })
  })

  it('hands on what was refused on our side, however it is wrapped', () => {
    const refused = new HermesError('HTTPS_PROXY is no address.', { code: 'fetch.bad_proxy' })
    const wrapped = Object.assign(new Error('Connection error.'), { cause: refused })
    expect(toTransportError(wrapped, target)).toBe(refused)
  })
})
