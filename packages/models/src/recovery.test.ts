import { HermesError } from '@hermes/contracts'
import { messageText, noUsage } from '@hermes/contracts/conversation'
import type { ModelRequest, Transport } from '@hermes/contracts/model'
import { createFakeClock, type FakeClock, type ModelServer, startModelServer } from '@hermes/testkit'
import jpeg from 'jpeg-js'
import { PNG } from 'pngjs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drive } from './__fixtures__/drive.js'
import { keyRing } from './__fixtures__/key-ring.js'
import { createModelClient, type ModelClientOptions } from './index.js'

let server: ModelServer
let other: ModelServer
let clock: FakeClock

beforeEach(async () => {
  ;[server, other] = await Promise.all([startModelServer(), startModelServer()])
  clock = createFakeClock()
})
afterEach(() => Promise.all([server.close(), other.close()]))

const hello = { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }], tools: [] } as const

function make(options: Partial<ModelClientOptions> = {}) {
  return createModelClient({
    provider: 'custom',
    model: 'm',
    baseUrl: server.baseUrl,
    clock,
    random: () => 0,
    ...options,
  })
}

const withFallback = (options: Partial<ModelClientOptions> = {}) =>
  make({ fallbacks: [{ provider: 'custom', name: 'spare', model: 'n', baseUrl: other.baseUrl }], ...options })

function ask(client = make(), request: Omit<ModelRequest, 'model'> = hello, turnId = 't1') {
  return drive(client.stream(request, { purpose: 'turn', turnId }), clock)
}

const keysSent = () => server.requests.map(({ headers }) => headers['authorization'])
const refusal = (status: number, message: string) =>
  ({ fault: 'status', status, body: { error: { message } } }) as const

describe('keys', () => {
  it('are changed at once when one is refused, and each outcome is reported', async () => {
    const credentials = keyRing(3, clock)
    server.enqueue({ fault: 'status', status: 429 }, refusal(402, 'Insufficient credits.'), { text: 'ok' })
    const { waits, finish } = await ask(make({ credentials }))
    expect(messageText(finish!.message)).toBe('ok')
    expect(keysSent()).toEqual(['Bearer secret-1', 'Bearer secret-2', 'Bearer secret-3'])
    expect(waits).toMatchObject([
      { delayMs: 0, reason: 'rate-limit', remedy: { type: 'rotate-credential' } },
      { delayMs: 0, reason: 'billing', remedy: { type: 'rotate-credential' } },
    ])
    expect(credentials.reports).toEqual([
      ['k1', 'failed'],
      ['k2', 'failed'],
      ['k3', 'accepted'],
    ])
  })

  it('are renewed once after a 401, and changed when that does not help', async () => {
    let renewals = 0
    const credentials = keyRing(2, clock, async ({ id }) => ({ id, secret: `renewed-${++renewals}` }))
    server.enqueue(refusal(401, 'Expired token.'), refusal(401, 'Expired token.'), { text: 'ok' })
    const { waits } = await ask(make({ credentials }))
    expect(keysSent()).toEqual(['Bearer secret-1', 'Bearer renewed-1', 'Bearer secret-2'])
    expect(waits.map(({ remedy }) => remedy?.type)).toEqual(['refresh-credential', 'rotate-credential'])
  })

  it('are renewed once each', async () => {
    const credentials = keyRing(2, clock, async ({ id }) => ({ id, secret: `renewed-${id}` }))
    const expired = refusal(401, 'Expired token.')
    server.enqueue(expired, expired, expired, { text: 'ok' })
    expect((await ask(make({ credentials }))).finish).not.toBeNull()
    expect(keysSent()).toEqual(['secret-1', 'renewed-k1', 'secret-2', 'renewed-k2'].map((key) => `Bearer ${key}`))
  })

  it('that all rest are waited for up to a minute', async () => {
    const credentials = keyRing(1, clock)
    server.enqueue({ fault: 'status', status: 429, retryAfterSeconds: 40 }, { text: 'ok' })
    const { waits, finish } = await ask(make({ credentials }))
    expect(waits.map(({ delayMs }) => delayMs)).toEqual([40_000])
    expect(messageText(finish!.message)).toBe('ok')
  })

  it('that all rest for longer end the call with the time they come back', async () => {
    const credentials = keyRing(2, clock)
    server.setHandler(() => ({ fault: 'status', status: 429, retryAfterSeconds: 3_600 }))
    await ask(make({ credentials }))
    const until = new Date(clock.now() + 3_600_000).toISOString()
    const { error } = await ask(make({ credentials }))
    expect(error).toMatchObject({ code: 'transport.rate_limit', message: expect.stringContaining(until) })
    expect(server.requests).toHaveLength(2)
  })

  it('of which none is any good end the call with the command that adds one', async () => {
    const credentials = keyRing(1, clock)
    server.enqueue(refusal(402, 'Insufficient credits.'))
    await ask(make({ credentials }))
    const { error } = await ask(make({ credentials }))
    expect(error).toMatchObject({ code: 'models.no_usable_key', message: expect.stringContaining('hermes auth add') })
  })
})

