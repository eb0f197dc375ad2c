import { type MessageEntry, type NewEntry, noUsage, project, userText } from '@hermes/contracts/conversation'
import { describe, expect, it } from 'vitest'
import type { OpenStore } from './store-case.js'
import { createStepClock } from './store-case.js'

const reply = (text: string): MessageEntry => ({
  type: 'message',
  message: {
    role: 'assistant',
    content: [
      { type: 'text', text },
      { type: 'tool-call', id: text, name: 'look', args: {}, rawArgs: '{}' },
    ],
    finishReason: 'tool-calls',
  },
  usage: { ...noUsage, inputTokens: 10, outputTokens: 5, costUsd: 0.5 },
})
const text = (text: string): NewEntry => ({ type: 'message', message: userText(text) })

async function storeWith(open: OpenStore, ...entries: readonly NewEntry[]) {
  const clock = createStepClock()
  const store = await open({ clock })
  await store.sessions.create({ id: 's', source: 'cli', title: 'Work', model: 'm', provider: 'p', cwd: '/there' })
  const lease = await store.leases.acquire('s', { owner: 'me' })
  const seqs: number[] = []
  for (const entry of entries) {
    clock.step(1_000)
    seqs.push(...(await store.log.append('s', [entry], { lease })))
  }
  return { store, clock, lease, seqs }
}

/** Forks: what they take along, and that they go their own way. */
export function forkCases(open: OpenStore): void {
  describe('forkSession', () => {
    it('takes the conversation along up to an entry, with its times, and leaves the cost behind', async () => {
      const { store, seqs, clock } = await storeWith(
        open,
        { type: 'prompt', system: 'You are.', tools: [] },
        text('one'),
        reply('a'),
        text('two'),
      )
      clock.step(60_000)
      const fork = await store.sessions.fork({ from: 's', id: 'f', upToSeq: seqs[2]!, title: 'Other way' })
      expect(fork).toMatchObject({
        parentSessionId: 's',
        title: 'Other way',
        source: 'cli',
        model: 'm',
        provider: 'p',
        cwd: '/there',
        messageCount: 2,
        toolCallCount: 1,
        apiCallCount: 0,
        usage: noUsage,
        preview: 'one',
      })
      const [original, copy] = [await store.log.entries('s'), await store.log.entries('f')]
      expect(copy.map(({ seq: _, ...entry }) => entry)).toEqual(
        original.slice(0, 3).map(({ seq: _, ...entry }) => entry),
      )
      expect(await store.search.find('one', { sessionId: 'f' })).toHaveLength(1)
      expect((await store.sessions.descendants('s')).map(({ id }) => id)).toEqual(['f'])
    })

    it('goes its own way: neither session sees what the other says', async () => {
      const { store, lease } = await storeWith(open, text('one'))
      await store.sessions.fork({ from: 's', id: 'f' })
      await store.log.append('s', [text('for s')], { lease })
      const own = await store.leases.acquire('f', { owner: 'me' })
      await store.log.append('f', [text('for f')], { lease: own })
      expect(project(await store.log.entries('s'))).toEqual([userText('one'), userText('for s')])
      expect(project(await store.log.entries('f'))).toEqual([userText('one'), userText('for f')])
    })

    it('brings back a turn that was undone when it is made before the undo', async () => {
      const { store, seqs, lease } = await storeWith(open, text('one'), text('two'))
      await store.log.append('s', [{ type: 'undo', fromSeq: seqs[1]! }], { lease })
      await store.sessions.fork({ from: 's', id: 'now' })
      await store.sessions.fork({ from: 's', id: 'then', upToSeq: seqs[1]! })
      expect(project(await store.log.entries('now'))).toEqual([userText('one')])
      expect(project(await store.log.entries('then'))).toEqual([userText('one'), userText('two')])
    })

    it('makes nothing when it cannot make all of it', async () => {
      const { store } = await storeWith(open, text('one'))
      await expect(store.sessions.fork({ from: 'nobody', id: 'f' })).rejects.toMatchObject({
        code: 'store.unknown_session',
      })
      await expect(store.sessions.fork({ from: 's', id: 's' })).rejects.toMatchObject({ code: 'store.session_exists' })
      await expect(store.sessions.fork({ from: 's', id: 'f', title: 'Work' })).rejects.toMatchObject({
        code: 'store.title_taken',
      })
      expect(await store.sessions.get('f')).toBeNull()
      expect(await store.log.entries('f')).toEqual([])
    })
  })
}
