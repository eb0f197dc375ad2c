// Tools that a client brings to the API and carries out itself.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPrefix } from '@hermes/testkit'
import type OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

type Messages = OpenAI.ChatCompletionMessageParam[]

const scene = useScene({ isShared: true })
let gateway: Gateway

const start = async () => {
  gateway = await startGateway(['--base-url', scene.server.baseUrl, '-m', 'test'], scene)
}
beforeAll(start)
afterAll(() => gateway.stop())
beforeEach(() => scene.server.setHandler(null))

const user = (content: string) => ({ role: 'user', content }) as const
const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content }) as const
const weather = (name = 'get_weather') => ({
  type: 'function' as const,
  function: {
    name,
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
})

async function ask(messages: Messages, tools: OpenAI.ChatCompletionTool[] = [weather()], sessionId?: string) {
  const headers: Record<string, string> = sessionId === undefined ? {} : { 'x-hermes-session-id': sessionId }
  const { data, response } = await gateway
    .client({ headers })
    .chat.completions.create({ model: 'hermes-agent', messages, tools })
    .withResponse()
  const [{ message, finish_reason: reason }] = data.choices as [OpenAI.ChatCompletion.Choice]
  return { message, reason, session: response.headers.get('x-hermes-session-id')! }
}

const requests = () => scene.server.requests.filter(({ body }) => body?.messages !== undefined)
const sent = () => requests().at(-1)!.body
const call = (city: string, name = 'client__get_weather') => ({ name, args: { city } })

it('are called by the official client as it runs tools, with ours in between, on one prefix', async () => {
  await writeFile(join(scene.cwd, 'city.txt'), 'Oslo\n')
  const before = requests().length
  scene.server.enqueue(
    { toolCalls: [{ name: 'read_file', args: { path: 'city.txt' } }] },
    { text: 'Let me look.', toolCalls: [call('Oslo'), call('Bergen')] },
    { toolCalls: [{ name: 'read_file', args: { path: 'city.txt' } }] },
    { text: 'Cold in Oslo, wet in Bergen.' },
  )
  const seen: string[] = []
  const runner = gateway.client().chat.completions.runTools({
    model: 'hermes-agent',
    messages: [user('What is the weather?')],
    tools: [
      {
        type: 'function',
        function: {
          ...weather().function,
          parse: JSON.parse as (text: string) => { city: string },
          function: ({ city }: { city: string }) => {
            seen.push(city)
            return `${city}: -3`
          },
        },
      },
    ],
  })
  expect(await runner.finalContent()).toBe('Cold in Oslo, wet in Bergen.')
  expect(seen).toEqual(['Oslo', 'Bergen'])
  const all = requests().slice(before)
  expect(all).toHaveLength(4)
  for (const [index, next] of all.slice(1).entries()) expect(checkPrefix(all[index]!, next)).toBeNull()
  const results = sent().messages.flatMap(({ role, content }) => (role === 'tool' ? [JSON.stringify(content)] : []))
  expect(results[1]).toContain('Oslo: -3')
  expect(results[2]).toContain('Bergen: -3')
})

it('are streamed as calls, and their results go on in the session that the client names', async () => {
  scene.server.enqueue({ toolCalls: [call('Rome')] }, { text: 'Warm.' })
  const stream = gateway.client().chat.completions.stream({
    model: 'hermes-agent',
    messages: [user('Streamed: and in Rome?')],
    tools: [weather()],
  })
  const events: string[] = []
  stream.on('chunk', (chunk) => events.push(JSON.stringify(chunk)))
  const { choices } = await stream.finalChatCompletion()
  expect(choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { tool_calls: [{ type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } }] },
  })
  expect(events.join('\n')).not.toContain('client__get_weather')
  const { message } = choices[0]!
  const back = await ask([user('Streamed: and in Rome?'), message, result(message.tool_calls![0]!.id, '21')])
  expect(back).toMatchObject({ reason: 'stop', message: { content: 'Warm.' } })
})

it('keep their names apart from ours, long ones too', async () => {
  const long = `x${'y'.repeat(63)}`
  scene.server.enqueue({ text: 'None needed.' })
  await ask([user('Which tools are there?')], [weather('read_file'), weather(long)])
  const names = (sent().tools as { function: { name: string } }[]).map((tool) => tool.function.name)
  expect(names).toContain('read_file')
  expect(names).toContain('client__read_file')
  const cut = names.find((name) => name.startsWith('client__xy'))!
  expect(cut).toHaveLength(64)
  scene.server.enqueue({ toolCalls: [call('Rome', cut)] })
  const { message } = await ask([user('Call the long one.')], [weather(long)])
  expect(message.tool_calls).toMatchObject([{ function: { name: long } }])
})