describe('a wait', () => {
  it('of minutes is told each minute, up to what the caller allows in all', async () => {
    server.enqueue({ fault: 'status', status: 429, retryAfterSeconds: 150 }, { text: 'ok' })
    const seen: number[] = []
    const stream = make({ maxWaitMs: 600_000 }).stream(hello, { purpose: 'turn' })
    const iterator = stream[Symbol.asyncIterator]()
    for (;;) {
      const next = iterator.next()
      if (seen.length > 0) {
        await clock.waitForSleepers()
        await clock.advance(60_000)
      }
      const { done, value } = await next
      if (done || value.type === 'finish' || value.type === 'text-delta') break
      if (value.type === 'retry-wait') seen.push(value.delayMs)
    }
    expect(seen).toEqual([150_000, 90_000, 30_000])
    server.setHandler(() => ({ fault: 'status', status: 429, retryAfterSeconds: 250 }))
    const { waits, error } = await ask(make({ maxWaitMs: 600_000 }))
    expect(waits.filter(({ delayMs }) => delayMs === 250_000)).toHaveLength(2)
    expect(error).toMatchObject({ code: 'transport.rate_limit' })
  })

  it('of minutes ends with an interrupt', async () => {
    server.setHandler(() => ({ fault: 'status', status: 429, retryAfterSeconds: 500 }))
    const controller = new AbortController()
    const { signal } = controller
    const iterator = make({ maxWaitMs: 600_000 }).stream(hello, { purpose: 'turn', signal })[Symbol.asyncIterator]()
    expect((await iterator.next()).value).toMatchObject({ type: 'retry-wait', delayMs: 500_000 })
    const next = iterator.next()
    next.catch(() => undefined)
    await clock.waitForSleepers()
    controller.abort()
    await expect(next).rejects.toMatchObject({ name: 'AbortError' })
  })

  it("for a server of one's own that is not running is short", async () => {
    await other.close()
    const { waits, error } = await ask(make({ baseUrl: other.baseUrl }))
    expect(waits.map(({ delayMs }) => delayMs)).toEqual([1_000])
    expect(error).toMatchObject({
      code: 'transport.connection',
      message: expect.stringContaining('is the server running?'),
    })
  })

  it.each([
    ['ENOTFOUND', [1_000]],
    ['EHOSTUNREACH', [5_000, 5_000]],
    ['ECONNREFUSED', [5_000, 5_000]],
  ])('for a host elsewhere that answers %s leaves within its patience', async (code, delays) => {
    const fetch = async () => {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })
    }
    const { waits } = await ask(make({ baseUrl: 'https://llm.example/v1', fetch }))
    expect(waits.map(({ delayMs }) => delayMs)).toEqual(delays)
  })
})

