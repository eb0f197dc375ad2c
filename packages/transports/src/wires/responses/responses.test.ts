import type { Message } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelFinish, ModelRequest, Transport } from '@hermes/contracts/model'
import { type ModelServer, type ModelStep, startModelServer } from '@hermes/testkit'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { classifyError, createTransport, type TransportOptions } from '../../index.js'

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const request: ModelRequest = {
  model: 'gpt-5',
  messages: [{ role: 'system', content: [{ type: 'text', text: 'You are.' }] }, user('hi')],
  tools: [{ name: 'read', description: 'Reads.', parameters: { type: 'object', properties: {} } }],
}

let server: ModelServer

beforeEach(async () => {
  server = await startModelServer()
})
afterEach(() => server.close())

function transport(options: Partial<TransportOptions> = {}): Transport {
  return createTransport({ provider: 'openai', api: 'responses', baseUrl: server.baseUrl, ...options })
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

const added = (output_index: number, item: object) => ({ type: 'response.output_item.added', output_index, item })
const done = (output_index: number, item: object) => ({ type: 'response.output_item.done', output_index, item })
const text = (output_index: number, delta: string) => ({ type: 'response.output_text.delta', output_index, delta })
const args = (output_index: number, delta: string) => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  delta,
})
const end = (response: object = { status: 'completed' }) => ({ type: 'response.completed', response })
const call = (fields: object = {}) => ({ type: 'function_call', call_id: 'c', name: 'write', arguments: '', ...fields })

