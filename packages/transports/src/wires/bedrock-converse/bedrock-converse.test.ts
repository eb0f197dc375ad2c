import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Message } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelFinish, ModelRequest, Transport } from '@hermes/contracts/model'
import { encodeEventMessage, type ModelServer, type ModelStep, startModelServer } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { classifyError, createTransport, type TransportOptions } from '../../index.js'

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const NOVA = 'us.amazon.nova-pro-v1:0'
const KEYS = 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY:FwoGZXIvYXdzE/+='

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const request: ModelRequest = {
  model: CLAUDE,
  messages: [{ role: 'system', content: [{ type: 'text', text: 'You are.' }] }, user('hi')],
  tools: [{ name: 'read', description: 'Reads.', parameters: { type: 'object', properties: {} } }],
}
const point = { cachePoint: { type: 'default' } }

let server: ModelServer

beforeEach(async () => {
  server = await startModelServer()
})
afterEach(() => server.close())

function transport(options: Partial<TransportOptions> = {}): Transport {
  return createTransport({ provider: 'bedrock', baseUrl: server.anthropicBaseUrl, ...options })
}

async function finish(
  made = transport(),
  requested: Partial<ModelRequest> = {},
  credential: string | null = null,
): Promise<ModelFinish> {
  let last: ModelEvent | undefined
  for await (const event of made.stream({ ...request, ...requested }, { credential })) last = event
  return last as ModelFinish
}

async function failure(made = transport(), credential: string | null = null): Promise<Error> {
  return finish(made, {}, credential).then(
    () => expect.unreachable('the call succeeded'),
    (error: Error) => error,
  )
}

