import { join } from 'node:path'
import { ChatStore } from '@hermes/platform'
import { openStorage } from '@hermes/storage'
import { temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'

it('takes what is not done yet along with a chat that gets another id', async () => {
  const temporary = await temporaryHome()
  const storage = await openStorage({ path: join(temporary.path, 'state.db') })
  onTestFinished(async () => {
    await storage.close()
    await temporary.remove()
  })
  const keys = { groupSessionsPerUser: false, threadSessionsPerUser: false }
  const chats = new ChatStore({ meta: storage.meta, personOf: () => null, keys })
  const sender = { id: '8', name: 'Bob', isBot: false }
  const place = { platform: 'telegram', chat: { id: '-5', type: 'group' }, sender } as const
  const chat = await chats.put(await chats.of(place))
  const action = { type: 'command', line: '/status' } as const
  const kept = { id: 'telegram:1', action, chatKey: chat.key, user: sender, messageId: '1', atMs: 1, isDone: false }
  const done = { ...kept, id: 'telegram:2' }
  for (const one of [kept, done]) await chats.addAction(one)
  await chats.endAction(done)
  await chats.move('telegram', '-5', '-1005')
  const moved = await chats.get((await chats.openActions('telegram', 2))[0]!.chatKey)
  expect(moved).toMatchObject({ sessionId: chat.sessionId, chat: { id: '-1005' } })
  // Also for who had it in hand.
  expect(await chats.chatOf(kept)).toEqual(moved)
  expect(await chats.openActions('telegram', 2)).toHaveLength(1)
})
