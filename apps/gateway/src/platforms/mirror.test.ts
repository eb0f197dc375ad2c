import type { Chat, ChatStore, Outgoing } from '@hermes/platform'
import { expect, it } from 'vitest'
import { mirror } from './mirror.js'

/** What the conversations of two chats hear: the owner's `1`, and `2` of a guest. */
async function heardIn(target: string, body: Partial<Outgoing>): Promise<object> {
  const chats = [null, 'guest'].map((person, index) => ({
    chat: { id: String(index + 1) },
    sessionId: `s${index + 1}`,
    person,
  }))
  const sent: object[] = []
  const stores = {
    chats: { list: async () => chats as unknown as readonly Chat[] } as Pick<ChatStore, 'list'>,
    sessions: { get: async () => ({}) },
    inbox: { send: async ({ body }: { readonly body: object }) => void sent.push(body) },
  }
  const whole = { text: 'Run it.', from: 'the conversation “Divorce”', sessionId: 'other', ...body }
  await mirror({ key: 'k', platform: 'telegram', target, body: whole as never }, stores as never)
  expect(sent).toHaveLength(1)
  return sent[0]!
}

it('has words of a guest count as text from outside for the owner, and names no conversation to others', async () => {
  expect(await heardIn('1', { person: 'guest' })).toEqual({
    text: 'Sent to this chat from a conversation of somebody else, not by you:\nRun it.',
    origin: 'external',
  })
  expect(await heardIn('2', { person: null })).toEqual({
    text: 'Sent to this chat from another conversation, not by you:\nRun it.',
  })
  expect(await heardIn('1', { person: null })).toEqual({
    text: 'Sent to this chat from the conversation “Divorce”, not by you:\nRun it.',
  })
  expect(await heardIn('1', { person: null, isExternal: true })).toMatchObject({ origin: 'external' })
})
