import type { Inbox, InboxMessage, SessionStore } from '@hermes/contracts/store'
import { expect } from 'vitest'
import { type StoreCase, storeCase } from './store-case.js'

const inboxMessage = (key: string, over: Partial<InboxMessage> = {}): InboxMessage => ({
  key,
  sessionId: 's',
  kind: 'delegation.result',
  body: { text: key },
  ...over,
})
const note = { type: 'note', kind: 'n', data: {} } as const

function inboxCase(title: string, check: (on: { store: SessionStore; inbox: Inbox }) => Promise<void>) {
  return storeCase(title, async ({ store }) => {
    await store.sessions.create({ id: 's', source: 'cli' })
    await check({ store, inbox: store.inbox! })
  })
}

async function appendTaking(store: SessionStore, take: readonly string[]): Promise<readonly number[]> {
  const lease = await store.leases.acquire('s', { owner: 'a' })
  try {
    return await store.log.append('s', [note], { lease, take })
  } finally {
    await lease.release()
  }
}

/** What every inbox does. */
export const inboxCases: readonly StoreCase[] = [
  inboxCase('has inbox messages wait for their session, oldest first', async ({ store, inbox }) => {
    await store.sessions.create({ id: 'other', source: 'cli' })
    expect(await inbox.waiting('s')).toEqual([])
    expect(await inbox.send(inboxMessage('a'))).toBe(true)
    expect(await inbox.send(inboxMessage('b', { sessionId: 'other' }))).toBe(true)
    expect(await inbox.send(inboxMessage('c'))).toBe(true)
    expect(await inbox.waiting('s')).toEqual([inboxMessage('a'), inboxMessage('c')])
  }),
  inboxCase('delivers a key once, taken or not', async ({ store, inbox }) => {
    expect(await inbox.send(inboxMessage('a'))).toBe(true)
    expect(await inbox.send(inboxMessage('a', { body: { text: 'again' } }))).toBe(false)
    expect(await inbox.waiting('s')).toEqual([inboxMessage('a')])
    await appendTaking(store, ['a'])
    expect(await inbox.send(inboxMessage('a'))).toBe(false)
    expect(await inbox.setWill(inboxMessage('a'))).toBe(false)
    expect(await inbox.waiting('s')).toEqual([])
  }),
  inboxCase('takes an inbox message with the entries that say it, all or none', async ({ store, inbox }) => {
    await inbox.send(inboxMessage('a'))
    await inbox.send(inboxMessage('b'))
    await appendTaking(store, ['a'])
    const before = await store.log.entries('s')
    for (const keys of [['a'], ['unknown'], ['b', 'a']])
      await expect(appendTaking(store, keys)).rejects.toMatchObject({ code: 'store.inbox_message_taken' })
    expect(await store.log.entries('s')).toEqual(before)
    expect(await inbox.waiting('s')).toEqual([inboxMessage('b')])
  }),
  inboxCase('holds an inbox message back until another of its key is sent in its place', async ({ store, inbox }) => {
    expect(await inbox.setWill(inboxMessage('a', { body: { text: 'orphan' } }))).toBe(true)
    expect(await inbox.waiting('s')).toEqual([])
    await expect(appendTaking(store, ['a'])).rejects.toMatchObject({ code: 'store.inbox_message_taken' })
    expect(await inbox.send(inboxMessage('a'))).toBe(true)
    expect(await inbox.waiting('s')).toEqual([inboxMessage('a')])
    expect(await inbox.setWill(inboxMessage('a'))).toBe(false)
  }),
  storeCase('delivers an inbox message that is not held any more, once', async ({ store, clock }) => {
    await store.sessions.create({ id: 's', source: 'cli' })
    const inbox = store.inbox!
    await inbox.setWill(inboxMessage('a'), { ttlMs: 1_000 })
    clock.step(999)
    await inbox.setWill(inboxMessage('a', { body: { text: 'still' } }), { ttlMs: 1_000 })
    clock.step(999)
    expect(await inbox.waiting('s')).toEqual([])
    clock.step(1)
    expect(await inbox.waiting('s')).toEqual([inboxMessage('a', { body: { text: 'still' } })])
    await appendTaking(store, ['a'])
    expect(await inbox.send(inboxMessage('a'))).toBe(false)
    expect(await inbox.waiting('s')).toEqual([])
  }),
  inboxCase('has no inbox messages for a session that does not exist', async ({ inbox }) => {
    await expect(inbox.send(inboxMessage('a', { sessionId: 'nobody' }))).rejects.toMatchObject({
      code: 'store.unknown_session',
    })
  }),
]
