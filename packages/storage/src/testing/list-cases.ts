import { noUsage, userText } from '@hermes/contracts/conversation'
import { describe, expect, it } from 'vitest'
import type { OpenStore } from './store-case.js'
import { createStepClock } from './store-case.js'

async function storeWith(
  open: OpenStore,
  ...sessions: { id: string; title?: string; source?: string; cwd?: string; empty?: boolean }[]
) {
  const clock = createStepClock()
  const store = await open({ clock })
  const say = async (id: string, text: string) => {
    clock.step(1_000)
    const lease = await store.leases.acquire(id, { owner: 'me' })
    await store.log.append(id, [{ type: 'message', message: userText(text) }], { lease })
    await lease.release()
  }
  for (const { empty, source = 'cli', ...session } of sessions) {
    clock.step(1_000)
    await store.sessions.create({ source, ...session })
    if (!empty) await say(session.id, `hello from ${session.id}`)
  }
  return { store, clock, say }
}

const ids = (sessions: readonly { id: string }[]) => sessions.map(({ id }) => id)

/** Sessions as people meet them: lists, names, titles, what is removed. */
export function listCases(open: OpenStore): void {
  describe('listSessions', () => {
    it('lists by newest activity, without empty sessions unless asked, in pages', async () => {
      const { store, say } = await storeWith(
        open,
        { id: 'a' },
        { id: 'b', source: 'acp' },
        { id: 'c' },
        { id: 'd', empty: true },
      )
      await say('a', 'again')
      expect(ids(await store.sessions.list())).toEqual(['a', 'c', 'b'])
      expect(ids(await store.sessions.list({ includeEmpty: true }))).toEqual(['a', 'd', 'c', 'b'])
      expect(ids(await store.sessions.list({ source: 'cli' }))).toEqual(['a', 'c'])
      expect(ids(await store.sessions.list({ limit: 1, offset: 1 }))).toEqual(['c'])
      expect(await store.sessions.list({ limit: -1, offset: Number.NaN })).toEqual([])
    })

    it('previews the first user message on one line, without what the person did not write', async () => {
      const { store } = await storeWith(open, { id: 'a', empty: true })
      const lease = await store.leases.acquire('a', { owner: 'me' })
      const content = [
        { type: 'text' as const, text: 'remembered', origin: 'memory' as const },
        { type: 'text' as const, text: `  Fix\n\tthe   build ${'😀'.repeat(300)}` },
      ]
      await store.log.append('a', [{ type: 'message', message: { role: 'user', content } }], { lease })
      expect((await store.sessions.get('a'))?.preview).toBe(`Fix the build ${'😀'.repeat(86)}`)
    })
  })

  describe('folders', () => {
    it('names each folder that was talked in once, the newest activity first', async () => {
      const { store, say } = await storeWith(
        open,
        { id: 'a', cwd: '/x' },
        { id: 'b', cwd: '/y' },
        { id: 'c', cwd: '/x' },
        { id: 'child', cwd: '/child', source: 'subagent' },
        { id: 'd', cwd: '/empty', empty: true },
        { id: 'e' },
      )
      expect(await store.sessions.folders()).toEqual(['/x', '/y'])
      await say('b', 'again')
      expect(await store.sessions.folders()).toEqual(['/y', '/x'])
    })
  })

  describe('latestSession', () => {
    it('is none that an agent started for itself, and lists leave those out too', async () => {
      const { store } = await storeWith(open, { id: 'a' }, { id: 'b', source: 'subagent' })
      expect((await store.sessions.latest())?.id).toBe('a')
      expect((await store.sessions.list()).map(({ id }) => id)).toEqual(['a'])
      expect((await store.sessions.list({ source: 'subagent' })).map(({ id }) => id)).toEqual(['b'])
    })

    it('is the newest one with a message, of a source or a directory where asked', async () => {
      const { store } = await storeWith(
        open,
        { id: 'a', cwd: '/x' },
        { id: 'b', source: 'acp', cwd: '/x' },
        { id: 'c', cwd: '/y' },
        { id: 'd', empty: true },
      )
      expect((await store.sessions.latest())?.id).toBe('c')
      expect((await store.sessions.latest({ cwd: '/x' }))?.id).toBe('b')
      expect((await store.sessions.latest({ cwd: '/x', source: 'cli' }))?.id).toBe('a')
      expect(await store.sessions.latest({ cwd: '/z' })).toBeNull()
    })
  })

  describe('resolveSession', () => {
    it('prefers an exact id, then a title, then the beginning of an id', async () => {
      const { store } = await storeWith(
        open,
        { id: '2026_aa', title: '2026_ab' },
        { id: '2026_ab' },
        { id: '2027_aa', title: '2026' },
      )
      const found = async (text: string) => {
        const resolution = await store.sessions.resolve(text)
        return resolution.type === 'found' ? resolution.session.id : resolution.type
      }
      expect(await found('2026_ab')).toBe('2026_ab')
      expect(await found('2026')).toBe('2027_aa')
      expect(await found('2027')).toBe('2027_aa')
      expect(await found('2026_a')).toBe('ambiguous')
    })

    it('takes a title for the session called so, whatever was forked from it and is newer', async () => {
      const { store } = await storeWith(
        open,
        { id: 'a', title: 'Fix %_' },
        { id: 'b', title: 'Fix %_ #2' },
        { id: 'c', title: 'Fix %_ #2b' },
        { id: 'd', title: 'Fix %_ more' },
      )
      const found = async () => store.sessions.resolve('Fix %_')
      expect(await found()).toMatchObject({ type: 'found', session: { id: 'a' } })
      expect(await store.sessions.resolve('Fix %_ #2')).toMatchObject({ type: 'found', session: { id: 'b' } })
      await store.sessions.delete('a')
      expect(await found()).toMatchObject({ type: 'found', session: { id: 'b' } })
      await store.sessions.update('d', { title: 'Fix %_ #3' })
      const several = await found()
      expect(several.type === 'ambiguous' && ids(several.candidates)).toEqual(['d', 'b'])
    })

    it('lists the candidates of an ambiguous beginning, newest first', async () => {
      const { store } = await storeWith(open, { id: 'x1' }, { id: 'x2' }, { id: 'y' })
      const resolution = await store.sessions.resolve('x')
      expect(resolution.type === 'ambiguous' && ids(resolution.candidates)).toEqual(['x2', 'x1'])
    })

    it('names the nearest sessions when nothing fits', async () => {
      const { store } = await storeWith(
        open,
        { id: '1', title: 'Fix Docker Build' },
        { id: '2', title: 'Write the report' },
        { id: '3' },
        { id: '4', title: 'Something else entirely' },
      )
      const resolution = await store.sessions.resolve('fix dokcer biuld')
      expect(resolution.type === 'none' && resolution.nearest[0]?.id).toBe('1')
      const part = await store.sessions.resolve('REPORT')
      expect(part.type === 'none' && part.nearest[0]?.id).toBe('2')
      expect(await store.sessions.resolve('')).toMatchObject({ type: 'none' })
    })
  })

  describe('deleteSession', () => {
    it('removes log and words, keeps forks, and lets the id be used again', async () => {
      const { store, say } = await storeWith(open, { id: 'a', title: 'T' })
      await store.sessions.create({ id: 'fork', source: 'cli', parentSessionId: 'a' })
      expect(await store.sessions.delete('a')).toBe(true)
      expect(await store.sessions.delete('a')).toBe(false)
      expect(await store.sessions.get('a')).toBeNull()
      expect(await store.log.entries('a')).toEqual([])
      expect(await store.search.find('hello')).toEqual([])
      expect(await store.sessions.get('fork')).toMatchObject({ parentSessionId: null })
      await store.sessions.create({ id: 'a', source: 'cli', title: 'T' })
      await say('a', 'anew')
      expect(await store.log.entries('a')).toHaveLength(1)
      expect(await store.maintenance.check()).toEqual([])
    })

    it('refuses while somebody writes, and an old lease does not fit a session made anew', async () => {
      const { store } = await storeWith(open, { id: 'a' })
      const lease = await store.leases.acquire('a', { owner: 'me' })
      await expect(store.sessions.delete('a')).rejects.toMatchObject({ code: 'store.session_busy' })
      await lease.release()
      await store.sessions.delete('a')
      await store.sessions.create({ id: 'a', source: 'cli' })
      const next = await store.leases.acquire('a', { owner: 'me' })
      expect(next.token).toBeGreaterThan(lease.token)
    })
  })

  describe('clearing a session', () => {
    it('removes log, words and summary, and keeps the session with its title and cost', async () => {
      const store = await open()
      await store.sessions.create({ id: 's', source: 'cli', title: 'Kept' })
      const lease = await store.leases.acquire('s', { owner: 'me' })
      const cost = { ...noUsage, outputTokens: 5, costUsd: 0.25 }
      const reply = { role: 'assistant', content: [{ type: 'text', text: 'kettle' }], finishReason: 'stop' } as const
      const before = await store.log.append('s', [{ type: 'message', message: reply, usage: cost }], { lease })
      await store.log.append('s', [{ type: 'note', kind: 'k', data: {} }], { lease })
      await store.summaries.save({ sessionId: 's', text: 'a kettle', upToSeq: 1 })
      expect(await store.search.find('kettle')).toHaveLength(1)
      await expect(store.sessions.clear('s')).rejects.toMatchObject({ code: 'store.session_busy' })
      await lease.release()
      await store.sessions.clear('s')
      expect(await store.log.entries('s')).toEqual([])
      expect(await store.search.find('kettle')).toEqual([])
      expect(await store.summaries.get('s')).toBeNull()
      expect(await store.sessions.get('s')).toMatchObject({ title: 'Kept', messageCount: 0, preview: '', usage: cost })
      const again = await store.leases.acquire('s', { owner: 'me' })
      const after = await store.log.append('s', [{ type: 'message', message: userText('new') }], { lease: again })
      expect(after[0]).toBeGreaterThan(before[0]!)
      expect(await store.maintenance.check()).toEqual([])
    })

    it('refuses an unknown session', async () => {
      const store = await open()
      await expect(store.sessions.clear('nobody')).rejects.toMatchObject({ code: 'store.unknown_session' })
    })
  })

  describe('titles', () => {
    it('lose what cannot be seen and are refused when too long', async () => {
      const { store } = await storeWith(open, { id: 'a', empty: true })
      await store.sessions.update('a', { title: ' \u200bFix\u0007\nit\u202e ' })
      expect((await store.sessions.get('a'))?.title).toBe('Fix it')
      await store.sessions.update('a', { title: '\u200b \u0000' })
      expect((await store.sessions.get('a'))?.title).toBeNull()
      await store.sessions.update('a', { title: '😀'.repeat(100) })
      await expect(store.sessions.update('a', { title: '😀'.repeat(101) })).rejects.toMatchObject({
        code: 'store.bad_title',
        details: { length: 101 },
      })
    })

    it('name the session that has the title already', async () => {
      const { store } = await storeWith(open, { id: 'a', title: 'Fix' }, { id: 'b' })
      await expect(store.sessions.update('b', { title: 'Fix\u200b' })).rejects.toMatchObject({
        code: 'store.title_taken',
        details: { sessionId: 'a' },
      })
    })

    it('go on counting within a lineage', async () => {
      const { store } = await storeWith(open, { id: 'a', title: 'Fix' }, { id: 'b', title: 'Fix #7' })
      expect(await store.sessions.nextTitle('New')).toBe('New')
      expect(await store.sessions.nextTitle('Fix')).toBe('Fix #8')
      expect(await store.sessions.nextTitle('Fix #2')).toBe('Fix #8')
    })

    it('stay within the limit and free when a long one gets a number', async () => {
      const long = 'x'.repeat(100)
      const { store } = await storeWith(open, { id: 'a', title: long }, { id: 'b', title: `${'x'.repeat(97)} #2` })
      expect(await store.sessions.nextTitle(long)).toBe(`${'x'.repeat(97)} #3`)
    })
  })

  describe('createSession', () => {
    it('refuses a parent that does not exist', async () => {
      const { store } = await storeWith(open)
      const child = store.sessions.create({ id: 'c', source: 'cli', parentSessionId: 'nobody' })
      await expect(child).rejects.toMatchObject({ code: 'store.unknown_session', details: { sessionId: 'nobody' } })
    })
  })

  describe('meta', () => {
    it('keeps, replaces and removes values, and guards its own', async () => {
      const { store } = await storeWith(open)
      expect(await store.meta.get('k')).toBeNull()
      await store.meta.set('k', 'one')
      await store.meta.set('k', 'two')
      expect(await store.meta.get('k')).toBe('two')
      await store.meta.set('k', null)
      expect(await store.meta.get('k')).toBeNull()
      await expect(store.meta.set('hermes_schema', '9')).rejects.toMatchObject({ code: 'store.reserved_key' })
    })
    it('changes facts, with messages for chats, all or none, and one of many that change the same', async () => {
      const { store } = await storeWith(open)
      const send = [{ key: 'm', platform: 'telegram', target: '7', body: { text: 'hi' } }]
      await store.meta.set('a', '1')
      const [a, b] = [{ key: 'a', was: '1', is: '2' } as const, { key: 'b', was: 'x', is: 'y' } as const]
      expect(await store.meta.swap([a, b], { send })).toBe(false)
      expect([await store.meta.get('a'), await store.outbox.list()]).toEqual(['1', []])
      expect(await store.meta.swap([a, { ...b, was: null }], { send })).toBe(true)
      expect([await store.meta.get('a'), await store.meta.get('b')]).toEqual(['2', 'y'])
      expect(await store.outbox.list()).toMatchObject([{ key: 'm' }])
      const once = await Promise.all([1, 2, 3].map((is) => store.meta.swap([{ key: 'a', was: '2', is: `by ${is}` }])))
      expect(once.filter(Boolean)).toHaveLength(1)
      expect(await store.meta.swap([{ ...b, was: 'y', is: null }])).toBe(true)
      expect([await store.meta.get('b'), (await store.meta.list('b')).length]).toEqual([null, 0])
      expect(await store.meta.swap([{ ...b, was: null }])).toBe(true)
      await expect(store.meta.swap([{ key: 'hermes_schema', was: null, is: '9' }])).rejects.toMatchObject({
        code: 'store.reserved_key',
      })
    })
  })
}
