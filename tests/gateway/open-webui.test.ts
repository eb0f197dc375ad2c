// Open WebUI in front of the gateway: the requests that its server makes for one chat, and those of a browser that it connects directly.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Gateway, KEY, startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const scene = useScene({ isShared: true })
let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway(['--base-url', scene.server.baseUrl, '-m', 'test'], scene)
})
afterAll(() => gateway.stop())

/** As its server forwards who asks, where that is switched on. */
const HEADERS = {
  authorization: `Bearer ${KEY}`,
  'content-type': 'application/json',
  'X-OpenWebUI-User-Name': 'Ada%20L',
  'X-OpenWebUI-User-Id': '0a1b2c3d-0000-4000-8000-000000000001',
  'X-OpenWebUI-User-Email': 'ada@example.com',
  'X-OpenWebUI-User-Role': 'admin',
  'X-OpenWebUI-Chat-Id': '0a1b2c3d-0000-4000-8000-000000000002',
}

const post = (body: object, headers: Record<string, string> = HEADERS) =>
  gateway.request('/chat/completions', { headers, body: JSON.stringify(body) })

/** The words of a streamed answer, and its usage. */
async function streamed(response: Response): Promise<{ readonly text: string; readonly usage: unknown }> {
  expect([response.status, response.headers.get('content-type')]).toEqual([200, expect.stringMatching(/event-stream/)])
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
  expect(lines.at(-1)).toBe('data: [DONE]')
  const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)))
  const text = chunks.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join('')
  return { text, usage: chunks.findLast(({ usage }) => usage)?.usage }
}

/** A task beside the chat: one message that holds what was said, whole. */
const taskOf = (task: string, history: string, more: object = {}) => ({
  model: 'hermes-agent',
  messages: [
    {
      role: 'user',
      content: `### Task:\n${task}\n### Chat History:\n<chat_history>\n${history}\n</chat_history>`,
    },
  ],
  stream: false,
  ...more,
})

const sent = () => scene.server.requests.map(({ body }) => JSON.stringify(body.messages))

it('is offered a model, answers a chat with title, tags and suggestions beside it, and goes on in the same session', async () => {
  const models = (await (await gateway.request('/models', { headers: HEADERS })).json()) as { data: { id: string }[] }
  const { id: model } = models.data[0]!
  scene.server.enqueue(
    { text: 'Oslo is the capital.' },
    { text: '{ "title": "🏙️ Capital of Norway" }' },
    { text: '{ "tags": ["Geography"] }' },
    { text: '{ "follow_ups": ["How many live there?"] }' },
    { text: 'About 700,000.' },
  )
  const question = { role: 'user', content: 'What is the capital of Norway?' }
  const ask = (messages: readonly object[]) =>
    post({ stream: true, model, messages, stream_options: { include_usage: true }, temperature: 0.7 })
  const first = await streamed(await ask([question]))
  expect(first).toEqual({
    text: 'Oslo is the capital.',
    usage: expect.objectContaining({ total_tokens: expect.any(Number) }),
  })
  const history = `USER: ${question.content}\nASSISTANT: ${first.text}`
  const tasks = [
    taskOf('Generate a concise, 3-5 word title with an emoji.', history, { model, max_completion_tokens: 1_000 }),
    taskOf('Generate 1-3 broad tags.', history, { model }),
    taskOf('Suggest 3-5 follow-up questions.', history, { model }),
  ]
  const answers = []
  for (const task of tasks) {
    const response = await post(task)
    expect(response.status).toBe(200)
    const { object, choices } = (await response.json()) as {
      object: string
      choices: { message: { content: string }; finish_reason: string }[]
    }
    expect([object, choices[0]!.finish_reason]).toEqual(['chat.completion', 'stop'])
    answers.push(JSON.parse(choices[0]!.message.content))
  }
  expect(answers).toEqual([
    { title: '🏙️ Capital of Norway' },
    { tags: ['Geography'] },
    { follow_ups: ['How many live there?'] },
  ])
  const next = { role: 'user', content: 'How many live there?' }
  const second = await streamed(await ask([question, { role: 'assistant', content: first.text }, next]))
  expect(second.text).toBe('About 700,000.')
  // The chat goes on from its own messages, byte for byte, as if nothing had been between.
  const [before, after] = [sent().at(-5)!, sent().at(-1)!]
  expect(after.startsWith(before.slice(0, -1))).toBe(true)
  expect(after).not.toContain('### Task')
})

it('answers a browser that sends along what is of its own page', async () => {
  scene.server.enqueue({ text: 'Hello Ada.' })
  const body = {
    ...{ stream: true, model: 'hermes-agent', stream_options: { include_usage: true }, params: {}, tool_servers: [] },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello from a page.' }] }],
    features: { image_generation: false, code_interpreter: false, web_search: false, memory: false },
    variables: { '{{USER_NAME}}': 'Ada', '{{CURRENT_TIMEZONE}}': 'Europe/Oslo' },
    model_item: { id: 'hermes-agent', object: 'model', owned_by: 'openai', urlIdx: 0 },
    session_id: 'EYGO6JW0AAAB',
    chat_id: '0a1b2c3d-0000-4000-8000-000000000003',
    id: '0a1b2c3d-0000-4000-8000-000000000004',
    background_tasks: { title_generation: true, tags_generation: true, follow_up_generation: true },
    metadata: {
      chat_id: '0a1b2c3d-0000-4000-8000-000000000003',
      task: 'title_generation',
      task_body: { stream: false },
    },
  }
  expect((await streamed(await post(body))).text).toBe('Hello Ada.')
})

it('says what is wrong in the words of the API where a key is refused', async () => {
  const refused = await post(taskOf('Generate a title.', 'USER: hi'), { ...HEADERS, authorization: 'Bearer none' })
  expect([refused.status, await refused.json()]).toEqual([
    401,
    { error: expect.objectContaining({ message: expect.any(String) }) },
  ])
})
