import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { type Gateway, KEY, startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const scene = useScene({ isShared: true })
let gateway: Gateway

beforeAll(async () => {
  await mkdir(scene.home, { recursive: true })
  await writeFile(join(scene.home, 'config.yaml'), 'agent:\n  api_max_retries: 0\n')
  gateway = await startGateway(['--base-url', scene.server.baseUrl, '-m', 'test'], scene)
})
afterAll(() => gateway.stop())
beforeEach(() => scene.server.setHandler(null))

const says = (content: unknown) => [{ role: 'user', content }]

async function send(body: unknown) {
  const response = await gateway.request('/chat/completions', {
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, ...((await response.json()) as { error?: Record<string, unknown> }) }
}

/** An HTTP request with any headers, which `fetch` does not allow. */
async function raw(headers: Record<string, string>, base = gateway.baseUrl) {
  const { hostname, port } = new URL(base)
  const request = httpRequest({ hostname, port, path: '/v1/models', headers })
  request.end()
  const [response] = await once(request, 'response')
  return { status: response.statusCode as number, body: JSON.parse(await text(response)) }
}

describe('a request that cannot be understood', () => {
  it.each([
    ['malformed JSON', '{"messages": [', { param: null, code: 'invalid_json' }],
    ['no object', '[]', { param: null, code: 'invalid_type' }],
    ['no messages', {}, { param: 'messages', code: 'missing_required_parameter' }],
    ['messages as text', { messages: 'hi' }, { param: 'messages', code: 'invalid_type' }],
    ['a message as text', { messages: ['hi'] }, { param: 'messages[0]', code: 'invalid_type' }],
    [
      'an unknown role',
      { messages: [{ role: 'judge', content: 'x' }] },
      { param: 'messages[0].role', code: 'invalid_value' },
    ],
    ['content as number', { messages: says(5) }, { param: 'messages[0].content', code: 'invalid_type' }],
    ['empty content', { messages: says(' ') }, { param: 'messages[0].content', code: 'invalid_value' }],
    [
      'a part of an unknown kind',
      { messages: says([{ type: 'video', video: 'x' }]) },
      { param: 'messages[0].content[0].type', code: 'unsupported_content_type' },
    ],
    [
      'text of a wrong type',
      { messages: says([{ type: 'text', text: 1 }]) },
      { param: 'messages[0].content[0].text', code: 'invalid_type' },
    ],
    [
      'an image by an address of another kind',
      { messages: says([{ type: 'image_url', image_url: { url: 'ftp://example.com/a.png' } }]) },
      { param: 'messages[0].content[0].image_url.url', code: 'invalid_image_url' },
    ],
    [
      'an image by an address of this machine',
      { messages: says([{ type: 'image_url', image_url: { url: 'http://127.0.0.1:1/a.png' } }]) },
      { param: 'messages', code: 'invalid_image_url' },
    ],
    [
      'a reply at the end',
      { messages: [...says('x'), { role: 'assistant', content: 'y' }] },
      { param: 'messages', code: 'invalid_value' },
    ],
    ['stream as text', { messages: says('x'), stream: 'yes' }, { param: 'stream', code: 'invalid_type' }],
    [
      'include_usage as number',
      { messages: says('x'), stream_options: { include_usage: 1 } },
      { param: 'stream_options.include_usage', code: 'invalid_type' },
    ],
    [
      'temperature as text',
      { messages: says('x'), temperature: 'hot' },
      { param: 'temperature', code: 'invalid_type' },
    ],
    [
      'a tool without a name',
      { messages: says('x'), tools: [{ type: 'function', function: { description: 'f' } }] },
      { param: 'tools[0].function.name', code: 'invalid_type' },
    ],
    [
      'a tool of another kind',
      { messages: says('x'), tools: [{ type: 'custom', custom: { name: 'f' } }] },
      { param: 'tools[0].type', code: 'invalid_value' },
    ],
    [
      'a tool that takes a list',
      { messages: says('x'), tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'array' } } }] },
      { param: 'tools[0].function.parameters', code: 'invalid_value' },
    ],
    [
      'a tool twice',
      { messages: says('x'), tools: ['f', 'f'].map((name) => ({ type: 'function', function: { name } })) },
      { param: 'tools', code: 'invalid_value' },
    ],
    [
      'a tool that has to be called',
      { messages: says('x'), tool_choice: 'required' },
      { param: 'tool_choice', code: 'invalid_value' },
    ],
    [
      'functions',
      { messages: says('x'), functions: [{ name: 'f' }] },
      { param: 'functions', code: 'unsupported_parameter' },
    ],
    [
      'a result without its call',
      { messages: [...says('x'), { role: 'tool', content: 'x' }] },
      { param: 'messages[1].tool_call_id', code: 'invalid_type' },
    ],
    ['several answers', { messages: says('x'), n: 2 }, { param: 'n', code: 'unsupported_parameter' }],
    ['logprobs', { messages: says('x'), logprobs: true }, { param: 'logprobs', code: 'unsupported_parameter' }],
    [
      'a format',
      { messages: says('x'), response_format: { type: 'grammar' } },
      { param: 'response_format.type', code: 'unsupported_content_type' },
    ],
    [
      'a schema without a name',
      { messages: says('x'), response_format: { type: 'json_schema', json_schema: { schema: {} } } },
      { param: 'response_format.json_schema.name', code: 'invalid_type' },
    ],
    ['too many stops', { messages: says('x'), stop: [...'abcde'] }, { param: 'stop', code: 'invalid_value' }],
    ['an empty stop', { messages: says('x'), stop: [''] }, { param: 'stop[0]', code: 'invalid_value' }],
  ])('is refused with a line that names the field: %s', async (_title, body, expected) => {
    expect(await send(body)).toEqual({
      status: 400,
      error: { type: 'invalid_request_error', message: expect.stringMatching(/^[^\n]{10,200}$/), ...expected },
    })
  })

  it('is refused when its model is unknown, naming the valid ones', async () => {
    expect(await send({ model: 'gpt-9', messages: says('x') })).toEqual({
      status: 404,
      error: {
        type: 'invalid_request_error',
        code: 'model_not_found',
        param: 'model',
        message: 'There is no model "gpt-9" here. Valid models: hermes-agent, test.',
      },
    })
  })

  it('is refused when it goes nowhere', async () => {
    const response = await gateway.request('/embeddings', { body: '{}' })
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'unknown_route' } }])
  })

  it('accepts what usual clients send out of habit', async () => {
    scene.server.enqueue({ text: 'fine' })
    const habits = { tools: [], stop: null, n: 1, temperature: 0.7, max_tokens: 100, stream_options: null, user: 'me' }
    expect(
      (await send({ model: 'test', messages: says('Habits.'), response_format: { type: 'text' }, ...habits })).status,
    ).toBe(200)
  })
})

