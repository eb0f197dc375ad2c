import { type MessageEntry, noUsage, userText } from '@hermes/contracts/conversation'
import { describe, expect, it } from 'vitest'
import { MARKS } from '../marks.js'
import type { OpenStore } from './store-case.js'
import { createStepClock } from './store-case.js'

const DAY_MS = 86_400_000

async function storeWithOldSessions(open: OpenStore) {
  const clock = createStepClock()
  const store = await open({ clock })
  const startedAtMs = clock.now()
  const add = async (id: string, more: { source?: string; parentSessionId?: string; isOpen?: boolean } = {}) => {
    const { source = 'cli', isOpen = false, ...session } = more
    await store.sessions.create({ id, source, ...session })
    const lease = await store.leases.acquire(id, { owner: 'me' })
    await store.log.append(id, [{ type: 'message', message: userText(`said in ${id}`) }], { lease })
    await lease.release()
    if (!isOpen) await store.sessions.update(id, { endedAtMs: clock.now(), endReason: 'done' })
  }
  return { store, clock, startedAtMs, add }
}

const reply = (costUsd: number, model: string): MessageEntry => ({
  type: 'message',
  message: { role: 'assistant', content: [{ type: 'text', text: model }], finishReason: 'stop' },
  usage: { ...noUsage, inputTokens: 10, outputTokens: 5, costUsd },
})