describe('a fallback', () => {
  it('answers the rest of the turn; the next turn goes back', async () => {
    const client = withFallback()
    server.enqueue(refusal(404, 'The model does not exist.'))
    other.enqueue({ text: 'one' }, { text: 'two' })
    const { waits } = await ask(client)
    expect(waits).toMatchObject([{ delayMs: 0, remedy: { type: 'fallback', provider: 'spare', model: 'n' } }])
    await ask(client)
    expect([server.requests.length, other.requests.length]).toEqual([1, 2])
    server.enqueue({ text: 'three' })
    const { finish } = await ask(client, hello, 't2')
    expect(messageText(finish!.message)).toBe('three')
  })

  it('is asked first as long as the first model has said that it cannot answer', async () => {
    const client = withFallback()
    server.enqueue({ fault: 'status', status: 429, retryAfterSeconds: 600 })
    other.enqueue({ text: 'one' }, { text: 'two' })
    await ask(client)
    await ask(client, hello, 't2')
    expect([server.requests.length, other.requests.length]).toEqual([1, 2])
    await clock.advance(600_000)
    server.enqueue({ text: 'three' })
    expect((await ask(client, hello, 't3')).finish).not.toBeNull()
    expect(server.requests).toHaveLength(2)
  })

  it('comes after one retry, and voids what was streamed', async () => {
    server.setHandler(() => ({ fault: 'cut', text: 'half' }))
    other.enqueue({ text: 'whole' })
    const { waits, finish } = await ask(withFallback())
    expect(waits.map(({ remedy, discard }) => [remedy?.type, discard])).toEqual([
      [undefined, true],
      ['fallback', true],
    ])
    expect(messageText(finish!.message)).toBe('whole')
  })

  it('is asked for its own model even when the request names one', async () => {
    server.enqueue(refusal(404, 'The model does not exist.'))
    other.enqueue({ text: 'ok' })
    await drive(withFallback().stream({ ...hello, model: 'named' }, { purpose: 'title' }), clock)
    expect(server.requests[0]!.body.model).toBe('named')
    expect(other.requests[0]!.body.model).toBe('n')
  })

  it('that fails too is named in the one error', async () => {
    server.setHandler(() => ({ fault: 'status', status: 500 }))
    other.setHandler(() => refusal(402, 'Insufficient credits.'))
    const { error } = await ask(withFallback())
    expect(error).toMatchObject({
      code: 'transport.billing',
      message:
        'Gave up after 3 attempts. The model server answered 500 (internal error): The scripted server answers with status 500. Then spare, asked for n: spare wants payment before it answers (402): Insufficient credits. Top up the account, or use another provider.',
      details: { attempts: 3, provider: 'spare', model: 'n' },
    })
  })

  it('that finds the conversation too long says so, and is asked first once it is shorter', async () => {
    const client = withFallback()
    server.setHandler(() => ({ fault: 'status', status: 500 }))
    other.enqueue(refusal(400, 'maximum context length is 8192 tokens'), { text: 'fits' })
    expect(client.nextEndpoint('t1')).toEqual({ provider: 'custom', model: 'm' })
    expect((await ask(client)).error).toMatchObject({
      code: 'transport.context_overflow',
      details: { provider: 'spare', model: 'n', contextTokens: 8_192 },
    })
    const requested = server.requests.length
    expect(client.nextEndpoint('t1')).toEqual({ provider: 'spare', model: 'n' })
    expect((await ask(client)).finish).not.toBeNull()
    expect(server.requests).toHaveLength(requested)
    expect(client.nextEndpoint('t2')).toEqual({ provider: 'custom', model: 'm' })
  })

  it('is called by its name in whatever it says', async () => {
    const answers = [
      refusal(401, 'Invalid API key.'),
      refusal(500, 'Oops'),
      refusal(404, 'The model `n` does not exist.'),
    ]
    for (const answer of answers) {
      other.setHandler(() => answer)
      const client = make({ name: 'lab', baseUrl: other.baseUrl, maxRetries: 0 })
      expect((await ask(client)).error).toMatchObject({ message: expect.stringMatching(/^lab /) })
    }
  })

  it('without its key is passed over for the next one', async () => {
    server.enqueue(refusal(404, 'The model does not exist.'))
    other.enqueue({ text: 'ok' })
    const fallbacks = [
      { provider: 'openrouter', model: 'x' },
      { provider: 'custom', model: 'n', baseUrl: other.baseUrl },
    ]
    expect((await ask(make({ fallbacks }))).finish).not.toBeNull()
  })
})