describe('a body that is too large', () => {
  const MEGABYTE = 'x'.repeat(1024 * 1024)

  it('is refused at 50 MB, announced or not, and the next request works', async () => {
    const client = gateway.client()
    const whole = client.chat.completions.create({
      model: 'test',
      messages: [{ role: 'user', content: MEGABYTE.repeat(50) }],
    })
    await expect(whole).rejects.toMatchObject({ status: 413, code: 'body_too_large' })
    let sent = 0
    const body = new ReadableStream({
      pull: (controller) => (sent++ < 50 ? controller.enqueue(new TextEncoder().encode(MEGABYTE)) : controller.close()),
    })
    const init = { method: 'POST', body, duplex: 'half', headers: { authorization: `Bearer ${KEY}` } }
    const pieces = await fetch(`${gateway.baseUrl}/chat/completions`, init as RequestInit)
    expect([pieces.status, await pieces.json()]).toMatchObject([413, { error: { code: 'body_too_large' } }])
    expect((await gateway.request('/models')).status).toBe(200)
  })

  it('is taken at 9 MB of image', async () => {
    scene.server.enqueue({ text: 'Big.' })
    const data = Buffer.alloc(6_900_000, 7).toString('base64')
    const url = `data:image/png;base64,${data}`
    expect((await send({ messages: says([{ type: 'image_url', image_url: { url } }]) })).status).toBe(200)
    expect(JSON.stringify(scene.server.requests.at(-1)!.body.messages.at(-1))).toContain(url)
  })
})

