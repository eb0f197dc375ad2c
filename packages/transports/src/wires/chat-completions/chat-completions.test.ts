import type { ModelEvent, ModelFinish, ModelRequest, Transport } from '@hermes/contracts/model'
import { createFakeClock, type ModelServer, type ModelStep, startModelServer } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTransport, type TransportOptions } from '../../index.js'

const request: ModelRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  tools: [{ name: 'read', description: 'Reads.', parameters: { type: 'object', properties: {} } }],
}

let server: ModelServer

beforeEach(async () => {
  server = await startModelServer()
})
afterEach(() => server.close())

function transport(options: Partial<TransportOptions> = {}): Transport {
  return createTransport({ provider: 'custom', baseUrl: server.baseUrl, ...options })
}

async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

async function finish(made = transport(), credential: string | null = null): Promise<ModelFinish> {
  return (await collect(made.stream(request, { credential }))).at(-1) as ModelFinish
}

/** Answers from memory, for shapes no well-behaved server sends. */
function raw(body: string, type = 'text/event-stream'): Transport {
  const fetch = async () => new Response(body, { headers: { 'content-type': type } })
  return createTransport({ provider: 'custom', baseUrl: 'http://127.0.0.1:1/v1', fetch })
}

function events(...chunks: unknown[]): string {
  return chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`).join('')
}

const delta = (fields: object, finish_reason: string | null = null) => ({ choices: [{ delta: fields, finish_reason }] })
const done = [delta({}, 'stop'), '[DONE]']

describe('the chat-completions wire', () => {
  it('sends the request in a fixed shape and nothing of the environment', async () => {
    process.env['OPENAI_CUSTOM_HEADERS'] = 'x-leaked: yes'
    process.env['OPENAI_ORG_ID'] = 'org-leaked'
    try {
      server.enqueue({ text: 'ok' })
      await finish(transport({ headers: { 'x-own': '1' } }), 'secret-key')
    } finally {
      delete process.env['OPENAI_CUSTOM_HEADERS']
      delete process.env['OPENAI_ORG_ID']
    }
    const [sent] = server.requests
    expect(sent?.body).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [
        {
          type: 'function',
          function: { name: 'read', description: 'Reads.', parameters: { type: 'object', properties: {} } },
        },
      ],
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer secret-key', 'x-own': '1', 'user-agent': 'hermes' })
    expect(Object.keys(sent?.headers ?? {}).filter((name) => /leaked|openai|stainless/.test(name))).toEqual([])
  })

  it('sends no Authorization header without a credential', async () => {
    server.enqueue({ text: 'ok' })
    await finish()
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  it('maps every option of a request through the quirks of the endpoint', async () => {
    server.enqueue({ text: 'ok' }, { text: 'ok' })
    const full = {
      ...request,
      model: 'gpt-5',
      toolChoice: 'none',
      temperature: 0,
      maxOutputTokens: 9,
      reasoningEffort: 'low',
    } as const
    const system = { role: 'system', content: [{ type: 'text', text: 'You are.' }] } as const
    const messages = [system, ...request.messages]
    for (const provider of ['openai', 'openrouter'])
      await collect(transport({ provider }).stream({ ...full, messages }, { credential: 'k' }))
    expect(server.requests.map(({ body }) => body)).toMatchObject([
      {
        messages: [{ role: 'developer' }, {}],
        tool_choice: 'none',
        max_completion_tokens: 9,
        reasoning_effort: 'low',
      },
      { temperature: 0, max_tokens: 9, reasoning: { effort: 'low' } },
    ])
  })

  it('stamps the answer and maps tokens and cost', async () => {
    server.enqueue({
      text: 'ok',
      usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, reasoningTokens: 2, costUsd: 0.25 },
    })
    const answer = await finish()
    expect(answer.stamp).toEqual({ provider: 'custom', endpoint: server.baseUrl, model: 'm' })
    expect(answer.usage).toEqual({
      inputTokens: 10,
      outputTokens: 5,
      cacheReadTokens: 4,
      cacheWriteTokens: 0,
      reasoningTokens: 2,
      costUsd: 0.25,
    })
  })

  it('takes a whole answer from a server that does not stream, and asks it without streaming from then on', async () => {
    server.enqueue({ fault: 'no-stream', text: 'one' }, { text: 'two' })
    const made = transport()
    const first = await collect(made.stream(request, { credential: null }))
    expect(first.map(({ type }) => type)).toEqual(['finish'])
    expect((await finish(made)).message.content).toEqual([{ type: 'text', text: 'two' }])
    expect(server.requests.map(({ body }) => body.stream)).toEqual([true, undefined])
  })

  it('asks once more without streaming when the server refuses stream_options', async () => {
    server.enqueue(
      { fault: 'status', status: 400, body: { error: { message: 'Unknown parameter: stream_options' } } },
      { toolCalls: [{ name: 'read', args: { a: 1 } }] },
    )
    const answer = await finish()
    expect(answer.message.content).toMatchObject([{ type: 'tool-call', args: { a: 1 } }])
    expect(server.requests[1]?.body).not.toHaveProperty('stream')
  })

  it.each<[string, ModelStep, string, boolean]>([
    ['a refused key', { fault: 'status', status: 401 }, 'transport.auth', false],
    ['a rate limit', { fault: 'status', status: 429, retryAfterSeconds: 7 }, 'transport.rate_limit', true],
    ['an inner failure', { fault: 'status', status: 500 }, 'transport.server_error', true],
    ['overload', { fault: 'status', status: 529 }, 'transport.overloaded', true],
    ['a stream that dies', { fault: 'cut', text: 'x' }, 'transport.connection', true],
    ['a stream that ends early', { fault: 'cut', text: 'x', how: 'end' }, 'transport.stream_cut', true],
    ['malformed JSON', { fault: 'malformed', text: 'x' }, 'transport.malformed_response', true],
    ['a dropped connection', { fault: 'refuse' }, 'transport.connection', true],
    ['a web page', { fault: 'html' }, 'transport.wrong_address', false],
    ['a web page with a failure', { fault: 'html', status: 502 }, 'transport.server_error', true],
  ])('answers %s with one error and no second request', async (_name, turn, code, retryable) => {
    server.enqueue(turn)
    const failure = await finish().then(
      () => null,
      (error: unknown) => error,
    )
    expect(failure).toMatchObject({ code, retryable, message: expect.stringMatching(/^[^\n]+$/) })
    expect(server.requests).toHaveLength(1)
  })

  it('gives up a stream in which nothing comes, counting from the last piece', async () => {
    const clock = createFakeClock()
    server.enqueue({ fault: 'stall', text: 'x', afterChunks: 2 })
    const stream = transport({ clock, stallTimeoutMs: 1_000 }).stream(request, { credential: null })
    const iterator = stream[Symbol.asyncIterator]()
    expect(await iterator.next()).toMatchObject({ value: { type: 'text-delta' } })
    const stalled = expect(iterator.next()).rejects.toMatchObject({ code: 'transport.stalled', retryable: true })
    await clock.waitForSleepers()
    await clock.advance(1_000)
    await stalled
    expect(await server.requests[0]?.ended).toBe('closed')
  })

  it('says that nothing listens when the server is not running', async () => {
    await server.close()
    await expect(finish()).rejects.toThrow(`Nothing is listening at ${server.baseUrl}; is the server running?`)
    server = await startModelServer()
  })

  it('closes the request when the reader leaves early', async () => {
    server.enqueue({ fault: 'stall', text: 'x', afterChunks: 2 })
    for await (const _event of transport().stream(request, { credential: null })) break
    expect(await server.requests[0]?.ended).toBe('closed')
  })

  it('sends nothing when the signal has fired already', async () => {
    const stream = transport().stream(request, { credential: null, signal: AbortSignal.abort() })
    await expect(collect(stream)).rejects.toMatchObject({ name: 'AbortError' })
    expect(server.requests).toEqual([])
  })
})

describe('answers of servers that bend the protocol', () => {
  const name = (text: string, args?: unknown) => ({ function: { name: text, arguments: args } })

  it.each<[string, unknown[], object[]]>([
    [
      'repeat id and name with every piece',
      [
        { index: 0, id: 'a', ...name('read', '{"x"') },
        { index: 0, id: 'a', ...name('read', ':1}') },
      ],
      [{ id: 'a', name: 'read', args: { x: 1 }, rawArgs: '{"x":1}' }],
    ],
    [
      'leave out the index',
      [{ id: 'a', ...name('read', '{"x"') }, { function: { arguments: ':1}' } }, { id: 'b', ...name('write', '{}') }],
      [
        { id: 'a', name: 'read', args: { x: 1 } },
        { id: 'b', name: 'write', args: {} },
      ],
    ],
    [
      'number every call 0',
      [
        { index: 0, id: 'a', ...name('read', '{}') },
        { index: 0, id: 'b', ...name('read', '{}') },
      ],
      [{ id: 'a' }, { id: 'b' }],
    ],
    [
      'send the name in pieces, then empty names',
      [
        { index: 0, id: 'a', ...name('re') },
        { index: 0, ...name('ad') },
        { index: 0, ...name('', '{}') },
      ],
      [{ id: 'a', name: 'read', args: {} }],
    ],
    ['send arguments as an object', [{ index: 0, id: 'a', ...name('read', { x: 1 }) }], [{ args: { x: 1 } }]],
    ['send no arguments', [{ index: 0, id: 'a', ...name('read', null) }], [{ args: {}, rawArgs: '' }]],
  ])('reads calls of servers that %s', async (_name, pieces, calls) => {
    const chunks = pieces.map((piece) => delta({ tool_calls: [piece] }))
    const { message } = await finish(raw(events(...chunks, delta({}, 'tool_calls'), '[DONE]')))
    expect(message.finishReason).toBe('tool-calls')
    expect(message.content).toHaveLength(calls.length)
    expect(message.content).toMatchObject(calls)
  })

  it('gives calls without ids, or with ids that are taken, ids of their own that stay the same', async () => {
    const taken = { type: 'tool-call', id: 'a', name: 'read', args: {}, rawArgs: '{}' } as const
    const messages: ModelRequest['messages'] = [
      ...request.messages,
      { role: 'assistant', content: [taken] },
      { role: 'tool', callId: 'a', toolName: 'read', content: [{ type: 'text', text: 'ok' }] },
    ]
    const calls = [
      { index: 0, id: 'a', ...name('read', '{}') },
      { index: 1, ...name('read', '{}') },
      { index: 2, ...name('read', '{}') },
    ]
    const body = events(delta({ tool_calls: calls }, 'tool_calls'))
    const ids = async () => {
      const all = await collect(raw(body).stream({ ...request, messages }, { credential: null }))
      const last = all.at(-1) as ModelFinish
      const announced = all.filter((event) => event.type === 'tool-call-delta').map((event) => event.id)
      expect(last.message.content.map((part) => part.type === 'tool-call' && part.id)).toEqual(announced)
      return announced
    }
    const first = await ids()
    expect(new Set([...first, 'a']).size).toBe(4)
    expect(await ids()).toEqual(first)
  })

  it('reads the old function_call, lists of text parts, and both names for reasoning', async () => {
    const body = events(
      delta({ reasoning: 'think ' }),
      delta({ reasoning_content: 'hard' }),
      delta({ content: [{ type: 'text', text: 'hello' }] }),
      delta({ function_call: { name: 'read', arguments: '{"x":1}' } }, 'function_call'),
      '[DONE]',
    )
    expect((await finish(raw(body))).message).toMatchObject({
      finishReason: 'tool-calls',
      content: [
        { type: 'reasoning', text: 'think hard' },
        { type: 'text', text: 'hello' },
        { type: 'tool-call', name: 'read', args: { x: 1 } },
      ],
    })
  })

  it('takes an answer without finish reason for complete when the sentinel came', async () => {
    const { message } = await finish(raw(events(delta({ content: 'all' }), '[DONE]')))
    expect(message).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'all' }], finishReason: 'unknown' })
  })

  it('takes an answer without sentinel for complete when the finish reason came', async () => {
    const { message } = await finish(raw(events(delta({ content: 'all' }), delta({}, 'length'))))
    expect(message.finishReason).toBe('length')
  })

  it('leaves the arguments of a call that was cut off unparsed', async () => {
    const cut = { index: 0, id: 'a', ...name('write', '{"content":"half') }
    const { message } = await finish(raw(events(delta({ tool_calls: [cut] }, 'length'), '[DONE]')))
    expect(message).toMatchObject({
      finishReason: 'length',
      content: [{ id: 'a', args: null, rawArgs: '{"content":"half' }],
    })
  })

  it('classifies an error that comes inside a stream or a successful answer', async () => {
    const error = { code: 429, message: 'Rate limit exceeded: free tier. Try again in 20s.' }
    const expected = { code: 'transport.rate_limit', details: { status: 429, retryAfterMs: 20_000 } }
    await expect(finish(raw(events(delta({ content: 'x' }), { error })))).rejects.toMatchObject(expected)
    await expect(finish(raw(JSON.stringify({ error }), 'application/json'))).rejects.toMatchObject(expected)
    await expect(finish(raw('{"half":', 'application/json'))).rejects.toMatchObject({
      code: 'transport.malformed_response',
    })
    await expect(finish(raw('{}', 'application/json'))).rejects.toMatchObject({ code: 'transport.malformed_response' })
  })

  it('ignores keep-alive comments and chunks without choices', async () => {
    const body = `: keep-alive\n\n${events({ choices: [] }, {}, delta({ content: 'x' }), ...done)}`
    expect((await finish(raw(body))).message.content).toEqual([{ type: 'text', text: 'x' }])
  })
})

describe('createTransport', () => {
  it('refuses what is not a base URL', () => {
    expect(() => createTransport({ provider: 'custom', baseUrl: 'localhost:1234' })).toThrow('is not a base URL')
  })
})