describe('the responses wire', () => {
  it('sends the request in a fixed shape, stores nothing, and takes nothing of the environment', async () => {
    process.env['OPENAI_CUSTOM_HEADERS'] = 'x-leaked: yes'
    process.env['OPENAI_ORG_ID'] = 'org-leaked'
    try {
      server.enqueue({ text: 'ok' })
      await finish(transport({ headers: { 'x-own': '1' } }), {}, 'secret-key')
    } finally {
      delete process.env['OPENAI_CUSTOM_HEADERS']
      delete process.env['OPENAI_ORG_ID']
    }
    const [sent] = server.requests
    expect(JSON.stringify(sent?.body)).toBe(
      '{"model":"gpt-5","store":false,"instructions":"You are.",' +
        '"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}],' +
        '"tools":[{"type":"function","name":"read","description":"Reads.",' +
        '"parameters":{"type":"object","properties":{}},"strict":false}],' +
        '"reasoning":{"summary":"auto"},"include":["reasoning.encrypted_content"],"stream":true}',
    )
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer secret-key', 'x-own': '1', 'user-agent': 'hermes' })
    expect(Object.keys(sent?.headers ?? {}).filter((name) => /leaked|openai|stainless/.test(name))).toEqual([])
  })

  it.each<[string, Partial<ModelRequest>, object]>([
    ['gpt-5', { reasoningEffort: 'minimal' }, { reasoning: { effort: 'minimal', summary: 'auto' } }],
    ['gpt-5.2', { reasoningEffort: 'minimal' }, { reasoning: { effort: 'low' } }],
    ['gpt-5-pro', { reasoningEffort: 'low' }, { reasoning: { effort: 'high' } }],
    ['openai/gpt-5.1-codex', { reasoningEffort: 'high' }, { reasoning: { effort: 'high' } }],
    ['o4-mini', { temperature: 0.5 }, { temperature: undefined, include: ['reasoning.encrypted_content'] }],
    [
      'gpt-4.1',
      { temperature: 0, reasoningEffort: 'high' },
      { temperature: 0, reasoning: undefined, include: undefined },
    ],
    ['gpt-5-chat-latest', { temperature: 1 }, { temperature: undefined, reasoning: undefined, include: undefined }],
    ['grok-4-0709', { reasoningEffort: 'high' }, { reasoning: undefined, include: ['reasoning.encrypted_content'] }],
    ['qwen3', { temperature: 0.5 }, { temperature: 0.5, reasoning: undefined, include: undefined }],
    ['qwen3', { reasoningEffort: 'low' }, { reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'] }],
    ['gpt-5', { maxOutputTokens: 5 }, { max_output_tokens: 16 }],
    ['gpt-5', { toolChoice: 'none' }, { tool_choice: 'none', tools: [{ name: 'read' }] }],
    ['gpt-5', { toolChoice: 'none', tools: [] }, { tool_choice: undefined, tools: undefined }],
    ['gpt-5', { messages: [user('no system text')] }, { instructions: undefined }],
  ])('asks %s for what it can do: %j', async (model, requested, expected) => {
    server.enqueue({ text: 'ok' })
    await finish(transport(), { model, ...requested })
    const absent = { reasoning: undefined, include: undefined, temperature: undefined, instructions: undefined }
    const sent = { ...absent, tools: undefined, tool_choice: undefined, ...server.requests[0]?.body }
    expect(sent).toMatchObject(expected)
    expect(server.violations).toEqual([])
  })

  it('sends what the endpoint wants besides, and no limit to one that refuses it', async () => {
    server.setHandler(() => ({ text: 'ok' }))
    const quirks = { defaultMaxOutputTokens: 100, body: { service_tier: 'flex' } } as const
    await finish(transport({ quirks }))
    await finish(transport({ quirks: { ...quirks, refusesOutputLimit: true } }), { maxOutputTokens: 50 })
    const [first, second] = server.requests.map(({ body }) => body)
    expect(first).toMatchObject({ max_output_tokens: 100, service_tier: 'flex' })
    expect(second).not.toHaveProperty('max_output_tokens')
  })

  it('keeps thoughts byte for byte, gives them back in their place, and only to the model that had them', async () => {
    const reasoning = 'Read it\u2028first. 😀'
    server.enqueue({ reasoning, text: 'I read.', phase: 'commentary', toolCalls: [{ name: 'read', args: {} }] })
    server.setHandler(() => ({ text: 'ok' }))
    const { message } = await finish()
    const id = message.content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))[0]!
    const result: Message = { role: 'tool', callId: id, toolName: 'read', content: [{ type: 'text', text: 'x' }] }
    const messages = [...request.messages, message, result]
    for (const model of [request.model, 'gpt-5.2']) await finish(transport(), { model, messages })
    const [same, other] = server.requests.slice(1).map(({ body }) => (body['input'] as object[]).slice(1))
    const spoken = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I read.' }] }
    const rest = [
      { type: 'function_call', call_id: id, name: 'read', arguments: '{}' },
      { type: 'function_call_output', call_id: id, output: 'x' },
    ]
    expect(same).toEqual([
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: reasoning }],
        encrypted_content: expect.stringMatching(/^gAAAA\../),
      },
      { ...spoken, phase: 'commentary' },
      ...rest,
    ])
    expect(other).toEqual([spoken, ...rest])
    expect(server.violations).toEqual([])
  })

  it('asks for no summaries once the server has refused them', async () => {
    const message = 'Your organization must be verified to generate reasoning summaries.'
    const body = {
      error: { message, type: 'invalid_request_error', param: 'reasoning.summary', code: 'unsupported_value' },
    }
    server.enqueue({ fault: 'status', status: 400, body })
    server.setHandler(() => ({ text: 'ok' }))
    const made = transport()
    for (const _ of [1, 2]) expect((await finish(made)).message.content).toEqual([{ type: 'text', text: 'ok' }])
    const requested = server.requests.map(({ body: sent }) => sent['reasoning'])
    expect(requested).toEqual([{ summary: 'auto' }, undefined, undefined])
  })

  it('asks once more without streaming when the server refuses to stream', async () => {
    const message = 'Your organization must be verified to stream this model.'
    const turn = { toolCalls: [{ name: 'read', args: { a: 1 } }] }
    server.enqueue({ fault: 'status', status: 400, body: { error: { message, param: 'stream' } } }, turn)
    expect((await finish()).message.content).toMatchObject([{ type: 'tool-call', args: { a: 1 } }])
    expect(server.requests[1]?.body).not.toHaveProperty('stream')
  })

  it('maps tokens: what the cache gave belongs to the input', async () => {
    const usage = { inputTokens: 100, outputTokens: 7, cacheReadTokens: 60, cacheWriteTokens: 30, reasoningTokens: 2 }
    server.enqueue({ text: 'ok', usage }, { fault: 'no-stream', text: 'ok', usage })
    const made = transport()
    for (const answer of [await finish(made), await finish(made)])
      expect(answer.usage).toEqual({ ...usage, costUsd: 'unknown' })
  })

  it.each([
    ['completed', 'stop'],
    ['max_output_tokens', 'length'],
    ['content_filter', 'content-filter'],
    ['something_new', 'unknown'],
  ])('reads the end %s as %s', async (finishReason, expected) => {
    server.enqueue({ text: 'x', finishReason })
    expect((await finish()).message.finishReason).toBe(expected)
  })

  it.each<[string, ModelStep, string, boolean]>([
    ['a stream that ends early', { fault: 'cut', text: 'x', how: 'end' }, 'transport.stream_cut', true],
    [
      'a failure inside the server',
      { fault: 'error-event', type: 'server_error', message: 'Sorry', text: 'x' },
      'transport.server_error',
      true,
    ],
    [
      'a limit in the middle',
      { fault: 'error-event', type: 'rate_limit_exceeded', message: 'Try again in 2s.', text: 'x' },
      'transport.rate_limit',
      true,
    ],
    [
      'a refusal in the middle',
      { fault: 'error-event', type: 'invalid_prompt', message: 'No', text: 'x' },
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

  it('names the path and the id of the request in its errors', async () => {
    server.enqueue({ fault: 'status', status: 404, body: {} }, { fault: 'status', status: 500 })
    await expect(finish()).rejects.toThrow(`Nothing answers at ${server.baseUrl}/responses (404)`)
    await expect(finish()).rejects.toMatchObject({ details: { status: 500, requestId: 'req_scripted' } })
  })

  it('says that thoughts are to be left out when the server cannot read them', async () => {
    const error = {
      message: 'The encrypted content gAAA...Rg== could not be verified.',
      code: 'invalid_encrypted_content',
    }
    server.enqueue({ fault: 'status', status: 400, body: { error } })
    const failure = await finish().catch((thrown: unknown) => thrown)
    expect(classifyError(failure)).toMatchObject({ reason: 'thinking-signature', repair: 'drop-reasoning' })
  })

  it('ends with the last word of the server, though the connection stays open, and leaves it to be used again', async () => {
    const bytes = new TextEncoder().encode(events(text(0, 'ok'), end()))
    const state = { canceled: false }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes),
      cancel: () => {
        state.canceled = true
      },
    })
    const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    expect((await finish(transport({ fetch }))).message.content).toEqual([{ type: 'text', text: 'ok' }])
    expect(state.canceled).toBe(false)
  })
})