describe('access', () => {
  it('needs the key, and says what is missing', async () => {
    await expect(gateway.client({ apiKey: 'wrong' }).models.list()).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    })
    const without = await raw({})
    expect(without).toMatchObject({ status: 401, body: { error: { message: expect.stringContaining('Bearer') } } })
    expect((await raw({ authorization: `Bearer ${KEY}` })).status).toBe(200)
    const health = await fetch(`${new URL(gateway.baseUrl).origin}/health`)
    expect([health.status, await health.json()]).toMatchObject([200, { status: 'ok' }])
  })

  it('without a key is for this machine only: foreign names and origins are refused', async () => {
    const open = await startGateway(
      ['--allow-loopback-without-key', '--base-url', scene.server.baseUrl, '-m', 'test'],
      {
        ...scene,
        env: {},
      },
    )
    const { port } = new URL(open.baseUrl)
    const local = { host: `127.0.0.1:${port}` }
    expect((await raw(local, open.baseUrl)).status).toBe(200)
    expect((await raw({ host: `localhost:${port}`, origin: `http://localhost:${port}` }, open.baseUrl)).status).toBe(
      200,
    )
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example'])
      expect(await raw({ host }, open.baseUrl), host).toMatchObject({
        status: 403,
        body: { error: { code: 'foreign_host' } },
      })
    for (const origin of ['https://evil.example', 'null', 'http://localhost:3000'])
      expect(await raw({ ...local, origin }, open.baseUrl), origin).toMatchObject({
        status: 403,
        body: { error: { code: 'foreign_origin' } },
      })
    expect(await open.stop()).toBe(0)
  })

  const cases: [string, string[], Record<string, string>, RegExp][] = [
    ['no key', [], {}, /No key is set\. Set API_SERVER_KEY .* --allow-loopback-without-key/],
    ['a short key', [], { API_SERVER_KEY: 'short' }, /too short: it needs at least 16 characters/],
    ['no key beyond this machine', ['--host', '0.0.0.0', '--allow-loopback-without-key'], {}, /--host is 0\.0\.0\.0/],
    ['a bad port', ['--port', 'http'], {}, /--port takes a whole number from 0 to 65535/],
    ['an unknown flag', ['--prot', '1'], {}, /Unknown option '--prot'\. Valid flags: --host/],
    ['no folder', ['--cwd', 'nowhere'], {}, /nowhere cannot be used: ENOENT/],
    ['no model', [], { API_SERVER_KEY: KEY }, /No model is set up/],
  ]
  it.each(cases)('does not start with %s, and says why in one line', async (_title, args, env, line) => {
    const result = await runCli(['gateway', ...args], {
      home: join(scene.folder, 'empty', '.hermes'),
      cwd: scene.cwd,
      env,
    })
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toMatch(line)
    expect(result.stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  it('does not start on a port that is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    const flags = ['--base-url', scene.server.baseUrl, '-m', 'test', '--port', `${port}`]
    const result = await runCli(['gateway', ...flags], { ...scene, env: { API_SERVER_KEY: KEY } })
    taken.close()
    expect(result).toMatchObject({ exitCode: 1, stdout: '' })
    expect(result.stderr).toBe(
      `hermes gateway: Cannot listen on 127.0.0.1:${port}: something else listens there. Stop it, or take another one with --port.\n`,
    )
  })
})