it('get their result once: sent again it brings the stored answer, and it survives the end of the gateway', async () => {
  scene.server.enqueue({ toolCalls: [call('Kyiv')] })
  const first = await ask([user('Kyiv now?')])
  await gateway.stop()
  await start()
  scene.server.enqueue({ text: 'Snow.' })
  const id = first.message.tool_calls![0]!.id
  const messages = [user('Kyiv now?'), first.message, result(id, 'snow')]
  const second = await ask(messages)
  expect(second).toMatchObject({ reason: 'stop', session: first.session, message: { content: 'Snow.' } })
  const count = requests().length
  expect(await ask(messages)).toMatchObject({ session: first.session, message: { content: 'Snow.' } })
  expect(requests()).toHaveLength(count)
})

it('are answered and spoken beside in one request', async () => {
  scene.server.enqueue({ toolCalls: [call('Paris')] }, { text: 'Noted.' })
  const { message, session } = await ask([user('Paris?')])
  const back = await ask([user('Paris?'), message, result(message.tool_calls![0]!.id, 'rain'), user('In Celsius.')])
  expect(back).toMatchObject({ session, message: { content: 'Noted.' } })
  const text = JSON.stringify(sent().messages)
  expect(text).toContain('rain')
  expect(text.indexOf('In Celsius.')).toBeGreaterThan(text.indexOf('rain'))
})

it('of two clients at once stay apart', async () => {
  scene.server.setHandler(({ body }) => {
    const text = JSON.stringify(body.messages)
    const city = text.includes('Quito') ? 'Quito' : 'Turin'
    return body.messages.some(({ role }) => role === 'tool')
      ? { text: `It is fine in ${city}.` }
      : { toolCalls: [call(city)] }
  })
  const conversations = ['Quito', 'Turin'].map(async (city) => {
    const { message } = await ask([user(`${city}?`)])
    expect(message.tool_calls).toMatchObject([{ function: { arguments: JSON.stringify({ city }) } }])
    return (await ask([user(`${city}?`), message, result(message.tool_calls![0]!.id, 'fine')])).message.content
  })
  expect(await Promise.all(conversations)).toEqual(['It is fine in Quito.', 'It is fine in Turin.'])
})

it('that come after a session has begun without any are named as not seen', async () => {
  scene.server.enqueue({ text: 'Hi.' }, { text: 'None.' })
  const { session } = await ask([user('Without tools.')], [])
  const answer = await gateway
    .client({ headers: { 'x-hermes-session-id': session } })
    .chat.completions.create({ model: 'hermes-agent', messages: [user('And now?')], tools: [weather()] })
  expect(JSON.stringify(answer)).toContain('came after the session had begun without any')
})

it('whose result never comes do not hold the session', async () => {
  scene.server.enqueue({ toolCalls: [call('Lima')] }, { text: 'Never mind.' })
  const { message, session } = await ask([user('Lima?')])
  const back = await ask([user('Lima?'), { ...message, content: '' }, user('Forget it.')] as Messages)
  expect(back).toMatchObject({ session, message: { content: 'Never mind.' } })
  expect(JSON.stringify(sent().messages)).toContain('has no result')
})

it('that ran elsewhere are told in words where a conversation comes from another server', async () => {
  scene.server.enqueue({ text: 'So it is 9.' })
  const calls = [{ id: 'other_1', type: 'function' as const, function: { name: 'get_weather', arguments: '{}' } }]
  await ask([
    user('Elsewhere?'),
    { role: 'assistant', content: '', tool_calls: calls },
    result('other_1', '9 degrees'),
    { role: 'assistant', content: 'It is 9.' },
    user('Sure?'),
  ])
  expect(JSON.stringify(sent().messages.at(-1))).toContain('9 degrees')
})

it('that ran elsewhere under an id answer no call that bears it here', async () => {
  scene.server.enqueue({ toolCalls: [{ ...call('Riga'), id: 'same' }] })
  const calls = [{ id: 'same', type: 'function' as const, function: { name: 'get_weather', arguments: '{}' } }]
  const { reason, message } = await ask([
    user('Elsewhere, Tallinn?'),
    { role: 'assistant', content: '', tool_calls: calls },
    result('same', 'of Tallinn'),
    { role: 'assistant', content: 'Fine.' },
    user('And Riga?'),
  ])
  expect({ reason, calls: message.tool_calls?.length }).toEqual({ reason: 'tool_calls', calls: 1 })
})

it('are refused in one line where nobody waits for a result', async () => {
  const answer = ask([user('Nobody?'), result('call_of_nobody', 'x')])
  await expect(answer).rejects.toMatchObject({ status: 400, code: 'unknown_tool_call', param: 'messages' })
})
