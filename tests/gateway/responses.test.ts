// The Responses form of the API, through the official client.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const scene = useScene({ isShared: true })
let gateway: Gateway

const start = async () => {
  gateway = await startGateway(['--base-url', scene.server.baseUrl, '-m', 'test'], scene)
}
beforeAll(start)
afterAll(() => gateway.stop())
beforeEach(() => scene.server.setHandler(null))

const model = 'hermes-agent'
const responses = () => gateway.client().responses
const sentText = () => JSON.stringify(scene.server.requests.at(-1)!.body.messages)

it('answers, counts tokens and gives the response again', async () => {
  scene.server.enqueue({ text: 'Hello.', usage: { inputTokens: 11, outputTokens: 3, cacheReadTokens: 5 } })
  const response = await responses().create({ model, input: 'Hi.', instructions: 'Be kind.', metadata: { of: 'me' } })
  expect(response).toMatchObject({
    object: 'response',
    status: 'completed',
    output_text: 'Hello.',
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] }],
    instructions: 'Be kind.',
    metadata: { of: 'me' },
    usage: { input_tokens: 11, output_tokens: 3, total_tokens: 14, input_tokens_details: { cached_tokens: 5 } },
  })
  expect(sentText()).toContain('Be kind.')
  expect(await responses().retrieve(response.id)).toMatchObject({ id: response.id, output_text: 'Hello.' })
})

it('goes on after a response, in a session of its own where something else was said since, after a restart too', async () => {
  scene.server.enqueue({ text: 'One.' }, { text: 'Two.' }, { text: 'Other.' })
  const first = await responses().create({ model, input: 'Count: one?' })
  const second = await responses().create({ model, input: 'And then?', previous_response_id: first.id })
  expect(second).toMatchObject({ output_text: 'Two.', previous_response_id: first.id })
  expect(sentText()).toContain('One.')
  await gateway.stop()
  await start()
  const branch = await responses().create({ model, input: 'Or otherwise?', previous_response_id: first.id })
  expect(branch.output_text).toBe('Other.')
  expect(sentText()).toContain('One.')
  expect(sentText()).not.toContain('Two.')
  expect((await responses().retrieve(first.id)).output_text).toBe('One.')
  expect((await responses().retrieve(second.id)).output_text).toBe('Two.')
})

it('streams the events that the official client puts together', async () => {
  scene.server.enqueue({ reasoning: 'Let me think.', text: 'Streamed words.' })
  const stream = responses().stream({ model, input: 'Stream.' })
  const types: string[] = []
  const numbers: number[] = []
  for await (const event of stream) {
    types.push(event.type)
    numbers.push(event.sequence_number)
  }
  const final = await stream.finalResponse()
  expect(final.output_text).toBe('Streamed words.')
  expect(numbers).toEqual(numbers.map((_, index) => index))
  expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress'])
  expect(types.at(-1)).toBe('response.completed')
  for (const kind of ['response.output_item', 'response.content_part'])
    expect(types.filter((type) => type === `${kind}.added`)).toHaveLength(
      types.filter((type) => type === `${kind}.done`).length,
    )
})

it('has functions of the client called, in one body and in a stream', async () => {
  const tools = [
    {
      type: 'function' as const,
      name: 'get_weather',
      strict: null,
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  ]
  const call = { toolCalls: [{ name: 'client__get_weather', args: { city: 'Oslo' } }] }
  scene.server.enqueue(call, { text: 'Cold.' })
  const first = await responses().create({ model, input: 'Weather?', tools })
  const [item] = first.output
  expect(item).toMatchObject({ type: 'function_call', name: 'get_weather', arguments: '{"city":"Oslo"}' })
  if (item?.type !== 'function_call') throw new Error('no call')
  const result = { type: 'function_call_output' as const, call_id: item.call_id, output: '-3' }
  const second = await responses().create({ model, input: [result], tools, previous_response_id: first.id })
  expect(second.output_text).toBe('Cold.')
  expect(sentText()).toContain('-3')
  expect((await responses().retrieve(first.id)).output).toEqual(first.output)
  expect((await responses().retrieve(second.id)).output).toEqual(second.output)
  scene.server.enqueue(call, { text: 'Colder.' })
  const streamed = await responses().stream({ model, input: 'Weather, streamed?', tools }).finalResponse()
  const [streamedCall] = streamed.output
  if (streamedCall?.type !== 'function_call') throw new Error('no call')
  const whole = [
    { role: 'user' as const, content: 'Weather, streamed?' },
    streamedCall,
    { ...result, call_id: streamedCall.call_id },
  ]
  expect((await responses().create({ model, input: whole, tools })).output_text).toBe('Colder.')
})

it('gives the stored answer to a request that is sent again, and goes on after a command', async () => {
  scene.server.enqueue({ text: 'Red.' }, { text: 'Green.' }, { text: 'Blue.' })
  const first = await responses().create({ model, input: 'First colour?' })
  const again = { model, input: 'Second colour?', previous_response_id: first.id }
  await responses().create(again)
  const before = scene.server.requests.length
  expect((await responses().create(again)).output_text).toBe('Green.')
  expect(scene.server.requests).toHaveLength(before)
  const command = await responses().create({ model, input: '/help', previous_response_id: first.id })
  const third = await responses().create({ model, input: 'Third?', previous_response_id: command.id })
  expect(third.output_text).toBe('Blue.')
  expect(sentText()).toContain('Green.')
})

it('takes the names of items for what they say', async () => {
  scene.server.enqueue({ text: 'Blue.' }, { text: 'Still blue.' })
  const first = await responses().create({ model, input: 'Which colour?' })
  const named = first.output.map(({ id }) => ({ type: 'item_reference' as const, id: id! }))
  const input = [
    { role: 'user' as const, content: 'Which colour?' },
    ...named,
    { role: 'user' as const, content: 'Sure?' },
  ]
  expect((await responses().create({ model, input })).output_text).toBe('Still blue.')
  expect(sentText()).toContain('Blue.')
  expect(sentText().match(/Which colour/g)).toHaveLength(1)
})

it.each([
  [
    'an unknown response',
    { input: 'x', previous_response_id: 'resp_none' },
    { status: 404, code: 'response_not_found' },
  ],
  ['an unknown item', { input: [{ type: 'mcp_call' }] }, { status: 400, param: 'input' }],
  [
    'a part of a wrong type',
    { input: [{ role: 'user', content: [{ type: 'input_text', text: 1 }] }] },
    { status: 400, param: 'input[0].content[0].text' },
  ],
  [
    'a tool that is built in elsewhere',
    { input: 'x', tools: [{ type: 'web_search' }] },
    { status: 400, param: 'tools[0].type' },
  ],
  ['an item of nobody', { input: [{ type: 'item_reference', id: 'msg_1' }] }, { status: 404, code: 'item_not_found' }],
  [
    'a body that is nested too deep',
    { input: 'x', metadata: { a: JSON.parse('['.repeat(500) + ']'.repeat(500)) } },
    { status: 400, code: 'invalid_json' },
  ],
  ['no input', {}, { status: 400, param: 'input' }],
  ['a run in the background', { input: 'x', background: true }, { status: 400, param: 'background' }],
])('refuses %s in one line', async (_title, body, expected) => {
  const answer = responses().create({ model, ...body } as never)
  await expect(answer).rejects.toMatchObject(expected)
})