describe('a client that does not behave', () => {
  it('and drops its stream stops the turn; the session goes on later', async () => {
    scene.server.enqueue({ fault: 'stall', text: 'Never finished, because', chunkSize: 8, afterChunks: 3 })
    const messages = [{ role: 'user', content: 'Tell me a long story.' }] as const
    const stream = await gateway
      .client()
      .chat.completions.create({ model: 'test', messages: [...messages], stream: true })
    const request = scene.server.requests.at(-1)!
    let partial = ''
    for await (const chunk of stream) {
      partial += chunk.choices[0]!.delta.content ?? ''
      if (partial.length >= 8) break
    }
    expect(await request.ended).toBe('closed')
    scene.server.enqueue({ text: 'As I said.' })
    const again = await gateway.client().chat.completions.create({
      model: 'test',
      messages: [...messages, { role: 'assistant', content: partial }, { role: 'user', content: 'Go on.' }],
    })
    expect(again.choices[0]!.message.content).toBe('As I said.')
    const prompt = JSON.stringify(scene.server.requests.at(-1)!.body.messages)
    expect(prompt).toContain('interrupted this reply')
    expect((again as unknown as { hermes: { session_id: string } }).hermes.session_id).toMatch(/^api-[0-9a-f]{16}$/)
  })

  it('and drops its stream while a command runs ends the command; the session is free again at once', async () => {
    scene.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'sleep 1000' } }] })
    const messages = [{ role: 'user', content: 'Sleep.' }] as const
    const { data, response } = await gateway
      .client()
      .chat.completions.create({ model: 'test', messages: [...messages], stream: true })
      .withResponse()
    for await (const chunk of data) {
      const { tool } = (chunk as { hermes?: { tool?: { status: string } } }).hermes ?? {}
      if (tool?.status === 'running') break
    }
    scene.server.enqueue({ text: 'Awake.' })
    // By its history alone the next request begins a session of its own where it arrives before the gateway knows that the client is gone.
    const headers = { 'x-hermes-session-id': response.headers.get('x-hermes-session-id')! }
    const next = await gateway.client({ headers }).chat.completions.create({
      model: 'test',
      messages: [...messages, { role: 'user', content: 'Wake up.' }],
    })
    expect(next.choices[0]!.message.content).toBe('Awake.')
    expect(JSON.stringify(scene.server.requests.at(-1)!.body.messages)).toMatch(/interrupted/)
  })

  it('and drops a request that waits for its answer closes the call to the model', async () => {
    scene.server.enqueue({ fault: 'stall', text: 'x' })
    const before = scene.server.requests.length
    const controller = new AbortController()
    const requested = gateway
      .client()
      .chat.completions.create(
        { model: 'test', messages: [{ role: 'user', content: 'Wait with me.' }] },
        { signal: controller.signal },
      )
    await scene.server.waitForRequests(before + 1)
    controller.abort()
    await expect(requested).rejects.toThrow('aborted')
    expect(await scene.server.requests.at(-1)!.ended).toBe('closed')
  })

  it('and reads slowly holds up neither the run nor others, and gets everything in the end', async () => {
    const story = 'All work and no play. '.repeat(400_000)
    scene.server.enqueue({ text: story, chunkSize: 4096 })
    const { hostname, port } = new URL(gateway.baseUrl)
    const body = JSON.stringify({ messages: says('Tell me everything.'), stream: true })
    const socket = connect({ host: hostname, port: Number(port) })
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${KEY}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await once(socket, 'readable')
    expect(await scene.server.requests.at(-1)!.ended).toBe('sent')
    scene.server.enqueue({ text: 'Still here.' })
    expect((await send({ messages: says('Are you there?') })).status).toBe(200)
    const received = await text(socket)
    const contents = received.matchAll(/"content":"([^"]*)"/g)
    expect([...contents].map(([, content]) => content).join('') === story).toBe(true)
    expect(received).toContain('data: [DONE]')
  })
})

describe('a model that does not behave', () => {
  it('is an error of the server, never of the client, when it fails before it says anything', async () => {
    scene.server.enqueue({ fault: 'status', status: 401 })
    const stream = gateway
      .client()
      .chat.completions.create({ model: 'test', messages: [{ role: 'user', content: 'Fail first.' }], stream: true })
    await expect(stream).rejects.toMatchObject({ status: 502, code: 'transport.auth', type: 'server_error' })
  })

  it('is an error in the stream when it breaks off in the middle', async () => {
    scene.server.enqueue({ fault: 'cut', text: 'Once upon a time', chunkSize: 4, afterChunks: 3 })
    const stream = await gateway
      .client()
      .chat.completions.create({ model: 'test', messages: [{ role: 'user', content: 'Break off.' }], stream: true })
    const read = async () => {
      for await (const chunk of stream) expect(chunk.choices).toHaveLength(1)
    }
    await expect(read()).rejects.toMatchObject({
      code: 'transport.connection',
      message: expect.stringContaining('broke'),
    })
  })
})

describe('limits and the end', () => {
  it('refuses more requests than may run at once, says when to come back, and stops cleanly under load', async () => {
    const small = join(scene.folder, 'small', '.hermes')
    await mkdir(small, { recursive: true })
    await writeFile(
      join(small, 'config.yaml'),
      'gateway:\n  api_server:\n    max_concurrent_runs: 1\n    max_waiting_requests: 0\n    model_name: little\n',
    )
    const one = await startGateway(['--base-url', scene.server.baseUrl, '-m', 'test'], { home: small, cwd: scene.cwd })
    scene.server.enqueue({ fault: 'stall', text: 'Busy', afterChunks: 2 })
    const first = await one
      .client()
      .chat.completions.create({ model: 'little', messages: [{ role: 'user', content: 'Hold on.' }], stream: true })
    const response = await one.request('/chat/completions', { body: JSON.stringify({ messages: says('Me too.') }) })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2'])
    const request = scene.server.requests.at(-1)!
    const read = (async () => {
      for await (const chunk of first) expect(chunk.model).toBe('little')
    })()
    const failed = expect(read).rejects.toMatchObject({ code: 'run_interrupted' })
    expect(await one.stop()).toBe(0)
    await failed
    expect(await request.ended).toBe('closed')
  })
})
