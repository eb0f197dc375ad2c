import type { Message } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelFinish, ModelRequest, Transport } from '@hermes/contracts/model'
import { type ModelServer, type ModelStep, startModelServer } from '@hermes/testkit'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTransport, type TransportOptions } from '../../index.js'

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const request: ModelRequest = {
  model: 'claude-sonnet-4-6',
  messages: [{ role: 'system', content: [{ type: 'text', text: 'You are.' }] }, user('hi')],
  tools: [{ name: 'read', description: 'Reads.', parameters: { type: 'object', properties: {} } }],
}
const mark = { cache_control: { type: 'ephemeral' } }

let server: ModelServer

beforeEach(async () => {
  server = await startModelServer()
})
afterEach(() => server.close())

function transport(options: Partial<TransportOptions> = {}): Transport {
  return createTransport({ provider: 'anthropic', baseUrl: server.anthropicBaseUrl, ...options })
}

async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

async function finish(
  made = transport(),
  requested: Partial<ModelRequest> = {},
  credential: string | null = null,
): Promise<ModelFinish> {
  return (await collect(made.stream({ ...request, ...requested }, { credential }))).at(-1) as ModelFinish
}

/** Answers from memory, for shapes no well-behaved server sends. */
function raw(body: string | readonly Uint8Array[], type = 'text/event-stream'): Transport {
  const fetch = async () =>
    new Response(typeof body === 'string' ? body : ReadableStream.from(body), { headers: { 'content-type': type } })
  return transport({ fetch })
}

function events(...list: readonly { readonly type: string; readonly [key: string]: unknown }[]): string {
  return list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

const begin = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const piece = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })
const end = (stop_reason: string | null) => ({ type: 'message_delta', delta: { stop_reason } })

