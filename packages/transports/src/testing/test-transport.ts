import type { Clock } from '@hermes/contracts'
import type { ModelEvent, ModelFinish, ModelRequest } from '@hermes/contracts/model'
import { afterEach, describe, expect, it } from 'vitest'
import { classifyError } from '../classify-error.js'
import type { SuiteAnswer, SuiteFault, SuiteServer, TransportSuite } from './suite-server.js'

const ARGS = { path: 'a "b"\n\u00e9\ud83d\ude00', lines: [1, 2], deep: { flag: true } }
const STALL_MS = 1_000

const request: ModelRequest = {
  model: 'suite-model',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  tools: [{ name: 'read', description: 'Reads.', parameters: { type: 'object', properties: {} } }],
}

/** Registers, with vitest, the tests that each wire has to pass. Needs `vitest` installed beside this package. */
export function testTransport(suite: TransportSuite): void {
  describe(suite.name, () => {
    let server: SuiteServer | undefined
    afterEach(async () => {
      await server?.close()
      server = undefined
    })
    const open = async (
      script: readonly (SuiteAnswer | SuiteFault)[],
      options: { signal?: AbortSignal; clock?: Clock } = {},
    ) => {
      server = await suite.serve(script)
      const transport = suite.create(server.baseUrl, { clock: options.clock, stallTimeoutMs: STALL_MS })
      const ask = () => transport.stream(request, { credential: 'key', signal: options.signal })
      return { transport, ask, requests: server.requests }
    }
    answers(open, suite.countsReasoning ?? true)
    faults(open)
    aborts(open)
  })
}

type Open = (
  script: readonly (SuiteAnswer | SuiteFault)[],
  options?: { signal?: AbortSignal; clock?: Clock },
) => Promise<{
  readonly transport: ReturnType<TransportSuite['create']>
  readonly ask: () => AsyncIterable<ModelEvent>
  readonly requests: SuiteServer['requests']
}>

function answers(open: Open, countsReasoning: boolean): void {
  it('streams text and ends with one complete message, stamped', async () => {
    const { ask, transport } = await open([{ text: 'Hello, world.', chunkSize: 4 }])
    const events = await collect(ask())
    expect(joined(events, 'text-delta')).toBe('Hello, world.')
    expect(events.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(1)
    const finish = finishOf(events)
    const content = [{ type: 'text', text: 'Hello, world.' }]
    expect(finish.message).toEqual({ role: 'assistant', content, finishReason: 'stop' })
    expect(finish.stamp).toEqual(transport.stamp(request.model))
  })

  it('tells the headers of an answer before its first event', async () => {
    const { transport } = await open([{ text: 'Hello.' }])
    const seen: unknown[] = []
    const onHeaders = (headers: Readonly<Record<string, string>>) => seen.push(headers)
    for await (const event of transport.stream(request, { credential: 'key', onHeaders })) seen.push(event)
    expect(seen[0]).toHaveProperty('content-type')
    expect(seen.slice(1)).not.toContainEqual(seen[0])
  })

  it('streams reasoning apart from text', async () => {
    const { ask } = await open([{ reasoning: 'Let me see.', text: 'Yes.', chunkSize: 3 }])
    const events = await collect(ask())
    expect(joined(events, 'reasoning-delta')).toBe('Let me see.')
    expect(finishOf(events).message.content).toMatchObject([
      { type: 'reasoning', text: 'Let me see.' },
      { type: 'text', text: 'Yes.' },
    ])
  })

  it('puts a tool call together wherever its pieces are split', async () => {
    const rawArgs = JSON.stringify(ARGS)
    const sizes = Array.from(rawArgs, (_, index) => index + 1)
    const script = sizes.map((chunkSize) => ({ toolCalls: [{ id: 'c', name: 'read', args: ARGS }], chunkSize }))
    const { ask } = await open(script)
    for (const _ of sizes) {
      const events = await collect(ask())
      const deltas = events.filter((event) => event.type === 'tool-call-delta')
      expect(deltas.map(({ argsText = '' }) => argsText).join('')).toBe(rawArgs)
      expect(finishOf(events).message).toEqual({
        role: 'assistant',
        content: [{ type: 'tool-call', id: 'c', name: 'read', args: ARGS, rawArgs }],
        finishReason: 'tool-calls',
      })
    }
  })

  it('keeps parallel calls apart and in order', async () => {
    const toolCalls = [
      { id: 'a', name: 'read', args: { n: 1 } },
      { id: 'b', name: 'read', args: { n: 2 } },
    ]
    const { ask } = await open([{ text: 'Both.', toolCalls, chunkSize: 2 }])
    const events = await collect(ask())
    expect(finishOf(events).message.content.slice(1)).toMatchObject(toolCalls)
    const indexes = events.filter((event) => event.type === 'tool-call-delta').map(({ index }) => index)
    expect(new Set(indexes)).toEqual(new Set([0, 1]))
  })

  it('reports tokens, cached ones within the input', async () => {
    const reasoningTokens = countsReasoning ? 5 : 0
    const usage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 60, reasoningTokens }
    const { ask } = await open([{ text: 'ok', usage }])
    expect(finishOf(await collect(ask())).usage).toMatchObject(usage)
  })

  it('gives one finish and no deltas when the server cannot stream', async () => {
    const { ask } = await open([{ fault: 'no-stream', text: 'whole', toolCalls: [{ name: 'read', args: {} }] }])
    const events = await collect(ask())
    expect(events.map(({ type }) => type)).toEqual(['finish'])
    expect(finishOf(events).message.content).toMatchObject([
      { type: 'text', text: 'whole' },
      { type: 'tool-call', name: 'read', args: {} },
    ])
  })
}

