import { type MessageEntry, type NewEntry, userText } from '@hermes/contracts/conversation'
import type { SessionStore } from '@hermes/contracts/store'
import { expect } from 'vitest'
import { type StoreCase, storeCase } from './store-case.js'

const question: NewEntry = { type: 'message', message: userText('hello') }
const answer = (text: string): MessageEntry => ({
  type: 'message',
  message: { role: 'assistant', content: [{ type: 'text', text }], finishReason: 'unknown' },
})

async function begin(store: SessionStore) {
  await store.sessions.create({ id: 's', source: 'cli' })
  const lease = await store.leases.acquire('s', { owner: 'me', ttlMs: 1_000 })
  await store.log.append('s', [question], { lease })
  return lease
}

const converse = async (store: SessionStore) =>
  (await store.log.entries('s')).map((entry) => entry.type === 'message' && entry.message)

/** Answers that were being streamed when their process ended. A store without `keepPartial` skips them. */
export const partialCases: readonly StoreCase[] = [
  storeCase('keeps an answer outside the log while it is streamed, and takes it away with the whole one', async (f) => {
    const { store, clock } = f
    const lease = await begin(store)
    await store.log.keepPartial!('s', answer('one'), { lease })
    await store.log.keepPartial!('s', answer('one two'), { lease })
    expect(await store.log.entries('s')).toHaveLength(1)
    await store.log.append('s', [{ type: 'note', kind: 'x', data: {} }], { lease })
    await store.log.append('s', [answer('one two three')], { lease })
    await lease.release()
    clock.step(5_000)
    await (await store.leases.acquire('s', { owner: 'next' })).release()
    expect((await converse(store)).filter(Boolean)).toEqual([userText('hello'), answer('one two three').message])
  }),
  storeCase('has in the log what was kept last once the lease has run out, for who reads and who writes', async (f) => {
    const { store, clock } = f
    const lease = await begin(store)
    await store.log.keepPartial!('s', answer('one'), { lease })
    await store.log.keepPartial!('s', answer('one two \ud800\0'), { lease })
    clock.step(1_000)
    expect(await converse(store)).toEqual([userText('hello'), answer('one two \ud800\0').message])
    expect(await store.sessions.get('s')).toMatchObject({ messageCount: 2 })
    const next = await store.leases.acquire('s', { owner: 'next' })
    expect(await converse(store)).toHaveLength(2)
    await expect(store.log.keepPartial!('s', answer('late'), { lease })).rejects.toMatchObject({
      code: 'store.lease_lost',
    })
    await next.release()
  }),
  storeCase('refuses the whole answer of a writer that slept while a reader put its half into the log', async (f) => {
    const { store, clock } = f
    const lease = await begin(store)
    await store.log.keepPartial!('s', answer('one'), { lease })
    clock.step(1_000)
    await store.log.entries('s')
    await expect(store.log.append('s', [answer('one two')], { lease })).rejects.toMatchObject({
      code: 'store.lease_lost',
    })
    await expect(lease.renew()).rejects.toMatchObject({ code: 'store.lease_lost' })
    expect(await converse(store)).toEqual([userText('hello'), answer('one').message])
  }),
  storeCase('gives what was kept to the next writer, before anything of its own', async ({ store, clock }) => {
    const lease = await begin(store)
    await store.log.keepPartial!('s', answer('one'), { lease })
    clock.step(1_000)
    const next = await store.leases.acquire('s', { owner: 'next' })
    await store.log.append('s', [question], { lease: next })
    expect(await converse(store)).toEqual([userText('hello'), answer('one').message, userText('hello')])
  }),
  storeCase('forgets what was kept when it is told to', async ({ store, clock }) => {
    const lease = await begin(store)
    await store.log.keepPartial!('s', answer('one'), { lease })
    await store.log.keepPartial!('s', null, { lease })
    clock.step(1_000)
    expect(await store.log.entries('s')).toHaveLength(1)
  }),
]
