import { afterEach, describe, expect, it } from 'vitest'
import { type ModelServer, type ModelStep, startModelServer } from '../index.js'

let server: ModelServer

afterEach(() => server.close())

async function start(...script: ModelStep[]): Promise<void> {
  server = await startModelServer(script)
}

function ask(body: object): Promise<Response> {
  const messages = [{ role: 'user', content: 'hi' }]
  return fetch(`${server.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages, ...body }),
  })
}

async function events(response: Response): Promise<unknown[]> {
  const lines = (await response.text()).split('\n\n').filter((line) => line !== '')
  return lines.map((line) => (line === 'data: [DONE]' ? 'done' : JSON.parse(line.slice('data: '.length))))
}

const choice = (delta: object, finishReason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finishReason }],
})

describe('startModelServer', () => {
  it('streams text and calls as deltas and ends with usage and [DONE]', async () => {
    await start({
      text: 'abcd',
      chunkSize: 3,
      toolCalls: [{ name: 'read', args: {} }],
      usage: { inputTokens: 7, outputTokens: 2 },
    })
    const call = { index: 0, id: 'call_1_0', type: 'function', function: { name: 'read', arguments: '' } }
    expect(await events(await ask({ stream: true, stream_options: { include_usage: true } }))).toEqual([
      choice({ role: 'assistant', content: '' }),
      choice({ content: 'abc' }),
      choice({ content: 'd' }),
      choice({ tool_calls: [call] }),
      choice({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
      choice({}, 'tool_calls'),
      {
        ...choice({}),
        choices: [],
        usage: {
          prompt_tokens: 7,
          completion_tokens: 2,
          total_tokens: 9,
          prompt_tokens_details: { cached_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: 0 },
        },
      },
      'done',
    ])
  })

  it('answers in one body when not asked to stream', async () => {
    await start({ text: 'hello' })
    expect(await (await ask({})).json()).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
    })
  })

  it('takes turns from the script first and then from the handler', async () => {
    await start({ text: 'scripted' })
    server.setHandler((request) => ({ text: `request ${request.number}` }))
    for (const content of ['scripted', 'request 2'])
      expect(await (await ask({})).json()).toMatchObject({ choices: [{ message: { content } }] })
    expect(server.requests.map((request) => request.body.model)).toEqual(['m', 'm'])
  })

  it('refuses and records a call without a result', async () => {
    await start({ text: 'never sent' })
    const call = { id: 'c1', type: 'function', function: { name: 't', arguments: '{}' } }
    const response = await ask({
      messages: [
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'user', content: 'hi' },
      ],
    })
    expect(response.status).toBe(400)
    expect(server.violations).toEqual(['request 1: messages[1]: tool call c1 has no result before this message'])
  })

  it('refuses and records a request beyond the script', async () => {
    await start()
    expect((await ask({})).status).toBe(400)
    expect(server.violations).toEqual(['request 1: the script has no turn left'])
  })

  it('answers a fault with status, header and body', async () => {
    await start({ fault: 'status', status: 429, retryAfterSeconds: 3 })
    const response = await ask({ stream: true })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '3'])
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('429') } })
  })

  it('cuts the stream in the middle', async () => {
    await start({ fault: 'cut', text: 'abc' }, { fault: 'cut', text: 'abc', how: 'end' })
    await expect((await ask({ stream: true })).text()).rejects.toThrow('terminated')
    expect(await events(await ask({ stream: true }))).toHaveLength(2)
  })

  it('keeps silent after a stall until the client leaves', async () => {
    await start({ fault: 'stall', text: 'abc' })
    const abort = new AbortController()
    const response = await fetch(`${server.baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
      signal: abort.signal,
    })
    await response.body?.getReader().read()
    abort.abort()
    expect(await server.requests[0]?.ended).toBe('closed')
  })

  it('refuses the connection, answers JSON to a stream, and answers a web page', async () => {
    await start({ fault: 'refuse' }, { fault: 'no-stream', text: 'whole' }, { fault: 'html' })
    await expect(ask({ stream: true })).rejects.toThrow('fetch failed')
    expect((await ask({ stream: true })).headers.get('content-type')).toBe('application/json')
    expect((await ask({ stream: true })).headers.get('content-type')).toBe('text/html')
  })

  it('lists a model and knows no other route', async () => {
    await start()
    expect(await (await fetch(`${server.baseUrl}/models`)).json()).toMatchObject({ data: [{ id: 'scripted' }] })
    expect((await fetch(`${server.baseUrl}/embeddings`)).status).toBe(404)
  })
})