function faults(open: Open): void {
  it.each<[string, SuiteFault, string, boolean]>([
    ['401', { fault: 'status', status: 401 }, 'auth', false],
    ['402', { fault: 'status', status: 402 }, 'billing', false],
    ['429', { fault: 'status', status: 429 }, 'rate-limit', true],
    ['500', { fault: 'status', status: 500 }, 'server-error', true],
    ['503', { fault: 'status', status: 503 }, 'overloaded', true],
    ['529', { fault: 'status', status: 529 }, 'overloaded', true],
    ['a dropped connection', { fault: 'refuse' }, 'connection', true],
    ['a cut stream', { fault: 'cut', text: 'half' }, 'connection', true],
    ['malformed JSON', { fault: 'malformed', text: 'half' }, 'malformed-response', true],
  ])('rejects after %s with a classified error and does not try again', async (_name, fault, reason, retryable) => {
    const { ask, requests } = await open([fault, { text: 'never asked for' }])
    const error = await failure(ask())
    expect(error).toMatchObject({ code: expect.stringMatching(/^transport\./), retryable })
    expect(classifyError(error)).toMatchObject({ reason, retryable })
    expect(requests).toHaveLength(1)
  })

  it('passes on how long the server asks to wait', async () => {
    const { ask } = await open([{ fault: 'status', status: 429, retryAfterSeconds: 7 }])
    expect(classifyError(await failure(ask())).retryAfterMs).toBe(7_000)
  })

  it('gives up a stream that stalls and closes its connection', async () => {
    const clock = steppedClock()
    const { ask, requests } = await open([{ fault: 'stall', text: 'half', afterChunks: 2 }], { clock })
    const iterator = ask()[Symbol.asyncIterator]()
    await iterator.next()
    const stalled = expect(iterator.next()).rejects.toMatchObject({ code: 'transport.stalled', retryable: true })
    clock.pass(STALL_MS)
    await stalled
    expect(await requests[0]?.ended).toBe('closed')
  })
}

function aborts(open: Open): void {
  it('ends the request with an AbortError when the signal fires', async () => {
    const abort = new AbortController()
    const script: SuiteFault[] = [{ fault: 'stall', text: 'half', afterChunks: 2 }]
    const { ask, requests } = await open(script, { signal: abort.signal })
    const iterator = ask()[Symbol.asyncIterator]()
    await iterator.next()
    const aborted = expect(iterator.next()).rejects.toMatchObject({ name: 'AbortError' })
    abort.abort()
    await aborted
    expect(await requests[0]?.ended).toBe('closed')
  })

  it('sends nothing when the signal has fired before', async () => {
    const { ask, requests } = await open([{ text: 'never asked for' }], { signal: AbortSignal.abort() })
    await expect(collect(ask())).rejects.toMatchObject({ name: 'AbortError' })
    expect(requests).toHaveLength(0)
  })

  it('closes the request when the reader leaves', async () => {
    const { ask, requests } = await open([{ fault: 'stall', text: 'half', afterChunks: 2 }])
    for await (const _event of ask()) break
    expect(await requests[0]?.ended).toBe('closed')
  })
}

async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

async function failure(stream: AsyncIterable<ModelEvent>): Promise<unknown> {
  try {
    await collect(stream)
  } catch (error) {
    return error
  }
  return expect.unreachable('the call succeeded')
}

function finishOf(events: readonly ModelEvent[]): ModelFinish {
  const finishes = events.filter((event) => event.type === 'finish')
  expect(finishes).toEqual([events.at(-1)])
  return finishes[0]!
}

function joined(events: readonly ModelEvent[], type: 'text-delta' | 'reasoning-delta'): string {
  return events.map((event) => (event.type === type ? event.text : '')).join('')
}

/** A clock whose sleepers wake when enough time has been passed, whether they slept before or after that. */
function steppedClock(): Clock & { pass(ms: number): void } {
  let nowMs = 0
  let sleepers: { readonly atMs: number; readonly wake: () => void }[] = []
  return {
    now: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new DOMException('Aborted.', 'AbortError')), { once: true })
        sleepers.push({ atMs: nowMs + ms, wake: resolve })
      }),
    pass: (ms) => {
      nowMs += ms
      for (const { atMs, wake } of sleepers) if (atMs <= nowMs) wake()
      sleepers = sleepers.filter(({ atMs }) => atMs > nowMs)
    },
  }
}
