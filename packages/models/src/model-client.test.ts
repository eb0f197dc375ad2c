import { HermesError, type Logger, silentLogger } from '@hermes/contracts'
import { noUsage, type Usage } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelFinish, Transport } from '@hermes/contracts/model'
import { createFakeClock, type FakeClock, type ModelServer, type ModelStep, startModelServer } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createModelClient, type ModelClientOptions, type UsageEvent } from './index.js'

const request = { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }], tools: [] } as const

let server: ModelServer
let clock: FakeClock

beforeEach(async () => {
  server = await startModelServer()
  clock = createFakeClock()
})
afterEach(() => server.close())

function client(options: Partial<ModelClientOptions> = {}) {
  const { baseUrl } = server
  return createModelClient({ provider: 'custom', model: 'm', baseUrl, clock, random: () => 0, ...options })
}

/** Runs one call to its end, passing each wait at once. */
async function run(made = client(), signal?: AbortSignal): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  const iterator = made.stream(request, { purpose: 'turn', signal })[Symbol.asyncIterator]()
  for (;;) {
    const next = iterator.next()
    if (events.at(-1)?.type === 'retry-wait') {
      await clock.waitForSleepers()
      await clock.advance(clock.pending()[0] ?? 0)
    }
    const { done, value } = await next
    if (done) return events
    events.push(value)
  }
}

const types = (events: readonly ModelEvent[]) => events.map(({ type }) => type)

function failing(...errors: unknown[]): Transport {
  const stamp = () => ({ provider: 'p', endpoint: 'e', model: 'm' })
  return {
    api: 'chat-completions',
    stamp,
    async *stream() {
      if (errors.length > 0) throw errors.shift()
      yield { type: 'finish', message: { role: 'assistant', content: [] }, usage: noUsage, stamp: stamp() }
    },
  }
}

