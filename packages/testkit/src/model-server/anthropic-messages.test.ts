import { Anthropic } from '@anthropic-ai/sdk/client'
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages/messages'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ModelServer, startModelServer } from '../index.js'

let server: ModelServer
let client: Anthropic

beforeEach(async () => {
  server = await startModelServer()
  client = new Anthropic({ apiKey: 'k', baseURL: server.anthropicBaseUrl, maxRetries: 0, openTelemetry: false })
})
afterEach(() => server.close())

const ask = (messages: MessageParam[] = [{ role: 'user', content: 'hi' }]) => ({
  model: 'claude-test',
  max_tokens: 100,
  messages,
})

describe('startModelServer over the Anthropic wire', () => {
  it('gives the official client the same message streamed and whole', async () => {
    const step = {
      reasoning: 'Let me look.',
      redacted: 'c2VjcmV0',
      text: 'I read the file.',
      toolCalls: [
        { id: 'toolu_a', name: 'read', args: { path: 'a', lines: [1, 2] } },
        { id: 'toolu_b', name: 'list', args: {} },
      ],
      chunkSize: 3,
      usage: { inputTokens: 100, outputTokens: 7, cacheReadTokens: 60, cacheWriteTokens: 30, reasoningTokens: 2 },
    }
    server.enqueue(step, step)
    const streamed = await client.messages.stream(ask()).finalMessage()
    const whole = await client.messages.create(ask())
    expect(whole.content.map(({ type }) => type)).toEqual([
      'thinking',
      'redacted_thinking',
      'text',
      'tool_use',
      'tool_use',
    ])
    expect(streamed.content).toEqual(whole.content)
    expect(streamed).toMatchObject({ stop_reason: 'tool_use', usage: whole.usage })
    expect(whole.usage).toMatchObject({
      input_tokens: 10,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
      output_tokens: 7,
    })
  })

  it('accepts the answers it gave when they come back with results', async () => {
    server.enqueue({ reasoning: 'Hm.', toolCalls: [{ name: 'read', args: {} }] }, { text: 'Done.' })
    const { content } = await client.messages.create(ask())
    const results = [{ type: 'tool_result', tool_use_id: 'toolu_1_0', content: 'ok' }] as const
    const messages: MessageParam[] = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content },
      { role: 'user', content: [...results] },
    ]
    expect((await client.messages.create(ask(messages))).content).toEqual([{ type: 'text', text: 'Done.' }])
    expect(server.violations).toEqual([])
    expect(server.requests.map(({ api }) => api)).toEqual(['anthropic-messages', 'anthropic-messages'])
  })

  it.each<[string, unknown[], object, RegExp]>([
    ['a call without a result', [call('a'), user('go on')], {}, /tool_use a has no tool_result/],
    ['a result without a call', [result('x')], {}, /unknown call .*x/],
    ['two results for a call', [call('a'), result('a', 'a')], {}, /two results/],
    [
      'results after text',
      [call('a'), { role: 'user', content: [text('hi'), ...result('a').content] }],
      {},
      /after other/,
    ],
    ['an id with other characters', [call('a.b'), result('a.b')], {}, /does not match/],
    ['a blank text', [user(' ')], {}, /non-empty/],
    ['a thought with a foreign signature', [thought(), user('go on')], {}, /Invalid `signature` in `thinking`/],
    ['two user messages', [user('a'), user('b')], {}, /alternate/],
    [
      'an assistant message at the end',
      [user('a'), { role: 'assistant', content: [text('b')] }],
      {},
      /end with a user/,
    ],
    ['a sampling parameter', [user('a')], { temperature: 1, model: 'claude-opus-4-7' }, /temperature/],
    [
      'a budget beyond the limit',
      [user('a')],
      { thinking: { type: 'enabled', budget_tokens: 2_000 } },
      /budget_tokens/,
    ],
    [
      'a forced call while thinking',
      [user('a')],
      { thinking: { type: 'adaptive' }, tool_choice: { type: 'any' } },
      /force/,
    ],
    [
      'five cache marks',
      [{ role: 'user', content: Array(5).fill({ ...text('a'), cache_control: {} }) }],
      {},
      /5 blocks/,
    ],
  ])('refuses and records %s', async (_name, messages, fields, problem) => {
    server.enqueue({ text: 'never sent' })
    const first = (messages[0] as { role: string }).role === 'assistant' ? [user('hi')] : []
    const body = { ...ask([...first, ...messages] as MessageParam[]), ...fields } as Parameters<
      typeof client.messages.create
    >[0]
    await expect(client.messages.create(body)).rejects.toThrow(problem)
    expect(server.violations).toEqual([expect.stringMatching(problem)])
  })

  it('gives faults in the shapes the official client knows', async () => {
    server.enqueue(
      { fault: 'status', status: 529 },
      { fault: 'error-event', type: 'overloaded_error', message: 'Overloaded', text: 'ab', chunkSize: 1 },
    )
    await expect(client.messages.create(ask())).rejects.toMatchObject({ status: 529, type: 'overloaded_error' })
    await expect(client.messages.stream(ask()).finalMessage()).rejects.toMatchObject({ type: 'overloaded_error' })
  })
})

function text(value: string) {
  return { type: 'text', text: value }
}
function user(value: string) {
  return { role: 'user', content: [text(value)] }
}
function call(id: string) {
  return { role: 'assistant', content: [{ type: 'tool_use', id, name: 't', input: {} }] }
}
function result(...ids: string[]) {
  return { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })) }
}
function thought() {
  return { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 'foreign' }, text('yes')] }
}
