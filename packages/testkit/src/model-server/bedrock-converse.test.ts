import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  type ConverseStreamOutput,
} from '@aws-sdk/client-bedrock-runtime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkPrefix, type ModelServer, type ModelStep, startModelServer } from '../index.js'
import { encodeEventMessage } from './event-stream.js'

let server: ModelServer
let client: BedrockRuntimeClient

beforeEach(async () => {
  server = await startModelServer()
  client = new BedrockRuntimeClient({
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
    endpoint: server.anthropicBaseUrl,
    region: 'us-east-1',
    maxAttempts: 1,
    requestHandler: overFetch,
  })
})
afterEach(() => server.close())

/** The SDK's own handler speaks HTTP/2, which needs TLS. */
const overFetch = {
  handle: async ({ hostname, port, path, method, headers, body }: Record<string, string>) => {
    const { host: _, ...rest } = headers as unknown as Record<string, string>
    const response = await fetch(`http://${hostname}:${port}${path}`, { method: method!, headers: rest, body: body! })
    const { status: statusCode, body: stream } = response
    return { response: { statusCode, headers: Object.fromEntries(response.headers), body: stream } }
  },
} as unknown as NonNullable<BedrockRuntimeClientConfig['requestHandler']>

const user = (...content: object[]) => ({ role: 'user', content })
const assistant = (...content: object[]) => ({ role: 'assistant', content })
const call = (toolUseId: string) => ({ toolUse: { toolUseId, name: 't', input: {} } })
const result = (toolUseId: string) => ({ toolResult: { toolUseId, content: [{ text: 'ok' }] } })
const text = (value: string) => ({ text: value })
const point = { cachePoint: { type: 'default' } }
const toolConfig = { tools: [{ toolSpec: { name: 't', inputSchema: { json: { type: 'object' } } } }] }
const pdf = (name: string) => ({ document: { format: 'pdf', name, source: { bytes: new Uint8Array([1]) } } })

function ask(messages: object[] = [user(text('hi'))], fields: object = {}): ConverseCommandInput {
  return { modelId: 'anthropic.claude-test-v1:0', messages, ...fields } as ConverseCommandInput
}

async function streamed(): Promise<ConverseStreamOutput[]> {
  const { stream } = await client.send(new ConverseStreamCommand(ask()))
  const events: ConverseStreamOutput[] = []
  for await (const event of stream!) events.push(event)
  return events
}

