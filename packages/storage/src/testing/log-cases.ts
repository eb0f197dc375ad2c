import { type NewEntry, noUsage, userText } from '@hermes/contracts/conversation'
import type { SessionStore } from '@hermes/contracts/store'
import { expect } from 'vitest'
import { type StoreCase, storeCase } from './store-case.js'

const stamp = { provider: 'p', endpoint: 'https://p.test/v1', model: 'm' }

/** One of everything, with the texts that storage layers like to damage. */
const everything: readonly NewEntry[] = [
  { type: 'model', provider: 'p', model: 'm' },
  {
    type: 'prompt',
    system: 'You are.\n',
    tools: [{ name: 't', description: 'd', parameters: { type: 'object', properties: { z: {}, a: {} } } }],
  },
  { type: 'message', message: userText('plain') },
  { type: 'message', message: userText('') },
  { type: 'message', message: { role: 'user', content: [] } },
  { type: 'message', message: userText('\ud83d half, \0 zero, e\u0301 😀 한국어') },
  {
    type: 'message',
    message: {
      role: 'user',
      content: [
        { type: 'text', text: 'a\ud83d' },
        { type: 'text', text: '\ude00b' },
        { type: 'text', text: 'remembered', origin: 'memory' },
        { type: 'image', mediaType: 'image/png', data: 'AAAA', name: 'x.png' },
      ],
      author: 'ann',
      platformMessageId: '42',
    },
  },
  {
    type: 'message',
    message: {
      role: 'assistant',
      content: [
        { type: 'text', text: 'before' },
        { type: 'reasoning', text: 'hm', replay: { stamp, data: { signature: 'abc', list: [1, null] } } },
        { type: 'tool-call', id: 'c1', name: 't', args: { z: 1, a: 2 }, rawArgs: '{"z":1,"a":2}' },
        { type: 'text', text: 'after' },
        { type: 'tool-call', id: 'c2', name: 't', args: null, rawArgs: '{"z":' },
        { type: 'tool-call', id: 'c3', name: 't', args: { n: 5 }, rawArgs: '{"n":"5"}' },
      ],
      finishReason: 'tool-calls',
    },
    usage: { ...noUsage, inputTokens: 10, outputTokens: 2, costUsd: 'unknown' },
  },
  { type: 'call-start', callId: 'c1', toolName: 't' },
  {
    type: 'message',
    message: {
      role: 'tool',
      callId: 'c1',
      toolName: 't',
      content: [{ type: 'text', text: '{"ok":true}', origin: 'external' }],
      isError: false,
      data: { ok: true },
    },
  },
  { type: 'message', message: { role: 'tool', callId: 'c2', toolName: 't', content: [], isError: true } },
  { type: 'compaction', upToSeq: 3, summary: 'They talked. \udc00' },
  { type: 'note', kind: 'run.end', data: { status: 'completed', nested: { list: [1, 'two', null] } } },
]

async function sessionWithLease(store: SessionStore, id = 's') {
  await store.sessions.create({ id, source: 'cli' })
  return store.leases.acquire(id, { owner: 'me' })
}

/** The log: order, exactness, all or nothing. */
export const logCases: readonly StoreCase[] = [
  storeCase('gives back every entry exactly, in the order of appending', async ({ store, clock }) => {
    const lease = await sessionWithLease(store)
    const seqs = await store.log.append('s', everything, { lease })
    const expected = everything.map((entry, index) => ({ ...entry, seq: seqs[index], atMs: clock.now() }))
    expect(await store.log.entries('s')).toEqual(expected)
  }),
  storeCase('numbers entries in strictly growing order, also over several appends', async ({ store }) => {
    const lease = await sessionWithLease(store)
    const seqs: number[] = []
    for (const entry of everything) seqs.push(...(await store.log.append('s', [entry, entry], { lease })))
    expect(seqs).toEqual([...new Set(seqs)].sort((left, right) => left - right))
    expect((await store.log.entries('s')).map((entry) => entry.seq)).toEqual(seqs)
  }),
  storeCase('keeps the order of appends that nobody waited for', async ({ store }) => {
    const lease = await sessionWithLease(store)
    const texts = Array.from({ length: 20 }, (_, index) => `message ${index}`)
    const appends = texts.map((text) =>
      store.log.append('s', [{ type: 'message', message: userText(text) }], { lease }),
    )
    await Promise.all(appends)
    const stored = (await store.log.entries('s')).map((entry) => (entry.type === 'message' ? entry.message : null))
    expect(stored).toEqual(texts.map((text) => userText(text)))
  }),
  storeCase('gives only what comes after a given seq', async ({ store }) => {
    const lease = await sessionWithLease(store)
    const seqs = await store.log.append('s', everything, { lease })
    const after = await store.log.entries('s', { afterSeq: seqs[3]! })
    expect(after.map((entry) => entry.seq)).toEqual(seqs.slice(4))
    expect(await store.log.entries('s', { afterSeq: seqs.at(-1)! })).toEqual([])
  }),
  storeCase('stamps entries with the time it is given', async ({ store }) => {
    const lease = await sessionWithLease(store)
    await store.log.append('s', everything, { lease, atMs: 1_600_000_000_001 })
    expect(new Set((await store.log.entries('s')).map((entry) => entry.atMs))).toEqual(new Set([1_600_000_000_001]))
  }),
  storeCase('appends nothing of a batch that is refused', async ({ store }) => {
    const lease = await sessionWithLease(store)
    await lease.release()
    await expect(store.log.append('s', everything, { lease })).rejects.toMatchObject({ code: 'store.lease_lost' })
    expect(await store.log.entries('s')).toEqual([])
    expect(await store.sessions.get('s')).toMatchObject({ messageCount: 0, toolCallCount: 0, usage: noUsage })
  }),
  storeCase('takes an empty batch as nothing', async ({ store }) => {
    const lease = await sessionWithLease(store)
    expect(await store.log.append('s', [], { lease })).toEqual([])
    expect(await store.log.entries('s')).toEqual([])
  }),
  storeCase('keeps sessions apart', async ({ store }) => {
    const first = await sessionWithLease(store, 'a')
    const second = await sessionWithLease(store, 'b')
    await store.log.append('a', [{ type: 'message', message: userText('to a') }], { lease: first })
    await store.log.append('b', [{ type: 'message', message: userText('to b') }], { lease: second })
    await store.log.append('a', [{ type: 'message', message: userText('again') }], { lease: first })
    expect(await store.log.entries('a')).toMatchObject([{ message: userText('to a') }, { message: userText('again') }])
    expect(await store.log.entries('b')).toMatchObject([{ message: userText('to b') }])
  }),
  storeCase('has no entries for an unknown session and refuses to append to it', async ({ store }) => {
    expect(await store.log.entries('nobody')).toEqual([])
    const lease = await sessionWithLease(store)
    const append = store.log.append('nobody', everything, { lease })
    await expect(append).rejects.toMatchObject({ code: expect.stringMatching(/^store\./) })
  }),
  storeCase('does not follow later changes to what was appended', async ({ store }) => {
    const lease = await sessionWithLease(store)
    const data: { list: number[] } = { list: [1] }
    await store.log.append('s', [{ type: 'note', kind: 'k', data }], { lease })
    data.list.push(2)
    expect(await store.log.entries('s')).toMatchObject([{ data: { list: [1] } }])
  }),
]
