import type { Letter, Mailbox, SessionStore } from '@hermes/contracts/store'
import { expect } from 'vitest'
import { type StoreCase, storeCase } from './store-case.js'

const letter = (key: string, over: Partial<Letter> = {}): Letter => ({
  key,
  sessionId: 's',
  kind: 'delegation.result',
  body: { text: key },
  ...over,
})
const note = { type: 'note', kind: 'n', data: {} } as const

function mailboxCase(title: string, check: (on: { store: SessionStore; mailbox: Mailbox }) => Promise<void>) {
  return storeCase(title, async ({ store }) => {
    await store.createSession({ id: 's', source: 'cli' })
    await check({ store, mailbox: store.mailbox! })
  })
}

async function appendTaking(store: SessionStore, take: readonly string[]): Promise<readonly number[]> {
  const lease = await store.acquireLease('s', { owner: 'a' })
  try {
    return await store.append('s', [note], { lease, take })
  } finally {
    await lease.release()
  }
}

/** What every mailbox does. */
export const mailboxCases: readonly StoreCase[] = [
  mailboxCase('has letters wait for their session, oldest first', async ({ store, mailbox }) => {
    await store.createSession({ id: 'other', source: 'cli' })
    expect(await mailbox.waiting('s')).toEqual([])
    expect(await mailbox.send(letter('a'))).toBe(true)
    expect(await mailbox.send(letter('b', { sessionId: 'other' }))).toBe(true)
    expect(await mailbox.send(letter('c'))).toBe(true)
    expect(await mailbox.waiting('s')).toEqual([letter('a'), letter('c')])
  }),
  mailboxCase('delivers a key once, taken or not', async ({ store, mailbox }) => {
    expect(await mailbox.send(letter('a'))).toBe(true)
    expect(await mailbox.send(letter('a', { body: { text: 'again' } }))).toBe(false)
    expect(await mailbox.waiting('s')).toEqual([letter('a')])
    await appendTaking(store, ['a'])
    expect(await mailbox.send(letter('a'))).toBe(false)
    expect(await mailbox.hold(letter('a'))).toBe(false)
    expect(await mailbox.waiting('s')).toEqual([])
  }),
  mailboxCase('takes a letter with the entries that say it, all or none', async ({ store, mailbox }) => {
    await mailbox.send(letter('a'))
    await mailbox.send(letter('b'))
    await appendTaking(store, ['a'])
    const before = await store.entries('s')
    for (const keys of [['a'], ['unknown'], ['b', 'a']])
      await expect(appendTaking(store, keys)).rejects.toMatchObject({ code: 'store.letter_taken' })
    expect(await store.entries('s')).toEqual(before)
    expect(await mailbox.waiting('s')).toEqual([letter('b')])
  }),
  mailboxCase('holds a letter back until another of its key is sent in its place', async ({ store, mailbox }) => {
    expect(await mailbox.hold(letter('a', { body: { text: 'orphan' } }))).toBe(true)
    expect(await mailbox.waiting('s')).toEqual([])
    await expect(appendTaking(store, ['a'])).rejects.toMatchObject({ code: 'store.letter_taken' })
    expect(await mailbox.send(letter('a'))).toBe(true)
    expect(await mailbox.waiting('s')).toEqual([letter('a')])
    expect(await mailbox.hold(letter('a'))).toBe(false)
  }),
  storeCase('delivers a letter that is not held any more, once', async ({ store, clock }) => {
    await store.createSession({ id: 's', source: 'cli' })
    const mailbox = store.mailbox!
    await mailbox.hold(letter('a'), { ttlMs: 1_000 })
    clock.step(999)
    await mailbox.hold(letter('a', { body: { text: 'still' } }), { ttlMs: 1_000 })
    clock.step(999)
    expect(await mailbox.waiting('s')).toEqual([])
    clock.step(1)
    expect(await mailbox.waiting('s')).toEqual([letter('a', { body: { text: 'still' } })])
    await appendTaking(store, ['a'])
    expect(await mailbox.send(letter('a'))).toBe(false)
    expect(await mailbox.waiting('s')).toEqual([])
  }),
  mailboxCase('has no letters for a session that does not exist', async ({ mailbox }) => {
    await expect(mailbox.send(letter('a', { sessionId: 'nobody' }))).rejects.toMatchObject({
      code: 'store.unknown_session',
    })
  }),
]