/** Runs `work` with variables set, and takes them away again. */
async function withEnvironment(values: Readonly<Record<string, string>>, work: () => Promise<void>): Promise<void> {
  Object.assign(process.env, values)
  try {
    await work()
  } finally {
    for (const name of Object.keys(values)) delete process.env[name]
  }
}

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-aws-'))
  try {
    await work(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Answers from memory, for shapes no well-behaved server sends. */
function raw(body: string | Uint8Array<ArrayBuffer>, init: ResponseInit = {}): Transport {
  const type = typeof body === 'string' ? 'application/json' : 'application/vnd.amazon.eventstream'
  const headers = { 'content-type': type, ...(init.headers as Record<string, string>) }
  return transport({ fetch: async () => new Response(body, { ...init, headers }) })
}

function events(...list: readonly (readonly [type: string, data: object])[]): Uint8Array<ArrayBuffer> {
  const frames = list.map(([type, data]) =>
    encodeEventMessage({ ':event-type': type, ':message-type': 'event' }, JSON.stringify(data)),
  )
  return new Uint8Array(Buffer.concat(frames))
}

const delta = (contentBlockIndex: number, piece: object) =>
  ['contentBlockDelta', { contentBlockIndex, delta: piece }] as const
const stop = (stopReason: string) => ['messageStop', { stopReason }] as const

describe('the bedrock-converse wire', () => {
  it('sends the request in a fixed shape, marked for the cache, and nothing of the environment', async () => {
    const leaks = {
      AWS_BEARER_TOKEN_BEDROCK: 'leaked',
      AWS_ACCESS_KEY_ID: 'leaked',
      AWS_SECRET_ACCESS_KEY: 'leaked',
      AWS_REGION: 'leaked',
      AWS_ENDPOINT_URL: 'http://leaked.invalid',
      AWS_EXECUTION_ENV: 'leaked',
      AWS_LAMBDA_FUNCTION_NAME: 'leaked',
      _X_AMZN_TRACE_ID: 'leaked',
    }
    await withEnvironment(leaks, async () => {
      server.setHandler(() => ({ text: 'ok' }))
      await finish(transport({ headers: { 'x-own': '1' } }), {}, 'secret-key')
      await finish()
    })
    const [sent, unsigned] = server.requests
    expect(sent?.body).toEqual({
      model: CLAUDE,
      stream: true,
      system: [{ text: 'You are.' }, point],
      messages: [{ role: 'user', content: [{ text: 'hi' }, point] }],
      inferenceConfig: { maxTokens: 32_000 },
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: 'read',
              description: 'Reads.',
              inputSchema: { json: { type: 'object', properties: {} } },
            },
          },
        ],
      },
    })
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer secret-key', 'x-own': '1', 'user-agent': 'hermes' })
    expect(unsigned?.headers).not.toHaveProperty('authorization')
    const names = server.requests.flatMap(({ headers }) => Object.keys(headers))
    expect(names.filter((name) => /^amz|amzn|x-amz/.test(name))).toEqual([])
    expect(JSON.stringify(server.requests)).not.toContain('leaked')
  })

  it('signs with a pair of keys so that what arrives is what was signed', async () => {
    server.enqueue({ text: 'ok' })
    let body = ''
    const watched: typeof fetch = (url, init) => {
      body = Buffer.from(init?.body as Uint8Array).toString()
      return fetch(url, init)
    }
    await finish(transport({ fetch: watched }), {}, KEYS)
    const headers = server.requests[0]!.headers as Record<string, string>
    const path = `/model/${encodeURIComponent(CLAUDE)}/converse-stream`
    expect(headers['x-amz-security-token']).toBe(KEYS.split(':')[2])
    expect(headers['authorization']).toBe(signature({ path, headers, body, secret: KEYS.split(':')[1]! }))
  })

  it('looks where AWS tools keep their keys when asked to, and says what to do when nothing is there', () =>
    withFolder(async (folder) => {
      const credentials = join(folder, 'credentials')
      await writeFile(credentials, '[dev]\naws_access_key_id = AKIADEV\naws_secret_access_key = s\n')
      const values = {
        AWS_SHARED_CREDENTIALS_FILE: credentials,
        AWS_CONFIG_FILE: join(folder, 'config'),
        AWS_EC2_METADATA_DISABLED: 'true',
      }
      await withEnvironment(values, async () => {
        server.enqueue({ text: 'ok' })
        await finish(transport(), {}, 'aws:dev')
        expect(server.requests[0]?.headers['authorization']).toMatch(/Credential=AKIADEV\/\d+\/us-east-1\/bedrock\//)
        expect(await failure(transport(), 'aws')).toMatchObject({
          code: 'transport.auth',
          retryable: false,
          message: expect.stringMatching(/^No AWS credentials: .*\. Set AWS_BEARER_TOKEN_BEDROCK[^\n]*$/),
        })
        expect(server.requests).toHaveLength(1)
      })
    }))

  it('stops at once while the SDK looks for keys', async () => {
    const silent = createServer()
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`
    try {
      await withEnvironment({ AWS_CONTAINER_CREDENTIALS_FULL_URI: address }, async () => {
        const abort = new AbortController()
        const requested = once(silent, 'request')
        const events = transport().stream(request, { credential: 'aws', signal: abort.signal })
        const next = expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ name: 'AbortError' })
        const [{ socket }] = (await requested) as [IncomingMessage]
        abort.abort()
        await next
        // The SDK is still waiting.
        expect(socket.destroyed).toBe(false)
        expect(server.requests).toHaveLength(0)
      })
    } finally {
      silent.closeAllConnections()
      silent.close()
    }
  })

  it('marks the end of the system text and of the last three messages, for an hour where the model takes that', async () => {
    const turns = ['a', 'b', 'c'].flatMap((text): Message[] => [
      user(text),
      { role: 'assistant', content: [{ type: 'text', text }] },
    ])
    server.setHandler(() => ({ text: 'ok' }))
    const messages = [...request.messages.slice(0, 1), ...turns, user('d')]
    const models = [CLAUDE, 'anthropic.claude-3-7-sonnet-20250219-v1:0', NOVA, 'meta.llama3-3-70b-instruct-v1:0']
    for (const model of models) await finish(transport({ cacheTtl: '1h' }), { model, messages })
    const [long, short, nova, none] = server.requests.map(({ body }) => body)
    const marked = long?.messages.map(({ content }) => JSON.stringify(content).includes('cachePoint'))
    expect(marked).toEqual([false, false, false, false, true, true, true])
    expect(JSON.stringify(long).split('{"cachePoint":{"type":"default","ttl":"1h"}}')).toHaveLength(5)
    for (const body of [short, nova]) {
      expect(JSON.stringify(body).split('{"cachePoint":{"type":"default"}}')).toHaveLength(5)
      expect(JSON.stringify(body)).not.toContain('ttl')
    }
    expect(JSON.stringify(none)).not.toContain('cachePoint')
  })

  it('asks once more without marks when the model refuses them, and sets none from then on', async () => {
    const message = 'Malformed input request: #/messages/0/content/1: extraneous key [cachePoint] is not permitted'
    server.enqueue({ fault: 'status', status: 400, body: { message } }, { text: 'ok' }, { text: 'ok' })
    const made = transport()
    for (const _ of [1, 2]) await finish(made, { model: NOVA })
    const marked = server.requests.map(({ body }) => JSON.stringify(body).includes('cachePoint'))
    expect(marked).toEqual([true, false, false])
  })

  it.each<[string, Partial<ModelRequest>, object]>([
    [CLAUDE, {}, { additionalModelRequestFields: undefined, inferenceConfig: { maxTokens: 32_000 } }],
    [
      CLAUDE,
      { reasoningEffort: 'low', maxOutputTokens: 1_000 },
      {
        additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 4_096 } },
        inferenceConfig: { maxTokens: 5_096 },
      },
    ],
    [
      'global.anthropic.claude-opus-4-6-v1',
      { reasoningEffort: 'minimal' },
      {
        additionalModelRequestFields: {
          thinking: { type: 'adaptive', display: 'summarized' },
          output_config: { effort: 'low' },
        },
      },
    ],
    [
      'anthropic.claude-3-haiku-20240307-v1:0',
      { temperature: 1.5 },
      { inferenceConfig: { maxTokens: 4_096, temperature: 1 } },
    ],
    [
      'us.amazon.nova-2-lite-v1:0',
      { reasoningEffort: 'high', maxOutputTokens: 9 },
      {
        additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
        inferenceConfig: undefined,
      },
    ],
    [NOVA, { reasoningEffort: 'high' }, { additionalModelRequestFields: undefined, inferenceConfig: undefined }],
    [
      'openai.gpt-oss-120b-1:0',
      { reasoningEffort: 'high' },
      { additionalModelRequestFields: { reasoning_effort: 'high' } },
    ],
    [NOVA, { temperature: 1.5, maxOutputTokens: 9 }, { inferenceConfig: { temperature: 1, maxTokens: 9 } }],
    [NOVA, { toolChoice: 'required' }, { toolConfig: { toolChoice: { any: {} } } }],
    [CLAUDE, { toolChoice: 'required', reasoningEffort: 'low' }, { toolConfig: { toolChoice: { auto: {} } } }],
    [NOVA, { toolChoice: 'none' }, { toolConfig: { tools: [{ toolSpec: { name: 'read' } }], toolChoice: undefined } }],
    [NOVA, { toolChoice: 'none', tools: [] }, { toolConfig: undefined }],
  ])('asks %s for what it can do: %j', async (model, requested, expected) => {
    server.enqueue({ text: 'ok' })
    await finish(transport(), { model, ...requested })
    const { toolConfig, ...body } = server.requests[0]!.body
    const absent = { additionalModelRequestFields: undefined, inferenceConfig: undefined }
    const choice = toolConfig ? { toolChoice: undefined, ...toolConfig } : undefined
    expect({ ...absent, ...body, toolConfig: choice }).toMatchObject(expected)
  })

  it('keeps definitions of tools for calls that were made, though none can be made any more', async () => {
    const call = { type: 'tool-call', id: 'c', name: 'gone', args: {}, rawArgs: '{}' } as const
    const result = { role: 'tool', callId: 'c', toolName: 'gone', content: [] } as const
    server.enqueue({ text: 'ok' })
    await finish(transport(), { tools: [], messages: [user('hi'), { role: 'assistant', content: [call] }, result] })
    expect(server.requests[0]?.body['toolConfig']).toMatchObject({ tools: [{ toolSpec: { name: 'gone' } }] })
    expect(server.violations).toEqual([])
  })

  it('tells of calls in words, and defines no tools, where the model refuses them', async () => {
    const call = { type: 'tool-call', id: 'c', name: 'read', args: { path: 'a' }, rawArgs: '{"path":"a"}' } as const
    const result = { role: 'tool', callId: 'c', toolName: 'read', content: [{ type: 'text', text: 'hello' }] } as const
    server.enqueue({ text: 'ok' })
    const messages: Message[] = [user('hi'), { role: 'assistant', content: [call] }, result, user('go on')]
    await finish(transport(), { model: 'us.deepseek.r1-v1:0', messages })
    const body = server.requests[0]!.body
    expect(body).not.toHaveProperty('toolConfig')
    expect(body.messages.slice(1)).toEqual([
      { role: 'assistant', content: [{ text: '(The tool read was called with {"path":"a"}.)' }] },
      { role: 'user', content: [{ text: '(The tool read answered:)' }, { text: 'hello' }, { text: 'go on' }] },
    ])
    expect(server.violations).toEqual([])
  })

  it('passes further members of a request on, such as a guardrail', async () => {
    const guardrailConfig = { guardrailIdentifier: 'g', guardrailVersion: '1' }
    server.enqueue({ text: 'ok' })
    await finish(transport({ quirks: { body: { guardrailConfig } } }))
    expect(server.requests[0]?.body).toMatchObject({ guardrailConfig })
  })

  it('keeps thoughts byte for byte, gives them back in their place, and only to the model that had them', async () => {
    const turn = {
      reasoning: 'Read it\u2028first. 😀',
      redacted: 'c2VjcmV0',
      toolCalls: [{ name: 'read', args: {} }],
    }
    server.enqueue(turn, { ...turn, fault: 'no-stream' })
    server.setHandler(() => ({ text: 'ok' }))
    const streamed = await finish()
    const whole = await finish()
    for (const { message } of [streamed, whole]) {
      const call = message.content.at(-1)
      const id = call?.type === 'tool-call' ? call.id : ''
      const result: Message = { role: 'tool', callId: id, toolName: 'read', content: [{ type: 'text', text: 'x' }] }
      const messages = [...request.messages, message, result]
      for (const model of [CLAUDE, NOVA]) await finish(transport(), { model, messages })
    }
    const replayed = server.requests.slice(2).map(({ body }) => body.messages[1]?.content as object[])
    for (const [own, other] of [replayed.slice(0, 2), replayed.slice(2)]) {
      expect(own).toMatchObject([
        { reasoningContent: { reasoningText: { text: turn.reasoning, signature: expect.stringMatching(/.{40}/) } } },
        { reasoningContent: { redactedContent: 'c2VjcmV0' } },
        { toolUse: { name: 'read' } },
        point,
      ])
      expect(other).toMatchObject([{ toolUse: { name: 'read' } }, point])
    }
    expect(server.violations).toEqual([])
  })

  it('asks for no budget in the middle of a turn that began without thoughts', async () => {
    const call = { type: 'tool-call', id: 'c', name: 'read', args: {}, rawArgs: '{}' } as const
    const result = { role: 'tool', callId: 'c', toolName: 'read', content: [{ type: 'text', text: 'x' }] } as const
    const messages: Message[] = [user('hi'), { role: 'assistant', content: [call] }, result]
    server.setHandler(() => ({ text: 'ok' }))
    await finish(transport(), { reasoningEffort: 'low', messages })
    const done: Message = { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }
    await finish(transport(), { reasoningEffort: 'low', messages: [...messages, done, user('next')] })
    const requested = server.requests.map(({ body }) => body['additionalModelRequestFields'] !== undefined)
    expect(requested).toEqual([false, true])
  })

  it('maps tokens: what the cache gave and took belongs to the input', async () => {
    const usage = { inputTokens: 100, outputTokens: 7, cacheReadTokens: 60, cacheWriteTokens: 30 }
    server.enqueue({ text: 'ok', usage }, { fault: 'no-stream', text: 'ok', usage })
    const made = transport()
    for (const answer of [await finish(made), await finish(made)])
      expect(answer.usage).toEqual({ ...usage, reasoningTokens: 0, costUsd: 'unknown' })
  })

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['content_filtered', 'content-filter'],
    ['guardrail_intervened', 'content-filter'],
    ['something_new', 'unknown'],
  ])('reads the stop reason %s as %s', async (finishReason, expected) => {
    server.enqueue({ text: 'x', finishReason })
    expect((await finish()).message.finishReason).toBe(expected)
  })

  it('gives a malformed call to the loop where there is one, and asks to be tried again where there is none', async () => {
    const cut = [{ id: 'c', name: 'read', rawArgs: '{"path":"a' }]
    server.enqueue({ toolCalls: cut, finishReason: 'malformed_tool_use' })
    const { message } = await finish()
    expect(message).toMatchObject({
      finishReason: 'tool-calls',
      content: [{ id: 'c', args: null, rawArgs: '{"path":"a' }],
    })
    for (const finishReason of ['malformed_tool_use', 'malformed_model_output']) {
      server.enqueue({ text: 'Let me', finishReason })
      expect(await failure()).toMatchObject({ code: 'transport.malformed_response', retryable: true })
    }
  })

  it.each<[string, ModelStep, string, boolean]>([
    ['a stream that ends early', { fault: 'cut', text: 'x', how: 'end' }, 'transport.stream_cut', true],
    [
      'throttling in the middle',
      { fault: 'error-event', type: 'throttlingException', message: 'Slow down', text: 'x' },
      'transport.rate_limit',
      true,
    ],
    [
      'a failure of the model in the middle',
      { fault: 'error-event', type: 'modelStreamErrorException', message: 'Oh', text: 'x' },
      'transport.server_error',
      true,
    ],
    [
      'unavailability in the middle',
      { fault: 'error-event', type: 'serviceUnavailableException', message: 'Busy', text: 'x' },
      'transport.overloaded',
      true,
    ],
    [
      'a refusal in the middle',
      { fault: 'error-event', type: 'validationException', message: 'No', text: 'x' },
      'transport.format_error',
      false,
    ],
    [
      'an exception nobody knows in the middle',
      { fault: 'error-event', type: 'brandNewException', message: 'Hm', text: 'x' },
      'transport.unknown',
      true,
    ],
    ['a web page', { fault: 'html' }, 'transport.wrong_address', false],
    ['a web page with a failure', { fault: 'html', status: 502 }, 'transport.server_error', true],
  ])('answers %s with one error and no second request', async (_name, turn, code, retryable) => {
    server.enqueue(turn)
    const error = await failure()
    expect(error).toMatchObject({ code, retryable, message: expect.stringMatching(/^[^\n]+$/) })
    expect(server.requests).toHaveLength(1)
  })

  it.each<[number, string, string, object]>([
    [400, 'ValidationException', 'Input is too long for requested model.', { reason: 'context-overflow' }],
    [429, 'ThrottlingException', 'Too many tokens, please wait before trying again.', { reason: 'rate-limit' }],
    [400, 'ServiceQuotaExceededException', 'Your request exceeds the quota.', { reason: 'rate-limit' }],
    [400, 'ValidationException', 'The provided model identifier is invalid.', { reason: 'model-not-found' }],
    [
      400,
      'ValidationException',
      'Invocation of model ID x with on-demand throughput isn’t supported. Retry your request with an inference profile.',
      { reason: 'model-not-found' },
    ],
    [404, 'ResourceNotFoundException', 'The model was not found.', { reason: 'model-not-found' }],
    [403, 'AccessDeniedException', "You don't have access to the model.", { reason: 'auth' }],
    [403, 'ExpiredTokenException', 'The security token is expired', { reason: 'auth', repair: 'refresh-credential' }],
    [403, 'UnrecognizedClientException', 'The security token is invalid.', { reason: 'auth' }],
    [429, 'ModelNotReadyException', 'The model is warming up.', { reason: 'overloaded', retryable: true }],
    [408, 'ModelTimeoutException', 'The model took too long.', { reason: 'timeout', retryable: true }],
    [424, 'ModelErrorException', 'The model failed.', { reason: 'server-error', retryable: true }],
    [
      400,
      'ValidationException',
      'messages.1.content.0: Invalid `signature` in `thinking` block',
      { reason: 'thinking-signature', repair: 'drop-reasoning' },
    ],
  ])('understands %i %s: %s', async (status, type, message, verdict) => {
    const headers = { 'x-amzn-errortype': `${type}:http://internal.amazon.com/`, 'x-amzn-requestid': 'r-1' }
    const error = await failure(raw(JSON.stringify({ message }), { status, headers }))
    expect(classifyError(error)).toMatchObject(verdict)
    expect(error).toMatchObject({ details: { requestId: 'r-1' } })
  })

  it('never shows a secret the service echoes', async () => {
    const [, secret = '', token = ''] = KEYS.split(':')
    const message = `The canonical string was ${secret} ${token}`
    for (const [credential, text] of [
      [KEYS, message],
      ['bearer-key-1', 'No: bearer-key-1'],
    ] as const) {
      const error = await failure(raw(JSON.stringify({ message: text }), { status: 400 }), credential)
      expect(error.message).toContain('[key]')
      for (const word of [secret, token, 'bearer-key-1']) {
        expect(error.message).not.toContain(word)
        expect(String((error.cause as Error).message)).not.toContain(word)
      }
    }
  })

  it('gives up when no answer comes in time, and closes the connection', async () => {
    const hanging: typeof fetch = (_url, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
      })
    expect(await failure(transport({ fetch: hanging, timeoutMs: 1 }))).toMatchObject({ code: 'transport.timeout' })
  })

  it.each([
    [400, 'The model is unsupported for streaming.'],
    [403, 'User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:InvokeModelWithResponseStream on model m'],
  ])('asks once more without streaming when the service refuses to stream with %i', async (status, message) => {
    server.enqueue({ fault: 'status', status, body: { message } })
    server.setHandler(() => ({ toolCalls: [{ name: 'read', args: { a: 1 } }] }))
    const made = transport()
    for (const _ of [1, 2])
      expect((await finish(made)).message.content).toMatchObject([{ type: 'tool-call', args: { a: 1 } }])
    await finish(made, { model: NOVA })
    expect(server.requests.map(({ body }) => body.stream)).toEqual([true, false, false, true])
  })

  it('tells the headers of a response before its first event', async () => {
    server.enqueue({ text: 'ok' })
    const seen: unknown[] = []
    const onHeaders = (headers: object) => seen.push(headers)
    for await (const { type } of transport().stream(request, { credential: null, onHeaders })) seen.push(type)
    expect(seen).toMatchObject([{ 'request-id': 'req_scripted' }, 'text-delta', 'finish'])
  })
})