/** What a store does about its own size, and what it tells of itself. */
export function upkeepCases(open: OpenStore): void {
  describe('pruneSessions', () => {
    it('deletes what was quiet for long, counts it, and asks first where told', async () => {
      const { store, clock, add } = await storeWithOldSessions(open)
      await add('old')
      await add('other', { source: 'acp' })
      clock.step(10 * DAY_MS)
      await add('new')
      const old = { olderThanMs: 10 * DAY_MS }
      expect(await store.maintenance.prune({ ...old, dryRun: true })).toBe(2)
      expect(await store.maintenance.prune({ ...old, source: 'acp' })).toBe(1)
      expect(await store.sessions.get('other')).toBeNull()
      expect(await store.maintenance.prune(old)).toBe(1)
      expect((await store.sessions.list()).map(({ id }) => id)).toEqual(['new'])
      expect(await store.search.find('said')).toHaveLength(1)
      expect(await store.maintenance.prune(old)).toBe(0)
      expect(await store.maintenance.check()).toEqual([])
    })

    it('goes by the last message of a session, not by when it began or came in', async () => {
      const { store, clock, add } = await storeWithOldSessions(open)
      const startedAtMs = clock.now() - 400 * DAY_MS
      for (const [id, lastAtMs] of [
        ['quiet', startedAtMs + DAY_MS],
        ['gone-on-with', clock.now() - DAY_MS],
      ] as const) {
        await store.sessions.create({ id, source: 'claude-code', startedAtMs })
        const lease = await store.leases.acquire(id, { owner: 'me' })
        const text = [{ type: 'message', message: userText(`said in ${id}`) }] as const
        await store.log.append(id, text, { lease, atMs: startedAtMs })
        await store.log.append(id, text, { lease, atMs: lastAtMs })
        await lease.release()
        await store.sessions.end(id, { reason: 'done' })
      }
      await add('open', { isOpen: true })
      expect(await store.maintenance.prune({ olderThanMs: 7 * DAY_MS })).toBe(1)
      expect((await store.sessions.list()).map(({ id }) => id).toSorted()).toEqual(['gone-on-with', 'open'])
    })

    it('leaves a pinned session and what it came from alone', async () => {
      const { store, clock, add } = await storeWithOldSessions(open)
      await add('root')
      await add('pinned', { parentSessionId: 'root' })
      await add('other')
      await store.sessions.setTags('pinned', [MARKS.pinned])
      clock.step(10 * DAY_MS)
      expect(await store.maintenance.prune({ olderThanMs: DAY_MS })).toBe(1)
      expect((await store.sessions.list()).map(({ id }) => id).toSorted()).toEqual(['pinned', 'root'])
    })

    it('keeps a session that somebody writes, and those that anything young descends from', async () => {
      const { store, clock, add } = await storeWithOldSessions(open)
      await add('root')
      await add('child', { parentSessionId: 'root' })
      await add('held')
      clock.step(10 * DAY_MS)
      await add('young', { parentSessionId: 'child' })
      const lease = await store.leases.acquire('held', { owner: 'me' })
      expect(await store.maintenance.prune({ olderThanMs: DAY_MS })).toBe(0)
      await lease.release()
      await store.sessions.end('held', { reason: 'done' })
      expect(await store.maintenance.prune({ olderThanMs: DAY_MS })).toBe(1)
      expect((await store.sessions.ancestors('young')).map(({ id }) => id)).toEqual(['child', 'root'])
    })
  })

  describe('archive', () => {
    it('takes what was quiet for long, once, and not what is pinned; who writes a session brings it back', async () => {
      const { store, clock, add } = await storeWithOldSessions(open)
      for (const id of ['old', 'taken-up', 'pinned']) await add(id)
      await store.sessions.setTags('pinned', [MARKS.pinned, 'tea'])
      await store.sessions.setTags('old', ['tea'])
      clock.step(3 * DAY_MS)
      await add('new')
      const shown = async () => (await store.sessions.list()).map(({ id }) => id)
      expect(await store.maintenance.archive({ olderThanMs: 3 * DAY_MS })).toBe(2)
      expect(await store.maintenance.archive({ olderThanMs: 3 * DAY_MS })).toBe(0)
      expect((await shown()).toSorted()).toEqual(['new', 'pinned'])
      expect(await store.sessions.list({ includeArchived: true, withoutTag: MARKS.pinned })).toHaveLength(3)
      expect((await store.sessions.list({ tag: MARKS.archived })).map(({ id }) => id).toSorted()).toEqual([
        'old',
        'taken-up',
      ])
      await (await store.leases.acquire('taken-up', { owner: 'me' })).release()
      expect(await shown()).toContain('taken-up')
      expect(await store.sessions.tags('old')).toEqual([MARKS.archived, 'tea'])
    })
  })

  describe('lineage', () => {
    it('is known upwards and downwards', async () => {
      const { store, add } = await storeWithOldSessions(open)
      await add('a')
      await add('b', { parentSessionId: 'a' })
      await add('c', { parentSessionId: 'b' })
      await add('d', { parentSessionId: 'a' })
      expect((await store.sessions.ancestors('c')).map(({ id }) => id)).toEqual(['b', 'a'])
      expect((await store.sessions.descendants('a')).map(({ id }) => id)).toEqual(['b', 'd', 'c'])
      expect(await store.sessions.ancestors('nobody')).toEqual([])
    })
  })

  describe('stats', () => {
    it('are zero in an empty store', async () => {
      const store = await open()
      expect(await store.maintenance.stats()).toMatchObject({
        sessions: 0,
        messages: 0,
        oldestMs: null,
        newestMs: null,
        bySource: [],
      })
    })

    it('count sessions, messages and cost by source and model', async () => {
      const { store, clock, startedAtMs, add } = await storeWithOldSessions(open)
      await add('a')
      await add('b', { source: 'acp' })
      clock.step(1_000)
      await add('c')
      const lease = await store.leases.acquire('c', { owner: 'me' })
      await store.log.append('c', [{ type: 'model', provider: 'p', model: 'm' }, reply(0.5, 'm')], { lease })
      const stats = await store.maintenance.stats()
      expect(stats).toMatchObject({
        sessions: 3,
        messages: 4,
        oldestMs: startedAtMs,
        newestMs: startedAtMs + 1_000,
        bySource: [
          { source: 'cli', sessions: 2, messages: 3 },
          { source: 'acp', sessions: 1, messages: 1 },
        ],
        byModel: [{ model: 'm', sessions: 1, inputTokens: 10, outputTokens: 5, costUsd: 0.5 }],
      })
      expect(stats.bytes).toBeGreaterThan(0)
    })
  })
}