describe('answers of servers that bend the protocol', () => {
  it('reads items that come whole, without pieces or an end that repeats them', async () => {
    const message = { type: 'message', content: [{ type: 'output_text', text: 'hello' }] }
    const item = call({ arguments: '{"x":1}' })
    for (const body of [
      events(done(0, message), done(1, item), end({ status: 'completed', output: [] })),
      events(end({ status: 'completed', output: [message, item] })),
      events(added(0, message), text(0, 'hel'), text(0, 'lo'), done(0, message), added(1, item), done(1, item), end()),
    ]) {
      const all = await collect(raw(body).stream(request, { credential: null }))
      const text = all.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
      expect(text).toBe('hello')
      expect((all.at(-1) as ModelFinish).message).toEqual({
        role: 'assistant',
        content: [
          { type: 'text', text: 'hello' },
          { type: 'tool-call', id: 'c', name: 'write', args: { x: 1 }, rawArgs: '{"x":1}' },
        ],
        finishReason: 'tool-calls',
      })
    }
  })

  it('gives calls without ids, or with ids that are taken, ids of their own', async () => {
    const taken = { type: 'tool-call', id: 'c', name: 'write', args: {}, rawArgs: '{}' } as const
    const answered: Message = { role: 'tool', callId: 'c', toolName: 'write', content: [{ type: 'text', text: 'ok' }] }
    const messages: Message[] = [...request.messages, { role: 'assistant', content: [taken] }, answered]
    const body = events(done(0, call({ arguments: '{}' })), done(1, call({ call_id: null, arguments: '{}' })), end())
    const { message } = await finish(raw(body), { messages })
    const ids = message.content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
    expect(ids).toEqual([expect.stringMatching(/^call_/), expect.stringMatching(/^call_/)])
    expect(new Set([...ids, 'c']).size).toBe(3)
  })

  it('puts the parts of a summary apart and shows a thought that comes at its end only', async () => {
    const piece = (summary_index: number, delta: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index,
      delta,
    })
    const late = { type: 'reasoning', summary: [{ text: 'late' }], encrypted_content: 'sealed' }
    const body = events(piece(0, 'o'), piece(0, 'ne'), piece(1, 'two'), done(1, late), text(2, 'ok'), end())
    const all = await collect(raw(body).stream(request, { credential: null }))
    const thought = all.map((event) => (event.type === 'reasoning-delta' ? event.text : '')).join('')
    expect(thought).toBe('one\n\ntwolate')
    expect((all.at(-1) as ModelFinish).message.content).toMatchObject([
      { type: 'reasoning', text: 'one\n\ntwo' },
      { type: 'reasoning', text: 'late', replay: { data: late } },
      { type: 'text', text: 'ok' },
    ])
  })

  it('sends sealed thoughts back to the account they were made for, and to no other', async () => {
    const sent: string[] = []
    const late = { type: 'reasoning', summary: [], encrypted_content: 'sealed-for-work' }
    const fetch = async (...[, init]: Parameters<typeof globalThis.fetch>) => {
      sent.push(String(init?.body))
      return new Response(events(done(0, late), text(1, 'ok'), end()), {
        headers: { 'content-type': 'text/event-stream' },
      })
    }
    const made = transport({ fetch })
    const ask = async (account: string | undefined, ...before: Message[]) => {
      const options = { credential: 'k', ...(account === undefined ? {} : { account }) }
      const messages = [...request.messages, ...before]
      return ((await collect(made.stream({ ...request, messages }, options))).at(-1) as ModelFinish).message
    }
    const answer = await ask('work')
    for (const account of ['work', 'home', undefined]) await ask(account, answer, user('on'))
    expect(sent.map((body) => body.includes('sealed-for-work'))).toEqual([false, true, false, false])
  })

  it('passes over kinds of items and events it does not know, and reads a refusal as text', async () => {
    const body = events(
      { type: 'response.brand_new' },
      added(0, { type: 'web_search_call' }),
      text(0, 'lost'),
      args(7, 'lost'),
      added(1, { type: 'message' }),
      { type: 'response.refusal.delta', output_index: 1, delta: 'No.' },
      end({ status: 'brand_new' }),
    )
    const { message } = await finish(raw(body))
    expect(message).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'No.' }], finishReason: 'unknown' })
  })

  it('leaves the arguments of a call that was cut off unparsed', async () => {
    const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    const body = events(added(0, call()), args(0, '{"content":"half'), { type: 'response.incomplete', response: cut })
    expect((await finish(raw(body))).message).toMatchObject({
      finishReason: 'length',
      content: [{ args: null, rawArgs: '{"content":"half' }],
    })
  })

  it.each([
    ['server_error', 'An error occurred.', 'transport.server_error', true],
    ['rate_limit_exceeded', 'Rate limit reached. Please try again in 1.5s.', 'transport.rate_limit', true],
    ['image_too_large', 'Bad image.', 'transport.image_too_large', false],
    ['bio_policy', 'No.', 'transport.content_policy_blocked', false],
    ['context_length_exceeded', 'Your input exceeds the context window.', 'transport.context_overflow', false],
  ])('classifies a response that failed with %s', async (code, message, expected, retryable) => {
    const failed = { type: 'response.failed', response: { status: 'failed', error: { code, message } } }
    const unframed = `data: ${JSON.stringify({ type: 'error', code, message })}\n\n`
    const whole = JSON.stringify({ status: 'failed', error: { code, message }, output: [] })
    const rejects = { code: expected, retryable }
    for (const made of [raw(events(text(0, 'x'), failed)), raw(unframed), raw(whole, 'application/json')])
      await expect(finish(made)).rejects.toMatchObject(rejects)
  })

  it('classifies what is no answer at all', async () => {
    for (const body of ['{"half":', '{}'])
      await expect(finish(raw(body, 'application/json'))).rejects.toMatchObject({
        code: 'transport.malformed_response',
      })
    const canceled = JSON.stringify({ status: 'cancelled', output: [] })
    await expect(finish(raw(canceled, 'application/json'))).rejects.toMatchObject({ code: 'transport.server_error' })
  })

  it('gives the same events wherever the network splits the bytes of a recorded stream', async () => {
    server.enqueue({
      reasoning: 'Hm é😀',
      text: 'é😀 "quoted" \n end',
      toolCalls: [{ id: 'c', name: 'read', args: { path: 'é😀' } }],
      chunkSize: 5,
    })
    const recorded: string[] = []
    const recording: typeof globalThis.fetch = async (input, init) => {
      const response = await fetch(input, init)
      recorded.push(await response.clone().text())
      return response
    }
    const expected = await collect(transport({ fetch: recording }).stream(request, { credential: null }))
    expect(expected.length).toBeGreaterThan(8)
    const bytes = new TextEncoder().encode(recorded[0])
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(cuts, async (unordered) => {
        const edges = [0, ...unordered.sort((left, right) => left - right), bytes.length]
        const pieces = edges.slice(1).map((to, index) => bytes.slice(edges[index], to))
        expect(await collect(raw(pieces).stream(request, { credential: null }))).toEqual(expected)
      }),
    )
  })
})