describe('startModelServer over the Bedrock wire', () => {
  it('gives the official client the same blocks streamed and whole', async () => {
    const step: ModelStep = {
      reasoning: 'Let me look.',
      redacted: 'c2VjcmV0',
      text: 'I read the file.',
      toolCalls: [{ id: 'tooluse_a', name: 'read', args: { path: 'a', lines: [1, 2] } }],
      usage: { inputTokens: 100, outputTokens: 7, cacheReadTokens: 60, cacheWriteTokens: 30 },
    }
    server.enqueue(step, step)
    const whole = await client.send(new ConverseCommand(ask()))
    const events = await streamed()
    const [thought, hidden, text, requested] = whole.output?.message?.content ?? []
    const deltas = events.flatMap(({ contentBlockDelta }) => contentBlockDelta?.delta ?? [])
    const reasoningText = thought?.reasoningContent?.reasoningText
    const redactedContent = hidden?.reasoningContent?.redactedContent
    expect(deltas).toEqual([
      { reasoningContent: { text: reasoningText?.text } },
      { reasoningContent: { signature: reasoningText?.signature } },
      { reasoningContent: { redactedContent } },
      { text: text?.text },
      { toolUse: { input: JSON.stringify(requested?.toolUse?.input) } },
    ])
    expect(Buffer.from(redactedContent!).toString()).toBe('secret')
    expect(events.find(({ contentBlockStart }) => contentBlockStart)?.contentBlockStart?.start?.toolUse).toEqual({
      toolUseId: 'tooluse_a',
      name: 'read',
    })
    expect(events.find(({ messageStop }) => messageStop)?.messageStop).toMatchObject({ stopReason: whole.stopReason })
    expect(events.at(-1)?.metadata?.usage).toEqual(whole.usage)
    expect(whole.usage).toMatchObject({ inputTokens: 10, cacheReadInputTokens: 60, cacheWriteInputTokens: 30 })
    expect(server.requests.map(({ api, body }) => [api, body.model, body.stream])).toEqual([
      ['bedrock-converse', 'anthropic.claude-test-v1:0', false],
      ['bedrock-converse', 'anthropic.claude-test-v1:0', true],
    ])
  })

  it('accepts the answers it gave when they come back with results', async () => {
    server.enqueue({ reasoning: 'Hm.', redacted: 'c2VjcmV0', toolCalls: [{ name: 't', args: {} }] }, { text: 'Done.' })
    const { output } = await client.send(new ConverseCommand(ask()))
    const messages = [user(text('hi')), output!.message!, user(result('tooluse_1_0'), point)]
    await client.send(new ConverseCommand(ask(messages, { toolConfig })))
    expect(server.violations).toEqual([])
  })

  it.each<[string, object[], object, RegExp]>([
    ['a call without a result', [assistant(call('a')), user(text('go on'))], { toolConfig }, /Expected toolResult.*a/],
    ['a result without a call', [user(result('x'))], { toolConfig }, /toolResult x has no toolUse/],
    ['calls without definitions', [assistant(call('a')), user(result('a'))], {}, /toolConfig field must be defined/],
    ['an id with other characters', [assistant(call('a.b')), user(result('a.b'))], { toolConfig }, /does not match/],
    ['a blank text', [user(text(' '))], {}, /blank/],
    ['two user messages', [user(text('a')), user(text('b'))], {}, /alternate/],
    ['an assistant message at the end', [user(text('a')), assistant(text('b'))], {}, /end with a user/],
    ['documents of one name', [user(pdf('a'), pdf('a'), text('b'))], {}, /duplicate document names/],
    ['a document without a text', [user(pdf('a'))], {}, /needs a text/],
    ['a dot in the name of a document', [user(pdf('a.pdf'), text('b'))], {}, /is invalid/],
    [
      'five cache points',
      [
        user(
          ...Array(5)
            .fill([text('a'), point])
            .flat(),
        ),
      ],
      {},
      /5 are set/,
    ],
    ['a cache point that follows nothing', [user(point, text('a'))], {}, /must follow/],
    [
      'a thought with a foreign signature',
      [
        user(text('a')),
        assistant({ reasoningContent: { reasoningText: { text: 'hm', signature: 'x' } } }, text('b')),
        user(text('c')),
      ],
      {},
      /Invalid `signature`/,
    ],
  ])('refuses and records %s', async (_name, messages, fields, problem) => {
    server.enqueue({ text: 'never sent' })
    const first = (messages[0] as { role: string }).role === 'assistant' ? [user(text('hi'))] : []
    const refused = client.send(new ConverseCommand(ask([...first, ...messages], fields)))
    await expect(refused).rejects.toMatchObject({
      name: 'ValidationException',
      message: expect.stringMatching(problem),
    })
    expect(server.violations).toEqual([expect.stringMatching(problem)])
  })

  it('gives faults in the shapes the official client knows', async () => {
    server.enqueue(
      { fault: 'status', status: 429 },
      { fault: 'error-event', type: 'modelStreamErrorException', message: 'Oh.', text: 'ab', chunkSize: 1 },
      { fault: 'malformed', text: 'ab' },
    )
    await expect(streamed()).rejects.toMatchObject({ name: 'ThrottlingException' })
    await expect(streamed()).rejects.toMatchObject({ name: 'ModelStreamErrorException', message: 'Oh.' })
    await expect(streamed()).rejects.toThrow(/checksum/)
  })

  it('finds the prefix of a conversation, cache points aside', async () => {
    server.setHandler(() => ({ text: 'ok' }))
    const steps = [user(text('a')), assistant(text('b')), user(text('c'))]
    const mark = (message: { role: string; content: object[] }) => ({
      ...message,
      content: [...message.content, point],
    })
    const system = [text('You are.')]
    await client.send(new ConverseCommand(ask(steps.slice(0, 1).map(mark), { system: [...system, point], toolConfig })))
    await client.send(new ConverseCommand(ask([...steps.slice(0, 2), mark(steps[2]!)], { system, toolConfig })))
    await client.send(new ConverseCommand(ask(steps, { system, toolConfig: { tools: [...toolConfig.tools, point] } })))
    await client.send(new ConverseCommand(ask(steps, { system: [text('Other.')], toolConfig })))
    const [first, second, third, fourth] = server.requests
    expect(checkPrefix(first!, second!)).toBeNull()
    expect(checkPrefix(second!, third!)).toBeNull()
    expect(checkPrefix(third!, fourth!)).toMatch(/^the system text changed/)
  })
})

describe('encodeEventMessage', () => {
  it('frames an empty message as the specification has it', () => {
    expect(encodeEventMessage({}, '').toString('hex')).toBe('000000100000000005c248eb7d98c8ff')
  })
})
