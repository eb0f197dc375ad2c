// What people say in a chat waits in the inbox and becomes their messages; what the agent answers is in the outbox with the same append.
import type { JsonObject } from '@hermes/contracts'
import { CHAT_MESSAGE, type ChatMessageBody } from '@hermes/contracts/store'
import { expect, it } from 'vitest'
import { openHome } from './__fixtures__/open-home.js'

const CONFIG = `auxiliary: {session_summary: {enabled: false}, title_generation: {enabled: false}}
terminal: {isolation: "off"}
people: {owner: {telegram: ["42"]}}
memory: {flush_min_turns: 0}
`

async function stage() {
  const { server, runtime, host } = await openHome({ 'config.yaml': CONFIG })
  const storage = await runtime.storage()
  await storage.sessions.create({ id: 'chat', source: 'telegram', person: null })
  let count = 0
  const say = (text: string, over: Partial<ChatMessageBody> = {}) => {
    const body: ChatMessageBody = { parts: [{ type: 'text', text }], platformMessageId: String(++count), ...over }
    return storage.inbox.send({
      key: `telegram:${count}`,
      sessionId: 'chat',
      kind: CHAT_MESSAGE,
      body: body as unknown as JsonObject,
    })
  }
  const deliverTo = { platform: 'telegram', target: '7' }
  const request = {
    baseUrl: server.baseUrl,
    model: 'm',
    platform: 'telegram',
    user: '42',
    permissions: 'park',
  } as const
  const session = host.open({ ...request, sessionId: 'chat', deliverTo })
  return { server, storage, session, say }
}

it('makes a message of the user of each thing that waits, in order, and writes the answer for the chat', async () => {
  const { server, storage, session, say } = await stage()
  server.enqueue({ text: 'Both heard.' })
  const image = { type: 'image', mediaType: 'image/png', data: 'AA==', name: 'cat.png' } as const
  await say('first', { author: 'Ada' })
  await say('second', { parts: [{ type: 'text', text: 'second' }, image] })
  expect(await session.send({ inbox: true }).result).toMatchObject({ status: 'completed', text: 'Both heard.' })
  expect(await storage.inbox.waiting('chat')).toEqual([])
  const messages = (await storage.log.entries('chat')).flatMap((entry) =>
    entry.type === 'message' && entry.message.role === 'user' ? [entry.message] : [],
  )
  expect(messages).toMatchObject([{ author: 'Ada', platformMessageId: '1' }, { platformMessageId: '2' }])
  const own = messages.map(({ content }) => content.filter((part) => !('origin' in part)))
  expect(own).toEqual([[{ type: 'text', text: 'first' }], [{ type: 'text', text: 'second' }, image]])
  expect(await storage.outbox.list()).toMatchObject([
    {
      platform: 'telegram',
      target: '7',
      state: 'waiting',
      body: { text: 'Both heard.', replyTo: '2', sessionId: 'chat' },
    },
  ])
  expect(server.violations).toEqual([])
})

it('says nothing twice when there is nothing new, whoever asks for it', async () => {
  const { server, storage, session, say } = await stage()
  server.enqueue({ text: 'Once.' })
  await say('hello')
  await session.send({ inbox: true }).result
  expect(await session.send({ inbox: true }).result).toMatchObject({ status: 'completed', text: 'Once.' })
  expect(server.requests).toHaveLength(1)
  expect(await storage.outbox.list()).toHaveLength(1)
})

it('tells the chat what the model says between its calls, and nothing of a tool', async () => {
  const { server, storage, session, say } = await stage()
  server.enqueue(
    {
      text: 'I look.',
      toolCalls: [{ name: 'todo_write', args: { todos: [{ id: '1', content: 'x', status: 'pending' }] } }],
    },
    { toolCalls: [{ name: 'todo_read', args: {} }] },
    { text: 'Done.' },
  )
  await say('go')
  await session.send({ inbox: true }).result
  const texts = (await storage.outbox.list()).map(({ body }) => body['text']).toReversed()
  expect(texts).toEqual(['I look.', 'Done.'])
})

it('takes what is said in the chat before words that come another way', async () => {
  const { server, storage, session, say } = await stage()
  server.enqueue({ text: 'Fine.' })
  await say('from the chat')
  await session.send('from the terminal').result
  const texts = server.requests[0]!.body.messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []))
  expect(JSON.stringify(texts)).toMatch(/from the chat.*from the terminal/)
  expect(await storage.inbox.waiting('chat')).toEqual([])
})