describe('repairs', () => {
  const stamp = { provider: 'p', endpoint: 'e', model: 'm' }
  const thoughtful: Omit<ModelRequest, 'model'> = {
    messages: [
      ...hello.messages,
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'A thought.', replay: { stamp, data: null } },
          { type: 'text', text: 'Yes.' },
        ],
      },
      ...hello.messages,
    ],
    tools: [
      {
        name: 'look',
        description: 'Looks.',
        parameters: {
          type: 'object',
          properties: { format: { type: 'string', format: 'uri', pattern: '^x' }, kind: { enum: ['pattern'] } },
        },
      },
    ],
  }

  it('are remembered for the endpoint, so that the next call is right at once', async () => {
    const client = make()
    server.enqueue(refusal(400, 'failed to parse grammar'), { text: 'one' }, { text: 'two' })
    const { waits } = await ask(client, thoughtful)
    expect(waits).toMatchObject([{ remedy: { type: 'repair', repair: 'simplify-schemas' } }])
    await ask(client, thoughtful)
    const schemas = server.requests.map(({ body }) => (body['tools'] as never[])[0]!['function']!['parameters'])
    const simple = { type: 'object', properties: { format: { type: 'string' }, kind: { enum: ['pattern'] } } }
    expect(schemas).toEqual([thoughtful.tools[0]!.parameters, simple, simple])
  })

  it('that do not help are made once and not remembered', async () => {
    const client = make()
    server.enqueue(refusal(400, 'failed to parse grammar'), refusal(400, 'failed to parse grammar'))
    expect((await ask(client, thoughtful)).error).toMatchObject({
      code: 'transport.llama_cpp_grammar_pattern',
    })
    server.enqueue({ text: 'ok' })
    await ask(client, thoughtful)
    expect(JSON.stringify(server.requests[2]!.body)).toContain('"pattern":"^x"')
  })

  it('make pictures smaller that are too large, and leave the text in place of those that stay too large', async () => {
    const png = PNG.sync.write(new PNG({ width: 3_136, height: 20 }))
    const image = { type: 'image', mediaType: 'image/png', data: png.toString('base64'), name: 'plan.png' } as const
    const request = {
      ...hello,
      messages: [{ role: 'user', content: [image, { type: 'text', text: 'Look.' }] }],
    } as const
    const tooLarge = refusal(400, 'image exceeds the maximum size')
    server.enqueue(tooLarge, tooLarge, { text: 'ok' })
    const { waits } = await ask(make(), request)
    expect(waits.map(({ remedy }) => remedy)).toEqual([
      { type: 'repair', repair: 'shrink-images' },
      { type: 'repair', repair: 'drop-images' },
    ])
    const [, second, third] = server.requests.map(({ body }) => JSON.stringify(body))
    const sent = /data:image\/jpeg;base64,([^"]+)/.exec(second!)![1]!
    expect(jpeg.decode(Buffer.from(sent, 'base64'))).toMatchObject({ width: 1_568, height: 10 })
    expect(third).toContain('The image plan.png was left out')
    expect(third).toContain('Look.')
  })

  it('take out thoughts that an endpoint refuses, and nothing else', async () => {
    server.enqueue(refusal(400, 'Invalid signature in thinking block'), { text: 'ok' })
    const client = make({ provider: 'anthropic', baseUrl: server.anthropicBaseUrl, model: 'claude-sonnet-4-5' })
    const { waits } = await ask(client, thoughtful)
    expect(waits).toMatchObject([{ remedy: { type: 'repair', repair: 'drop-reasoning' } }])
    expect(JSON.stringify(server.requests[1]!.body.messages)).not.toContain('A thought.')
    expect(JSON.stringify(server.requests[1]!.body.messages)).toContain('Yes.')
  })

  it('leave out settings that an endpoint does not know', async () => {
    server.enqueue(refusal(400, 'Unsupported parameter: temperature'), { text: 'ok' })
    await ask(make(), { ...hello, temperature: 1, maxOutputTokens: 5 })
    expect(Object.keys(server.requests[1]!.body)).not.toContain('temperature')
  })

  it('start from scratch once when a connection broke', async () => {
    let resets = 0
    const errors = [1, 2].map(() => new HermesError('broken', { code: 'transport.connection', retryable: true }))
    const transport: Transport = {
      api: 'chat-completions',
      stamp: () => stamp,
      reset: () => void resets++,
      async *stream() {
        const error = errors.pop()
        if (error) throw Object.assign(error, { details: { repair: 'rebuild-client' } })
        yield { type: 'finish', message: { role: 'assistant', content: [] }, usage: noUsage, stamp }
      },
    }
    expect((await ask(make({ transport }))).waits).toHaveLength(2)
    expect(resets).toBe(1)
  })
})