describe('answers of servers that bend the protocol', () => {
  it('passes over kinds of blocks, pieces and events it does not know', async () => {
    const body = events(
      ['brandNew', {}],
      ['contentBlockStart', { contentBlockIndex: 0, start: { image: { format: 'png' } } }],
      delta(0, { citation: {} }),
      delta(1, { text: 'o' }),
      delta(1, { toolUse: { input: '{}' } }),
      delta(1, { text: 'k' }),
      stop('end_turn'),
    )
    const content = [{ type: 'text', text: 'ok' }]
    expect((await finish(raw(body))).message).toEqual({ role: 'assistant', content, finishReason: 'stop' })
  })

  it('makes an id for a call whose id is missing or taken', async () => {
    const start = (contentBlockIndex: number, toolUseId?: string) =>
      ['contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name: 'read' } } }] as const
    const body = events(start(0, 'a'), start(1, 'a'), start(2), stop('tool_use'))
    const ids = (await finish(raw(body))).message.content.map((part) => (part.type === 'tool-call' ? part.id : ''))
    expect(ids).toEqual(['a', expect.stringMatching(/^call_/), expect.stringMatching(/^call_/)])
    expect(new Set(ids).size).toBe(3)
  })

  it('does not give back a thought that has no signature', async () => {
    const body = events(delta(0, { reasoningContent: { text: 'half a' } }), stop('max_tokens'))
    expect((await finish(raw(body))).message.content).toEqual([{ type: 'reasoning', text: 'half a' }])
  })

  it('classifies what is no answer at all', async () => {
    for (const text of ['{"half":', '{}'])
      expect(await failure(raw(text))).toMatchObject({ code: 'transport.malformed_response' })
    const broken = encodeEventMessage({ ':event-type': 'messageStop', ':message-type': 'event' }, '{"half":')
    expect(await failure(raw(new Uint8Array(broken)))).toMatchObject({ code: 'transport.malformed_response' })
  })
})

/** The `authorization` header of AWS Signature Version 4, worked out from what arrived. */
function signature(sent: {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly secret: string
}): string {
  const { path, headers, body, secret } = sent
  const [, id, scope, names = ''] = /Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+)/.exec(
    headers['authorization']!,
  )!
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const canonical = [
    'POST',
    path.split('/').map(encodeURIComponent).join('/'),
    '',
    ...names.split(';').map((name) => `${name}:${headers[name]}`),
    '',
    names,
    sha256(body),
  ].join('\n')
  const key = scope!.split('/').reduce<string | Buffer>(hmac, `AWS4${secret}`)
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const made = hmac(key, text).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=${names}, Signature=${made}`
}
