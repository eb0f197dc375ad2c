import { OpenAI } from 'openai/client'
import type { ResponseCreateParamsNonStreaming, ResponseInputItem } from 'openai/resources/responses/responses'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ModelServer, startModelServer } from '../index.js'

let server: ModelServer
let client: OpenAI

beforeEach(async () => {
  server = await startModelServer()
  client = new OpenAI({ apiKey: 'k', baseURL: server.baseUrl, maxRetries: 0, logLevel: 'off' })
})
afterEach(() => server.close())

const ask = (input: string | ResponseInputItem[] = 'hi') => ({
  model: 'gpt-5',
  store: false,
  input,
  include: ['reasoning.encrypted_content' as const],
  reasoning: { summary: 'auto' as const },
})

describe('startModelServer over the Responses wire', () => {
  it('gives the official client the same response streamed and whole', async () => {
    const step = {
      reasoning: 'Let me look.',
      text: 'I read the file.',
      phase: 'commentary',
      toolCalls: [
        { id: 'call_a', name: 'read', args: { path: 'a', lines: [1, 2] } },
        { id: 'call_b', name: 'list', args: {} },
      ],
      chunkSize: 3,
      usage: { inputTokens: 100, outputTokens: 7, cacheReadTokens: 60, reasoningTokens: 2 },
    } as const
    server.enqueue(step, step)
    const types: string[] = []
    const stream = client.responses.stream(ask())
    const numbers: number[] = []
    for await (const event of stream) {
      types.push(event.type)
      numbers.push(event.sequence_number)
    }
    const streamed = await stream.finalResponse()
    const whole = await client.responses.create(ask())
    expect(whole.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call', 'function_call'])
    expect(streamed.output).toMatchObject(whole.output.map(({ id: _id, ...item }) => item))
    expect(streamed).toMatchObject({ status: 'completed', output_text: 'I read the file.', usage: whole.usage })
    expect(whole.usage).toMatchObject({ input_tokens: 100, input_tokens_details: { cached_tokens: 60 } })
    expect(numbers).toEqual(numbers.map((_, index) => index))
    expect([types[0], types[1], types.at(-1)]).toEqual([
      'response.created',
      'response.in_progress',
      'response.completed',
    ])
    for (const item of ['reasoning_summary_text', 'output_text', 'function_call_arguments'])
      for (const stage of ['delta', 'done']) expect(types).toContain(`response.${item}.${stage}`)
  })

  it('accepts the items it gave when they come back with outputs and without ids', async () => {
    server.enqueue({ reasoning: 'Hm.', toolCalls: [{ id: 'call_a', name: 'read', args: {} }] }, { text: 'Done.' })
    const { output } = await client.responses.create(ask())
    const items = output.map(({ id: _id, ...item }) => item as ResponseInputItem)
    const input = [user('hi'), ...items, result('call_a')] as ResponseInputItem[]
    expect((await client.responses.create(ask(input))).output_text).toBe('Done.')
    expect(server.violations).toEqual([])
    expect(server.requests.map(({ api }) => api)).toEqual(['responses', 'responses'])
  })

  it('gives the thought itself where no summary is asked for, and seals none that is not asked for', async () => {
    server.enqueue({ reasoning: 'Hm.', text: 'Yes.' })
    const { output } = await client.responses.create({ model: 'qwen3', input: 'hi' })
    expect(output[0]).toMatchObject({ summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] })
    expect(output[0]).not.toHaveProperty('encrypted_content')
  })

  it.each<[string, object[], object, RegExp]>([
    ['a call without an output', [call('a')], {}, /No tool output found for function call a/],
    ['an output without a call', [result('x')], {}, /No tool call found for function call output x/],
    ['two outputs for a call', [call('a'), result('a'), result('a')], {}, /second output/],
    ['an id of a call that is too long', [call('a'.repeat(65)), result('a'.repeat(65))], {}, /call_id/],
    ['a name with other characters', [{ ...call('a'), name: 'a.b' }, result('a')], {}, /name/],
    ['arguments that are cut off', [{ ...call('a'), arguments: '{"x' }, result('a')], {}, /not a JSON object/],
    ['an item id of another kind', [{ ...call('a'), id: 'call_1' }, result('a')], {}, /begins with 'fc'/],
    ['a thought sealed by another', [thought('gAAAA.x.y'), text()], {}, /could not be verified/],
    ['a thought that nothing follows', [thought('gAAAA.x.y'), user('go on')], {}, /required following item/],
    ['a thought with the id it had', [{ ...thought('x'), id: 'rs_1' }, text()], {}, /rs_1' not found/],
    ['user parts from the model', [{ ...text(), content: [{ type: 'input_text', text: 'a' }] }], {}, /output_text/],
    ['a sampling parameter', [user('a')], { temperature: 1 }, /temperature/],
    ['thinking asked of a model that never does', [user('a')], { model: 'gpt-4.1' }, /reasoning\.effort/],
    ['a limit that is too small', [user('a')], { max_output_tokens: 15 }, /below minimum/],
    ['a parameter of another wire', [user('a')], { max_tokens: 100 }, /Unknown parameter: 'max_tokens'/],
    ['a tool in the shape of chat completions', [user('a')], { tools: [{ type: 'function' }] }, /tools\[0\]\.name/],
  ])('refuses and records %s', async (_name, input, fields, problem) => {
    server.enqueue({ text: 'never sent' })
    const body = { ...ask(input as ResponseInputItem[]), ...fields } as ResponseCreateParamsNonStreaming
    await expect(client.responses.create(body)).rejects.toThrow(problem)
    expect(server.violations).toEqual([expect.stringMatching(problem)])
  })

  it('gives faults in the shapes the official client knows', async () => {
    server.enqueue(
      { fault: 'status', status: 503 },
      { fault: 'error-event', type: 'server_error', message: 'Try later', text: 'ab', chunkSize: 1 },
    )
    await expect(client.responses.create(ask())).rejects.toMatchObject({ status: 503 })
    await expect(client.responses.stream(ask()).finalResponse()).rejects.toMatchObject({ code: 'server_error' })
  })
})

function user(text: string) {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}
function text() {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'yes' }] }
}
function call(call_id: string) {
  return { type: 'function_call', call_id, name: 't', arguments: '{}' }
}
function result(call_id: string) {
  return { type: 'function_call_output', call_id, output: 'ok' }
}
function thought(encrypted_content: string) {
  return { type: 'reasoning', summary: [], encrypted_content }
}