describe('limits', () => {
  const usedUp = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '9s' }
  const headersOf = (headers: Record<string, string>): typeof fetch => {
    return async (input, init) => {
      const response = await fetch(input, init)
      return new Response(response.body, {
        status: response.status,
        headers: { ...Object.fromEntries(response.headers), ...headers },
      })
    }
  }

  it('that are used up are waited for before the next call goes out', async () => {
    server.enqueue({ text: 'one' }, { text: 'two' })
    const client = make({ fetch: headersOf(usedUp) })
    expect((await ask(client)).waits).toEqual([])
    expect(client.limits()).toMatchObject([
      { provider: 'custom', model: 'm', credentialId: 'key', limits: [{ name: 'requests', remaining: 0 }] },
    ])
    const { waits, finish } = await ask(client)
    expect(waits).toMatchObject([{ delayMs: 9_000, reason: 'rate-limit', discard: false }])
    expect(finish).not.toBeNull()
    expect(server.requests).toHaveLength(2)
  })

  it('on tokens that the next call would exceed are waited for, unless cached ones do not count', async () => {
    const low = {
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': '100',
      'x-ratelimit-reset-tokens': '9s',
    }
    const long = {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(1_000) }] }],
      tools: [],
    } as const
    const waits = async (options: Partial<ModelClientOptions>, request: typeof long | typeof hello) => {
      server.enqueue({ text: 'one' }, { text: 'two' })
      const client = make({ fetch: headersOf(low), ...options })
      await ask(client)
      return (await ask(client, request)).waits
    }
    expect(await waits({}, long)).toMatchObject([{ delayMs: 9_000, reason: 'rate-limit' }])
    expect(await waits({}, hello)).toEqual([])
    expect(await waits({ provider: 'anthropic', baseUrl: server.anthropicBaseUrl }, long)).toEqual([])
  })

  it('that are said to last for hours are left to the server to enforce', async () => {
    server.enqueue({ text: 'one' }, { text: 'two' })
    const client = make({ fetch: headersOf({ ...usedUp, 'x-ratelimit-reset-requests': '2h' }) })
    await ask(client)
    expect((await ask(client)).waits).toEqual([])
    expect(server.requests).toHaveLength(2)
  })

  it('of one key send the next call out with another', async () => {
    server.enqueue({ text: 'one' }, { text: 'two' })
    const client = make({ fetch: headersOf(usedUp), credentials: keyRing(2, clock) })
    await ask(client)
    expect((await ask(client)).waits).toMatchObject([{ delayMs: 0, remedy: { type: 'rotate-credential' } }])
    expect(keysSent()).toEqual(['Bearer secret-1', 'Bearer secret-2'])
  })
})