describe('the anthropic-messages wire', () => {
  it('sends the request in a fixed shape, marked for the cache, and nothing of the environment', async () => {
    process.env['ANTHROPIC_CUSTOM_HEADERS'] = 'x-leaked: yes'
    process.env['ANTHROPIC_AUTH_TOKEN'] = 'leaked'
    try {
      server.enqueue({ text: 'ok' })
      await finish(transport({ headers: { 'x-own': '1' } }), {}, 'secret-key')
    } finally {
      delete process.env['ANTHROPIC_CUSTOM_HEADERS']
      delete process.env['ANTHROPIC_AUTH_TOKEN']
    }
    const [sent] = server.requests
    expect(sent?.body).toEqual({
      model: 'claude-sonnet-4-6',
      max_tokens: 64_000,
      system: [{ type: 'text', text: 'You are.', ...mark }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', ...mark }] }],
      tools: [{ name: 'read', description: 'Reads.', input_schema: { type: 'object', properties: {} } }],
      stream: true,
    })
    expect(sent?.headers).toMatchObject({ 'x-api-key': 'secret-key', 'x-own': '1', 'user-agent': 'hermes' })
    const names = Object.keys(sent?.headers ?? {}).filter((name) => /leaked|authorization|beta|stainless/.test(name))
    expect(names).toEqual([])
  })

  it('sends one credential header, bearer where the endpoint or the token wants it, and none without a credential', async () => {
    server.setHandler(() => ({ text: 'ok' }))
    await finish()
    await finish(transport({ quirks: { credentialHeader: 'authorization' } }), {}, 'key')
    await finish(transport(), {}, 'sk-ant-oat01-x')
    const sent = server.requests.map(({ headers }) => [headers['x-api-key'], headers.authorization])
    expect(sent).toEqual([
      [undefined, undefined],
      [undefined, 'Bearer key'],
      [undefined, 'Bearer sk-ant-oat01-x'],
    ])
  })

  it('takes a base URL with and without /v1 for the same endpoint', () => {
    const stamps = ['https://a.example', 'https://a.example/v1/'].map((baseUrl) => transport({ baseUrl }).stamp('m'))
    expect(stamps[0]).toEqual(stamps[1])
  })

  it('marks the end of the system text and of the last three messages, for an hour when asked', async () => {
    const turns = ['a', 'b', 'c'].flatMap((text): Message[] => [
      user(text),
      { role: 'assistant', content: [{ type: 'text', text }] },
    ])
    server.setHandler(() => ({ text: 'ok' }))
    await finish(transport({ cacheTtl: '1h' }), { messages: [...request.messages.slice(0, 1), ...turns, user('d')] })
    await finish(transport(), { messages: [user('no system text')] })
    const [long, plain] = server.requests.map(({ body }) => body)
    const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
    expect(long?.['system']).toMatchObject([hour])
    const marked = long?.messages.map(({ content }) => JSON.stringify(content).includes('cache_control'))
    expect(marked).toEqual([false, false, false, false, true, true, true])
    expect(JSON.stringify(long).split('"ttl":"1h"')).toHaveLength(5)
    expect(plain?.tools).toMatchObject([mark])
  })

  it.each<[string, Partial<ModelRequest>, object]>([
    ['claude-opus-5-5', {}, { thinking: { type: 'adaptive', display: 'summarized' }, output_config: undefined }],
    ['claude-opus-5-5', { reasoningEffort: 'minimal' }, { output_config: { effort: 'low' } }],
    [
      'claude-sonnet-4-6',
      { reasoningEffort: 'high' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    ],
    ['claude-haiku-4-5-20251001', {}, { thinking: undefined, max_tokens: 64_000 }],
    [
      'claude-haiku-4-5',
      { reasoningEffort: 'low', maxOutputTokens: 1_000 },
      { thinking: { type: 'enabled', budget_tokens: 4_096 }, max_tokens: 5_096, output_config: undefined },
    ],
    ['claude-3-5-haiku-latest', { reasoningEffort: 'high' }, { thinking: undefined, max_tokens: 8_192 }],
    ['claude-opus-4-1', { maxOutputTokens: 99_999 }, { max_tokens: 32_000 }],
    ['claude-opus-5-5', { temperature: 0.5 }, { temperature: undefined }],
    ['claude-opus-4-7', { temperature: 0.5 }, { temperature: undefined }],
    ['claude-opus-4-6', { temperature: 0.5 }, { temperature: 0.5 }],
    ['claude-3-7-sonnet-latest', { temperature: 1.5 }, { temperature: 1 }],
    ['claude-sonnet-4-5', { temperature: 0.5, reasoningEffort: 'low' }, { temperature: undefined }],
    ['MiniMax-M2', { temperature: 1.5 }, { temperature: 1 }],
    ['claude-sonnet-4-6', { toolChoice: 'required' }, { tool_choice: { type: 'any' } }],
    ['claude-opus-5-5', { toolChoice: 'required' }, { tool_choice: { type: 'auto' } }],
    ['claude-opus-5-5', { toolChoice: 'none' }, { tool_choice: { type: 'none' }, tools: [{ name: 'read' }] }],
    ['claude-opus-5-5', { toolChoice: 'none', tools: [] }, { tool_choice: undefined, tools: undefined }],
  ])('asks %s for what it can do: %j', async (model, requested, expected) => {
    server.enqueue({ text: 'ok' })
    await finish(transport(), { model, ...requested })
    const absent = { thinking: undefined, output_config: undefined, temperature: undefined }
    const sent = { ...absent, tools: undefined, tool_choice: undefined, ...server.requests[0]?.body }
    expect(sent).toMatchObject(expected)
  })

  it('keeps thoughts byte for byte, gives them back in their place, and only to the model that had them', async () => {
    server.enqueue({
      reasoning: 'Read it\u2028first. 😀',
      redacted: 'c2VjcmV0',
      toolCalls: [{ name: 'read', args: {} }],
    })
    server.setHandler(() => ({ text: 'ok' }))
    const { message } = await finish()
    const [thought, hidden, call] = message.content
    expect(thought).toMatchObject({ type: 'reasoning', text: 'Read it\u2028first. 😀' })
    expect(hidden).toMatchObject({ type: 'reasoning', text: '' })
    expect(call).toMatchObject({ type: 'tool-call' })
    const id = call?.type === 'tool-call' ? call.id : ''
    const result: Message = { role: 'tool', callId: id, toolName: 'read', content: [{ type: 'text', text: 'x' }] }
    const messages = [...request.messages, message, result]
    for (const model of [request.model, 'claude-opus-4-6']) await finish(transport(), { model, messages })
    const replayed = server.requests.slice(1).map(({ body }) => body.messages[1]?.content)
    expect(replayed[0]).toMatchObject([
      { type: 'thinking', thinking: 'Read it\u2028first. 😀', signature: expect.stringMatching(/.{40}/) },
      { type: 'redacted_thinking', data: 'c2VjcmV0' },
      { type: 'tool_use' },
    ])
    expect(replayed[1]).toMatchObject([{ type: 'tool_use' }])
    expect(server.violations).toEqual([])
  })

  it('asks for no budget in the middle of a turn that began without thoughts', async () => {
    const call = { type: 'tool-call', id: 'c', name: 'read', args: {}, rawArgs: '{}' } as const
    const messages: Message[] = [
      user('hi'),
      { role: 'assistant', content: [call] },
      { role: 'tool', callId: 'c', toolName: 'read', content: [{ type: 'text', text: 'x' }] },
    ]
    server.setHandler(() => ({ text: 'ok' }))
    const requested = { model: 'claude-haiku-4-5', reasoningEffort: 'low' } as const
    await finish(transport(), { ...requested, messages })
    const done: Message = { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }
    await finish(transport(), { ...requested, messages: [...messages, done, user('next')] })
    expect(server.requests.map(({ body }) => body['thinking'] !== undefined)).toEqual([false, true])
  })

  it('maps tokens: what the cache gave and took belongs to the input', async () => {
    const usage = { inputTokens: 100, outputTokens: 7, cacheReadTokens: 60, cacheWriteTokens: 30, reasoningTokens: 2 }
    server.enqueue({ text: 'ok', usage }, { fault: 'no-stream', text: 'ok', usage })
    const made = transport()
    for (const answer of [await finish(made), await finish(made)])
      expect(answer.usage).toEqual({ ...usage, costUsd: 'unknown' })
  })

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content-filter'],
    ['pause_turn', 'unknown'],
    ['something new', 'unknown'],
  ])('reads the stop reason %s as %s', async (finishReason, expected) => {
    server.enqueue({ text: 'x', finishReason })
    expect((await finish()).message.finishReason).toBe(expected)
  })

  it.each<[string, ModelStep, string, boolean]>([
    ['a stream that ends early', { fault: 'cut', text: 'x', how: 'end' }, 'transport.stream_cut', true],
    [
      'overload in the middle',
      { fault: 'error-event', type: 'overloaded_error', message: 'Overloaded', text: 'x' },
      'transport.overloaded',
      true,
    ],
    [
      'a refusal in the middle',
      { fault: 'error-event', type: 'invalid_request_error', message: 'No', text: 'x' },
      'transport.format_error',
      false,
    ],
    ['a web page', { fault: 'html' }, 'transport.wrong_address', false],
    ['a web page with a failure', { fault: 'html', status: 502 }, 'transport.server_error', true],
  ])('answers %s with one error and no second request', async (_name, turn, code, retryable) => {
    server.enqueue(turn)
    await expect(finish()).rejects.toMatchObject({ code, retryable, message: expect.stringMatching(/^[^\n]+$/) })
    expect(server.requests).toHaveLength(1)
  })

  it('keeps to the ways of an endpoint: thoughts between tags, a dialect of schemas, further fields', async () => {
    server.enqueue({ text: '<think>hm</think>\n\nYes.', chunkSize: 3 })
    const quirks = { thinkTags: ['think'], schemaDialect: 'llama-cpp', body: { service_tier: 'x' } } as const
    const parameters = { type: 'object', properties: { path: { type: 'string', pattern: '^/' } } }
    const requested = { tools: [{ name: 'read', description: 'Reads.', parameters }] }
    const { message } = await finish(transport({ quirks }), requested)
    expect(message.content).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Yes.' },
    ])
    expect(server.requests[0]?.body).toMatchObject({
      service_tier: 'x',
      tools: [{ input_schema: { properties: { path: { type: 'string' } } } }],
    })
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain('pattern')
  })

  it('names the id of the request in its errors', async () => {
    server.enqueue({ fault: 'status', status: 500 })
    await expect(finish()).rejects.toMatchObject({ details: { status: 500, requestId: 'req_scripted' } })
  })

  it('asks once more without streaming when the server refuses to stream', async () => {
    const body = { type: 'error', error: { type: 'invalid_request_error', message: 'stream is not supported' } }
    server.enqueue({ fault: 'status', status: 400, body }, { toolCalls: [{ name: 'read', args: { a: 1 } }] })
    expect((await finish()).message.content).toMatchObject([{ type: 'tool-call', args: { a: 1 } }])
    expect(server.requests[1]?.body).not.toHaveProperty('stream')
  })
})

