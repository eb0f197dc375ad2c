import type { Message, ToolCallPart } from '@hermes/contracts/conversation'
import { toolCalls } from '@hermes/contracts/conversation'
import type { ModelFinish, ModelRequest, Transport } from '@hermes/contracts/model'
import { type ModelServer, startModelServer } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTransport, PROVIDERS, type Provider } from '../index.js'

// biome-ignore lint/suspicious/noExplicitAny: JSON as it was sent, to be looked into.
type Sent = any

let server: ModelServer
beforeEach(async () => {
  server = await startModelServer()
})
afterEach(() => server.close())

const text = (of: string) => ({ type: 'text', text: of }) as const
const opening: readonly Message[] = [
  { role: 'system', content: [text('You are terse.')] },
  { role: 'user', content: [text('What is in a.txt?')] },
]
const parameters = {
  type: 'object',
  properties: {
    path: { type: 'string', pattern: '^/', format: 'uri-reference' },
    limit: { type: ['integer', 'null'] },
  },
  required: ['path'],
  additionalProperties: false,
} as const
const tools = ['read_file', 'search_files', 'web_search'].map((name) => ({ name, description: 'Finds.', parameters }))

async function ask(transport: Transport, messages: readonly Message[], model: string): Promise<ModelFinish> {
  const request: ModelRequest = { model, messages, tools, temperature: 0, reasoningEffort: 'medium' }
  let last: ModelFinish | undefined
  for await (const event of transport.stream(request, { credential: 'key-of-test' }))
    if (event.type === 'finish') last = event
  return last!
}

const answered = (call: ToolCallPart): Message => ({
  role: 'tool',
  callId: call.id,
  toolName: call.name,
  content: [text('hello')],
})

/** A conversation of two rounds with a tool in the first. */
async function converse(provider: Provider, model: string): Promise<string> {
  server.enqueue(
    {
      reasoning: 'A file.',
      toolCalls: [{ id: 'toolu_01AbCdEfGhIjKlMnOpQrStUvWxYz0123456789', name: 'read_file', args: { path: '/a.txt' } }],
    },
    { text: 'It says hello.' },
  )
  const isBare = provider.api === 'anthropic-messages' || provider.api === 'bedrock-converse'
  const base = isBare ? server.anthropicBaseUrl : server.baseUrl
  const transport = createTransport({ provider: provider.id, api: provider.api, baseUrl: base })
  const first = await ask(transport, opening, model)
  const calls = toolCalls(first.message)
  expect(calls.map(({ name, args }) => [name, args])).toEqual([['read_file', { path: '/a.txt' }]])
  const second = await ask(transport, [...opening, first.message, ...calls.map(answered)], model)
  return second.message.content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('')
}

const served = PROVIDERS.filter(({ exercised }) => exercised)

describe('every provider of the catalogue', () => {
  it.each(served.map((provider) => [provider.id, provider] as const))(
    'holds a conversation with tools as %s',
    async (_id, provider) => {
      const model = provider.defaultModel ?? 'some-model'
      expect(await converse(provider, model)).toBe('It says hello.')
      expect(server.violations).toEqual([])
      for (const { headers, body } of server.requests) {
        const credentials = [headers['authorization'], headers['x-api-key']].filter((value) => value !== undefined)
        expect(credentials).toHaveLength(1)
        expect(headers).toMatchObject(provider.quirks.headers ?? {})
        expect(body).toMatchObject(provider.quirks.body ?? {})
      }
    },
  )

  it('sees the usual names of tools where an endpoint keeps some of them for itself', async () => {
    server.enqueue({ toolCalls: [{ id: 'c', name: 'hermes_search_files', args: { path: '/' } }] }, { text: 'Done.' })
    const transport = createTransport({ provider: 'opencode-zen', baseUrl: server.baseUrl })
    const first = await ask(transport, opening, 'm')
    const calls = toolCalls(first.message)
    expect(calls.map(({ name }) => name)).toEqual(['search_files'])
    await ask(transport, [...opening, first.message, ...calls.map(answered)], 'm')
    const [, { body }] = server.requests as Sent
    expect(body.tools.map((tool: Sent) => tool.function.name)).toEqual([
      'read_file',
      'hermes_search_files',
      'hermes_web_search',
    ])
    expect(body.messages[2].tool_calls[0].function.name).toBe('hermes_search_files')
  })
})