describe('createModelClient', () => {
  it('passes deltas on and ends with the finish', async () => {
    server.enqueue({ text: 'hello', reasoning: 'hm' })
    expect(types(await run())).toEqual(['reasoning-delta', 'text-delta', 'finish'])
    expect(server.requests[0]?.body.model).toBe('m')
  })

  it('asks the model a request names', async () => {
    server.enqueue({ text: 'hello' })
    const stream = client().stream({ ...request, model: 'other' }, { purpose: 'title' })
    for await (const event of stream) if (event.type === 'finish') expect(event.stamp.model).toBe('other')
    expect(server.requests[0]?.body.model).toBe('other')
  })

  it.each<[string, ModelStep, boolean, string]>([
    ['429', { fault: 'status', status: 429 }, false, 'rate-limit'],
    ['500', { fault: 'status', status: 500 }, false, 'server-error'],
    ['503', { fault: 'status', status: 503 }, false, 'overloaded'],
    ['529', { fault: 'status', status: 529 }, false, 'overloaded'],
    ['a cut stream', { fault: 'cut', text: 'half' }, true, 'connection'],
    ['a stream that ends early', { fault: 'cut', text: 'half', how: 'end' }, true, 'connection'],
    ['malformed JSON', { fault: 'malformed', text: 'half', afterChunks: 2 }, true, 'malformed-response'],
    ['a dropped connection', { fault: 'refuse' }, false, 'connection'],
  ])('tries again after %s and voids what was streamed', async (_name, fault, discard, reason) => {
    server.enqueue(fault, { text: 'whole' })
    const events = await run()
    const wait = events.find((event) => event.type === 'retry-wait')
    expect(wait).toMatchObject({ attempt: 1, delayMs: 5_000, discard, reason })
    expect((events.at(-1) as ModelFinish).message.content).toEqual([{ type: 'text', text: 'whole' }])
  })

  it.each([400, 401, 402, 403, 404, 413])('does not try again after %i', async (status) => {
    server.enqueue({ fault: 'status', status })
    await expect(run()).rejects.toMatchObject({ retryable: false, details: { status, attempts: 1 } })
    expect(server.requests).toHaveLength(1)
  })

  it('tries again after a stall', async () => {
    server.enqueue({ fault: 'stall', text: 'half', afterChunks: 2 }, { text: 'whole' })
    const iterator = client().stream(request, { purpose: 'turn' })[Symbol.asyncIterator]()
    expect((await iterator.next()).value).toMatchObject({ type: 'text-delta' })
    const waited = iterator.next()
    await clock.waitForSleepers()
    await clock.advance(180_000)
    expect((await waited).value).toMatchObject({ type: 'retry-wait', reason: 'timeout', discard: true })
    await iterator.return?.()
  })

  it('waits twice as long each time and gives up with one line that says so', async () => {
    const fault = { fault: 'status', status: 500 } as const
    server.enqueue(fault, fault, fault, fault)
    const delays: number[] = []
    const events = run(
      client({ logger: { ...silentLogger, warn: (_message, fields) => delays.push(fields?.['delayMs'] as number) } }),
    )
    await expect(events).rejects.toMatchObject({
      code: 'transport.server_error',
      message:
        'Gave up after 4 attempts. The model server answered 500 (internal error): The scripted server answers with status 500. Try again later, or use another model.',
      details: { attempts: 4, status: 500 },
    })
    expect(delays).toEqual([5_000, 10_000, 20_000])
    expect(server.requests).toHaveLength(4)
  })

  it('waits as long as the server asks, up to a minute', async () => {
    server.enqueue({ fault: 'status', status: 429, retryAfterSeconds: 60 }, { text: 'ok' })
    expect((await run())[0]).toMatchObject({ type: 'retry-wait', delayMs: 60_000 })
  })

  it('does not wait longer than a minute but says when to come back', async () => {
    server.enqueue({ fault: 'status', status: 429, retryAfterSeconds: 61 })
    const until = new Date(clock.now() + 61_000).toISOString()
    await expect(run()).rejects.toMatchObject({
      code: 'transport.rate_limit',
      message: expect.stringContaining(`It asks to wait until ${until}.`),
    })
    expect(server.requests).toHaveLength(1)
  })

  it('follows flags, not words', async () => {
    const final = new HermesError('please retry, rate limit', { code: 'transport.auth', retryable: false })
    await expect(run(client({ transport: failing(final) }))).rejects.toMatchObject({ code: 'transport.auth' })
    const passing = new HermesError('invalid key, do not retry', { code: 'transport.overloaded', retryable: true })
    expect(types(await run(client({ transport: failing(passing) })))).toEqual(['retry-wait', 'finish'])
  })

  it('stops at once on abort, during the answer and during the wait', async () => {
    server.enqueue({ fault: 'stall', text: 'half', afterChunks: 2 }, { fault: 'status', status: 500 })
    for (const type of ['text-delta', 'retry-wait']) {
      const abort = new AbortController()
      const iterator = client().stream(request, { purpose: 'turn', signal: abort.signal })[Symbol.asyncIterator]()
      expect((await iterator.next()).value).toMatchObject({ type })
      const next = expect(iterator.next()).rejects.toMatchObject({ name: 'AbortError' })
      abort.abort()
      await next
    }
    expect(server.requests).toHaveLength(2)
  })

  it('never tries again when the signal fired while the call failed', async () => {
    const abort = new AbortController()
    const transport: Transport = {
      ...failing(),
      // biome-ignore lint/correctness/useYield: a stream that only fails
      async *stream() {
        abort.abort()
        throw new HermesError('x', { code: 'transport.server_error', retryable: true })
      },
    }
    await expect(run(client({ transport }), abort.signal)).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('reports usage once per call, with purpose, time and cost', async () => {
    server.enqueue(
      { fault: 'status', status: 500 },
      { text: 'ok', usage: { inputTokens: 3_000, outputTokens: 500, cacheReadTokens: 1_000 } },
    )
    const seen: UsageEvent[] = []
    const prices = { inputPerMillion: 2, outputPerMillion: 8, cacheReadPerMillion: 0.5 }
    const finish = (await run(client({ prices, onUsage: (event) => seen.push(event) }))).at(-1) as ModelFinish
    const usage = {
      inputTokens: 3_000,
      outputTokens: 500,
      cacheReadTokens: 1_000,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      costUsd: 0.0085,
    }
    expect(finish.usage).toEqual(usage)
    const durationMs = 5_000
    const priceSource = 'given'
    const facts = { purpose: 'turn', provider: 'custom', model: 'm', usage, priceSource }
    expect(seen).toEqual([{ ...facts, atMs: clock.now(), durationMs }])
  })

  it('charges for an answer that broke off, by estimate and beside the one that came', async () => {
    server.enqueue({ fault: 'cut', text: 'half' }, { text: 'whole', usage: { inputTokens: 5, outputTokens: 1 } })
    const seen: UsageEvent[] = []
    const prices = { inputPerMillion: 1_000_000, outputPerMillion: 10_000_000 }
    const { usage } = (await run(client({ prices, onUsage: (event) => seen.push(event) }))).at(-1) as ModelFinish
    expect(usage).toMatchObject({ inputTokens: 5, outputTokens: 1, costUsd: 15 })
    // The message's four tokens and its one word; one token of what had come.
    expect(seen).toMatchObject([
      { purpose: 'turn', isEstimate: true, usage: { inputTokens: 5, outputTokens: 1, costUsd: 15 } },
      { usage },
    ])
    expect(seen[1]).not.toHaveProperty('isEstimate')
  })

  it.each(['abort', 'return'] as const)('charges for what had come before the %s', async (how) => {
    server.enqueue({ fault: 'stall', text: 'half', afterChunks: 2 })
    const seen: UsageEvent[] = []
    const abort = new AbortController()
    const made = client({ onUsage: (event) => seen.push(event) })
    const iterator = made.stream(request, { purpose: 'turn', signal: abort.signal })[Symbol.asyncIterator]()
    await iterator.next()
    if (how === 'abort') {
      const next = expect(iterator.next()).rejects.toMatchObject({ name: 'AbortError' })
      abort.abort()
      await next
    } else await iterator.return?.()
    expect(seen).toMatchObject([{ isEstimate: true, usage: { inputTokens: 5, outputTokens: 1 }, priceSource: null }])
  })

  it('looks prices up once per model, and does without when that fails', async () => {
    const requested: string[] = []
    const prices = async (model: string) => {
      requested.push(model)
      if (model === 'broken') throw new Error('no list')
      return { inputPerMillion: 1_000_000, outputPerMillion: 0, source: 'list of March' }
    }
    server.setHandler(() => ({ text: 'ok', usage: { inputTokens: 2 } }))
    const seen: UsageEvent[] = []
    const made = client({ prices, onUsage: (event) => seen.push(event) })
    await run(made)
    await run(made)
    await run(client({ model: 'broken', prices, onUsage: (event) => seen.push(event) }))
    expect(requested).toEqual(['m', 'broken'])
    expect(seen.map(({ usage, priceSource }) => [usage.costUsd, priceSource])).toEqual([
      [2, 'list of March'],
      [2, 'list of March'],
      ['unknown', null],
    ])
  })

  it('never invents a cost: reported, else nothing for a local provider, else unknown', async () => {
    const cost = async (options: Partial<ModelClientOptions>, costUsd?: number) => {
      server.enqueue({ text: 'ok', usage: { inputTokens: 1, ...(costUsd === undefined ? {} : { costUsd }) } })
      return ((await run(client(options))).at(-1) as ModelFinish).usage.costUsd
    }
    expect(await cost({ prices: { inputPerMillion: 9, outputPerMillion: 9 } }, 0.5)).toBe(0.5)
    expect(await cost({ provider: 'ollama' })).toBe(0)
    expect(await cost({})).toBe('unknown')
  })

  it('knows no price of an answer that was made at another service tier', async () => {
    const prices = { inputPerMillion: 9, outputPerMillion: 9 }
    const stamp = { provider: 'p', endpoint: 'e', model: 'm' }
    const message = { role: 'assistant', content: [{ type: 'text', text: 'ok' }], finishReason: 'stop' } as const
    const answer = async (usage: Usage) => {
      const finish = { type: 'finish', message, usage, stamp, isPricedApart: true } as const
      const transport: Transport = {
        api: 'chat-completions',
        stamp: () => stamp,
        stream: async function* () {
          yield finish
        },
      }
      return ((await run(client({ prices, transport }))).at(-1) as ModelFinish).usage.costUsd
    }
    expect(await answer({ ...noUsage, inputTokens: 5, costUsd: 'unknown' })).toBe('unknown')
    expect(await answer({ ...noUsage, inputTokens: 5, costUsd: 0.25 })).toBe(0.25)
  })

  it('counts what went into the cache at its own price', async () => {
    const usage = { inputTokens: 10_000, outputTokens: 100, cacheReadTokens: 6_000, cacheWriteTokens: 3_000 }
    server.enqueue({ text: 'ok', usage })
    const prices = { inputPerMillion: 2, outputPerMillion: 10, cacheReadPerMillion: 0.2, cacheWritePerMillion: 2.5 }
    const made = client({ provider: 'anthropic', baseUrl: server.anthropicBaseUrl, prices })
    const finish = (await run(made)).at(-1) as ModelFinish
    expect(finish.usage.costUsd).toBeCloseTo(0.002 + 0.0012 + 0.0075 + 0.001, 10)
  })

  it('logs an observer that throws and goes on', async () => {
    server.enqueue({ text: 'ok' })
    const logged: unknown[] = []
    const logger: Logger = { ...silentLogger, error: (message, fields) => logged.push([message, fields]) }
    const onUsage = () => {
      throw new Error('ledger full')
    }
    expect(types(await run(client({ logger, onUsage }))).at(-1)).toBe('finish')
    expect(logged).toEqual([['An observer of usage threw.', { error: 'ledger full' }]])
  })

  it('names the variable when a key is missing, before any network', async () => {
    const made = client({ provider: 'openai', baseUrl: undefined, fetch: () => Promise.reject(new Error('network')) })
    for (const apiKey of [null, '', undefined]) {
      const keyless = client({ provider: 'openai', baseUrl: undefined, apiKey })
      await expect(run(keyless)).rejects.toMatchObject({ code: 'models.no_key' })
    }
    await expect(run(made)).rejects.toThrow(
      'OpenAI needs an API key: set OPENAI_API_KEY, with `export OPENAI_API_KEY=…` or a line OPENAI_API_KEY=… in the .env file of the Hermes home.',
    )
  })

  it('demands no key for a server on this machine and sends the one it has', async () => {
    server.enqueue({ text: 'ok' }, { text: 'ok' })
    await run(client({ provider: 'openai' }))
    await run(client({ provider: 'openai', apiKey: 'k' }))
    expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual([undefined, 'Bearer k'])
  })

  it('names the known providers when one is unknown, and asks for an address where one is missing', () => {
    expect(() => client({ provider: 'opnai' })).toThrow(
      /^Unknown provider "opnai"\. Did you mean openai\? Known are: openai, openrouter, /,
    )
    expect(() => client({ baseUrl: undefined })).toThrow('The provider "custom" needs a base URL')
  })
})