describe('answers of servers that bend the protocol', () => {
  it('reads calls whose input comes whole at the start, or without an id', async () => {
    const body = events(
      begin(0, { type: 'tool_use', id: 'a', name: 'read', input: { x: 1 } }),
      begin(1, { type: 'tool_use', name: 'read', input: {} }),
      piece(1, { type: 'input_json_delta', partial_json: '{"x":2}' }),
      end('tool_use'),
    )
    const { message } = await finish(raw(body))
    expect(message).toMatchObject({
      finishReason: 'tool-calls',
      content: [
        { id: 'a', args: { x: 1 } },
        { id: expect.stringMatching(/^call_/), args: { x: 2 } },
      ],
    })
  })

  it('passes over kinds of blocks, pieces and events it does not know', async () => {
    const body = events(
      { type: 'brand_new' },
      begin(0, { type: 'server_tool_use', id: 's', name: 'web', input: {} }),
      piece(0, { type: 'input_json_delta', partial_json: '{}' }),
      begin(1, { type: 'text', text: 'o' }),
      piece(1, { type: 'citations_delta', citation: {} }),
      piece(1, { type: 'text_delta', text: 'k' }),
      piece(7, { type: 'text_delta', text: 'lost' }),
      { type: 'message_stop' },
    )
    expect((await finish(raw(body))).message).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'ok' }],
      finishReason: 'unknown',
    })
  })

  it('does not give back a thought that was cut off before its signature', async () => {
    const body = events(
      begin(0, { type: 'thinking', thinking: '', signature: '' }),
      piece(0, { type: 'thinking_delta', thinking: 'half a' }),
      end('max_tokens'),
    )
    expect((await finish(raw(body))).message.content).toEqual([{ type: 'reasoning', text: 'half a' }])
  })

  it('leaves the arguments of a call that was cut off unparsed', async () => {
    const body = events(
      begin(0, { type: 'tool_use', id: 'a', name: 'write', input: {} }),
      piece(0, { type: 'input_json_delta', partial_json: '{"content":"half' }),
      end('max_tokens'),
    )
    expect((await finish(raw(body))).message.content).toMatchObject([{ args: null, rawArgs: '{"content":"half' }])
  })

  it('reads the same answer wherever the network splits its bytes', async () => {
    const args = { text: 'é😀 "quoted" \n end' }
    const bytes = new TextEncoder().encode(
      events(
        begin(0, { type: 'text', text: '' }),
        piece(0, { type: 'text_delta', text: 'é😀' }),
        begin(1, { type: 'tool_use', id: 'c', name: 'write', input: {} }),
        piece(1, { type: 'input_json_delta', partial_json: JSON.stringify(args) }),
        end('tool_use'),
      ),
    )
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(cuts, async (unordered) => {
        const edges = [0, ...unordered.sort((left, right) => left - right), bytes.length]
        const { message } = await finish(raw(edges.slice(1).map((to, index) => bytes.slice(edges[index], to))))
        expect(message.content).toEqual([
          { type: 'text', text: 'é😀' },
          { type: 'tool-call', id: 'c', name: 'write', args, rawArgs: JSON.stringify(args) },
        ])
      }),
    )
  })

  it('classifies what is no answer at all', async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    await expect(finish(raw(JSON.stringify({ type: 'error', error }), 'application/json'))).rejects.toMatchObject({
      code: 'transport.overloaded',
    })
    for (const text of ['{"half":', '{}'])
      await expect(finish(raw(text, 'application/json'))).rejects.toMatchObject({
        code: 'transport.malformed_response',
      })
  })
})
