import { type MessageEntry, noUsage, userText } from '@hermes/contracts/conversation'
import { expect } from 'vitest'
import { type StoreCase, storeCase } from './store-case.js'

const refused = { code: expect.stringMatching(/^store\./) }

const reply: MessageEntry = {
  type: 'message',
  message: {
    role: 'assistant',
    content: [
      { type: 'text', text: 'Looking.' },
      { type: 'tool-call', id: 'c1', name: 'read_file', args: { path: 'a' }, rawArgs: '{"path":"a"}' },
      { type: 'tool-call', id: 'c2', name: 'read_file', args: { path: 'b' }, rawArgs: '{"path":"b"}' },
    ],
    finishReason: 'tool-calls',
  },
  usage: { ...noUsage, inputTokens: 100, outputTokens: 20, cacheReadTokens: 60, reasoningTokens: 5, costUsd: 0.25 },
}

/** Sessions: making, reading, changing, counting. */
export const sessionCases: readonly StoreCase[] = [
  storeCase('gives back the session it made', async ({ store, clock }) => {
    await store.sessions.create({ id: 'parent', source: 'cli' })
    const made = await store.sessions.create({
      id: 's',
      source: 'acp',
      title: 'First',
      model: 'm',
      provider: 'p',
      baseUrl: 'http://127.0.0.1:1/v1',
      parentSessionId: 'parent',
      cwd: '/somewhere',
    })
    expect(made).toEqual({
      id: 's',
      source: 'acp',
      person: null,
      title: 'First',
      model: 'm',
      provider: 'p',
      baseUrl: 'http://127.0.0.1:1/v1',
      parentSessionId: 'parent',
      cwd: '/somewhere',
      startedAtMs: clock.now(),
      lastActiveAtMs: clock.now(),
      endedAtMs: null,
      endReason: null,
      messageCount: 0,
      toolCallCount: 0,
      usage: noUsage,
      apiCallCount: 0,
      preview: '',
    })
    expect(await store.sessions.get('s')).toEqual(made)
  }),
  storeCase('has null for an unknown session', async ({ store }) => {
    expect(await store.sessions.get('nobody')).toBeNull()
  }),
  storeCase('refuses the same id twice and keeps the first session', async ({ store }) => {
    await store.sessions.create({ id: 's', source: 'cli', title: 'First' })
    await expect(store.sessions.create({ id: 's', source: 'acp' })).rejects.toMatchObject({
      code: 'store.session_exists',
    })
    expect(await store.sessions.get('s')).toMatchObject({ source: 'cli', title: 'First' })
  }),
  storeCase('changes what an update names and nothing else', async ({ store }) => {
    await store.sessions.create({ id: 's', source: 'cli', title: 'First', model: 'm', provider: 'p', cwd: '/x' })
    const before = await store.sessions.get('s')
    await store.sessions.update('s', { title: 'Second', endedAtMs: 1_700_000_000_999, endReason: 'done', model: 'n' })
    const change = { title: 'Second', endedAtMs: 1_700_000_000_999, endReason: 'done', model: 'n' }
    expect(await store.sessions.get('s')).toEqual({ ...before, ...change })
    await store.sessions.update('s', { title: null, endedAtMs: null, endReason: null, provider: 'q' })
    expect(await store.sessions.get('s')).toEqual({ ...before, title: null, model: 'n', provider: 'q' })
  }),
  storeCase('refuses to update an unknown session', async ({ store }) => {
    await expect(store.sessions.update('nobody', { title: 'x' })).rejects.toMatchObject(refused)
  }),
  storeCase('refuses a title that another session has, but takes its own again', async ({ store }) => {
    await store.sessions.create({ id: 'a', source: 'cli', title: 'Taken' })
    await expect(store.sessions.create({ id: 'b', source: 'cli', title: 'Taken' })).rejects.toMatchObject(refused)
    expect(await store.sessions.get('b')).toBeNull()
    await store.sessions.create({ id: 'b', source: 'cli' })
    await expect(store.sessions.update('b', { title: 'Taken' })).rejects.toMatchObject(refused)
    await store.sessions.update('a', { title: 'Taken' })
    await store.sessions.update('a', { title: null })
    await store.sessions.update('b', { title: 'Taken' })
    expect(await store.sessions.get('b')).toMatchObject({ title: 'Taken' })
  }),
  storeCase('counts messages, calls and tokens as they are appended', async ({ store, clock }) => {
    await store.sessions.create({ id: 's', source: 'cli' })
    const lease = await store.leases.acquire('s', { owner: 'me' })
    clock.step(1_000)
    await store.log.append('s', [{ type: 'message', message: userText('Please look.') }, reply], { lease })
    clock.step(1_000)
    await store.log.append('s', [reply], { lease })
    expect(await store.sessions.get('s')).toMatchObject({
      messageCount: 3,
      toolCallCount: 4,
      apiCallCount: 2,
      usage: {
        ...noUsage,
        inputTokens: 200,
        outputTokens: 40,
        cacheReadTokens: 120,
        reasoningTokens: 10,
        costUsd: 0.5,
      },
      preview: 'Please look.',
      lastActiveAtMs: clock.now(),
    })
  }),
  storeCase('keeps a cost unknown once one is', async ({ store }) => {
    await store.sessions.create({ id: 's', source: 'cli' })
    const lease = await store.leases.acquire('s', { owner: 'me' })
    const unpriced: MessageEntry = { ...reply, usage: { ...noUsage, outputTokens: 1, costUsd: 'unknown' } }
    await store.log.append('s', [unpriced], { lease })
    await store.log.append('s', [reply], { lease })
    expect((await store.sessions.get('s'))?.usage).toMatchObject({ outputTokens: 21, costUsd: 'unknown' })
  }),
  storeCase('takes model and provider from a model entry', async ({ store }) => {
    await store.sessions.create({ id: 's', source: 'cli', model: 'old', provider: 'p' })
    const lease = await store.leases.acquire('s', { owner: 'me' })
    await store.log.append('s', [{ type: 'model', provider: 'q', model: 'new' }], { lease })
    expect(await store.sessions.get('s')).toMatchObject({ model: 'new', provider: 'q', messageCount: 0 })
  }),
]
