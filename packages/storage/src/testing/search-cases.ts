import { type NewEntry, userText } from '@hermes/contracts/conversation'
import { describe, expect, it } from 'vitest'
import type { OpenStore } from './store-case.js'
import { createStepClock } from './store-case.js'

const say = (text: string): NewEntry => ({ type: 'message', message: userText(text) })

async function storeWithConversation(open: OpenStore) {
  const clock = createStepClock()
  const store = await open({ clock })
  const startMs = clock.now()
  await store.sessions.create({ id: 'a', source: 'cli', title: 'Containers' })
  await store.sessions.create({ id: 'b', source: 'acp' })
  const entries: Record<string, NewEntry[]> = {
    a: [
      say('The docker deployment fails in chat-send.'),
      {
        type: 'message',
        message: {
          role: 'assistant',
          content: [{ type: 'tool-call', id: 'c', name: 'terminal', args: null, rawArgs: '{"command":"kubectl get"}' }],
        },
      },
      {
        type: 'message',
        message: { role: 'tool', callId: 'c', toolName: 'terminal', content: [{ type: 'text', text: 'no pods' }] },
      },
    ],
    b: [say('Deploying with kubernetes, not docker.'), say('Python is fine, java is not.')],
  }
  for (const [id, list] of Object.entries(entries)) {
    const lease = await store.leases.acquire(id, { owner: 'me' })
    for (const entry of list) {
      clock.step(1_000)
      await store.log.append(id, [entry], { lease })
    }
    await lease.release()
  }
  const find = async (query: string, options = {}) =>
    (await store.search.find(query, options)).map((hit) => (hit.atMs - startMs) / 1_000).sort()
  return { store, find, startMs }
}

/** Search: what is found, in which order, and what a hit tells. */
export function searchCases(open: OpenStore): void {
  describe('search', () => {
    it('finds words in texts, tool names and calls', async () => {
      const { find } = await storeWithConversation(open)
      expect(await find('docker')).toEqual([1, 4])
      expect(await find('DOCKER deployment')).toEqual([1])
      expect(await find('terminal')).toEqual([2, 3])
      expect(await find('kubectl')).toEqual([2])
      expect(await find('nothing')).toEqual([])
    })

    it('knows phrases, OR, NOT, prefixes and hyphenated words', async () => {
      const { find } = await storeWithConversation(open)
      expect(await find('"docker deployment"')).toEqual([1])
      expect(await find('"deployment docker"')).toEqual([])
      expect(await find('pods OR java')).toEqual([3, 5])
      expect(await find('docker NOT kubernetes')).toEqual([1])
      expect(await find('deploy*')).toEqual([1, 4])
      expect(await find('chat-send')).toEqual([1])
      expect(await find('send-chat')).toEqual([])
    })

    it('tells where a hit is and marks the match', async () => {
      const { store, startMs } = await storeWithConversation(open)
      const [hit] = await store.search.find('deployment')
      expect(hit).toEqual({
        sessionId: 'a',
        seq: (await store.log.entries('a'))[0]?.seq,
        role: 'user',
        atMs: startMs + 1_000,
        snippet: 'The docker >>>deployment<<< fails in chat-send.',
        title: 'Containers',
        source: 'cli',
        model: null,
        sessionStartedAtMs: startMs,
        before: null,
        after: { seq: hit!.seq + 1, role: 'assistant', text: '' },
      })
    })

    it('narrows by role, source, session and time, and stops at the limit', async () => {
      const { find, startMs } = await storeWithConversation(open)
      expect(await find('terminal', { role: 'tool' })).toEqual([3])
      expect(await find('docker', { source: 'acp' })).toEqual([4])
      expect(await find('docker', { sessionId: 'a' })).toEqual([1])
      expect(await find('docker', { afterMs: startMs + 1_000 })).toEqual([4])
      expect(await find('docker', { beforeMs: startMs + 4_000 })).toEqual([1])
      expect(await find('docker', { limit: 1 })).toHaveLength(1)
      expect(await find('docker', { limit: Number.NaN })).toEqual([])
    })

    it('takes lists, leaves sources and sessions out, and knows tags', async () => {
      const { store, find } = await storeWithConversation(open)
      expect(await find('docker', { source: ['acp', 'cli'] })).toEqual([1, 4])
      expect(await find('terminal', { role: ['user', 'tool'] })).toEqual([3])
      expect(await find('docker', { excludeSources: ['acp'] })).toEqual([1])
      expect(await find('docker', { excludeSessions: ['a'] })).toEqual([4])
      await store.sessions.setTags('b', ['work', 'urgent', 'work'])
      expect(await store.sessions.tags('b')).toEqual(['urgent', 'work'])
      expect(await find('docker', { tag: 'work' })).toEqual([4])
      expect(await find('docker', { tag: 'play' })).toEqual([])
      await store.sessions.setTags('b', [])
      expect(await find('docker', { tag: 'work' })).toEqual([])
      await expect(store.sessions.setTags('none', ['x'])).rejects.toMatchObject({ code: 'store.unknown_session' })
    })

    it('tells values apart that share a word in the index', async () => {
      const store = await open()
      for (const id of ['a-b', 'ab']) {
        await store.sessions.create({ id, source: id })
        await store.log.append(id, [say('docker')], { lease: await store.leases.acquire(id, { owner: 'me' }) })
      }
      const sessions = async (options: object) =>
        (await store.search.find('docker', options)).map((hit) => hit.sessionId)
      expect(await sessions({ sessionId: 'ab' })).toEqual(['ab'])
      expect(await sessions({ source: 'a-b' })).toEqual(['a-b'])
      expect(await sessions({ excludeSources: ['a-b'] })).toEqual(['ab'])
    })

    it('gives the newest first, and the best match first when asked', async () => {
      const { store, startMs } = await storeWithConversation(open)
      const order = async (options: object) =>
        (await store.search.find('docker OR java', options)).map((hit) => hit.atMs - startMs)
      expect(await order({})).toEqual([5_000, 4_000, 1_000])
      expect((await order({ order: 'relevance' }))[0]).toBe(5_000)
      const lease = await store.leases.acquire('b', { owner: 'me' })
      await store.log.append('b', [say('docker docker docker'), say(`docker ${'x '.repeat(500)}`)], { lease })
      const [best] = await store.search.find('docker', { order: 'relevance' })
      expect(best?.snippet).toBe('>>>docker<<< >>>docker<<< >>>docker<<<')
    })

    it('narrows by date also where messages did not arrive in the order of their dates', async () => {
      const store = await open()
      await store.sessions.create({ id: 's', source: 'cli' })
      const lease = await store.leases.acquire('s', { owner: 'me' })
      for (let i = 0; i < 4_000; i += 500) {
        const entries = Array.from({ length: 500 }, (_, at) => say(`docker ${i + at}`))
        await store.log.append('s', entries, { lease, atMs: 1_000_000 - i })
      }
      const days = async (options: object) =>
        (await store.search.find('docker', { ...options, limit: 100 })).map((hit) => hit.atMs - 1_000_000)
      expect(new Set(await days({ afterMs: 999_000 }))).toEqual(new Set([-500]))
      expect(new Set(await days({ beforeMs: 997_000 }))).toEqual(new Set([-3_500]))
      expect(new Set(await days({ afterMs: 997_400, beforeMs: 997_600 }))).toEqual(new Set([-2_500]))
      expect(await days({ afterMs: 2_000_000 })).toEqual([])
    })

    it('finds any two neighbouring characters of scripts without blanks, and single ones', async () => {
      const store = await open()
      await store.sessions.create({ id: 's', source: 'cli' })
      const lease = await store.leases.acquire('s', { owner: 'me' })
      const texts = ['服务器部署失败了', 'サーバーの設定', '서버 설정을 바꿔요', 'เซิร์ฟเวอร์ล่ม', '用docker部署']
      for (const text of texts) await store.log.append('s', [say(text)], { lease })
      const find = async (query: string) =>
        (await store.search.find(query)).map((hit) => texts.indexOf(hit.snippet.replaceAll(/[<>]/g, '')))
      expect(await find('部署')).toEqual([4, 0])
      expect(await find('部署失败')).toEqual([0])
      expect(await find('失部')).toEqual([])
      expect(await find('了')).toEqual([0])
      expect(await find('設定')).toEqual([1])
      expect(await find('설정')).toEqual([2])
      expect(await find('เวอร์')).toEqual([3])
      expect(await find('docker部署')).toEqual([4])
      expect(await find('部署 NOT docker')).toEqual([0])
    })

    it('ranks by any number of words, of which some may be missing, in other forms and with a question mark', async () => {
      const store = await open()
      for (const [id, text] of Object.entries({
        a: 'Mira painted the old harbour, and her nephew helped.',
        b: 'We talked about harbours and what ships carry there.',
        c: 'The nephew of somebody else studies chemistry.',
        d: 'Nothing to see here.',
      })) {
        await store.sessions.create({ id, source: 'cli' })
        await store.log.append(id, [say(text)], { lease: await store.leases.acquire(id, { owner: 'me' }) })
      }
      const sessions = async (query: string, options: object = {}) =>
        (await store.search.find(query, { order: 'relevance', ...options })).map((hit) => hit.sessionId)
      expect(
        (await sessions("What was Mira's nephew doing while she paints the harbour with the unheard-of crew?"))[0],
      ).toBe('a')
      expect(await sessions('unheard harbour')).toEqual(['b', 'a'])
      expect(await sessions('paint', { sessionId: 'a' })).toEqual(['a'])
      expect(await sessions('study nephews')).toEqual(['c', 'a'])
      expect(await sessions('harbour nephew', { excludeSessions: ['a'] })).toEqual(['c', 'b'])
      expect(await sessions('harbour AND chemistry')).not.toContain('d')
      expect(await sessions('harbours NOT nephew')).toEqual(['b'])
      expect(await sessions('nephew NOT harbour NOT chemistry')).toEqual([])
      expect(await sessions('mira', { role: 'tool' })).toEqual([])
      const [hit] = await store.search.find('painting harbours', { order: 'relevance' })
      expect(hit?.snippet).toBe('Mira >>>painted<<< the old >>>harbour<<<, and her nephew helped.')
      // Newest first stays strict: it is for those who know the words.
      expect(await sessions('unheard harbour', { order: 'newest' })).toEqual([])
    })

    it('takes in one word of a megabyte, and finds it by its beginning', async () => {
      const store = await open()
      await store.sessions.create({ id: 's', source: 'cli' })
      const lease = await store.leases.acquire('s', { owner: 'me' })
      await store.log.append(
        's',
        [say(`getUser ${'acgt'.repeat(250_000)}`), say(`the end of ${'aB'.repeat(500_000)}`)],
        {
          lease,
        },
      )
      expect(await store.search.find('acgtac*')).toHaveLength(1)
      expect((await store.search.find('the end'))[0]?.snippet).toMatch(/^>>>the<<< >>>end<<< of aBaB/)
    })

    it('finds parts of names, and short prefixes', async () => {
      const store = await open()
      await store.sessions.create({ id: 's', source: 'cli' })
      const lease = await store.leases.acquire('s', { owner: 'me' })
      await store.log.append('s', [say('call getUserById twice')], { lease })
      for (const query of ['user', 'getUserById', 'getuserbyid', 'tw*', 'twi*', 'ge* AND us*']) {
        expect(await store.search.find(query), query).toHaveLength(1)
      }
      expect(await store.search.find('t*')).toEqual([])
    })

    it('finds what stands inside words where stars ask for it, and where no message has the words', async () => {
      const store = await open()
      await store.sessions.create({ id: 's', source: 'cli' })
      const lease = await store.leases.acquire('s', { owner: 'me' })
      const texts = [
        'A redeployment failed.',
        'deployments are slow',
        'They employ branch-send.',
        'ploy',
        'Un café noir.',
      ]
      for (const text of texts) await store.log.append('s', [say(text)], { lease })
      const find = async (query: string, options = {}) =>
        (await store.search.find(query, options))
          .map((hit) => texts.indexOf(hit.snippet.replaceAll(/[<>]/g, '')))
          .sort()
      expect(await find('*ploym*')).toEqual([0, 1])
      expect(await find('*PLOYM*')).toEqual([0, 1])
      expect(await find('*ment')).toEqual([0])
      expect(await find('*ploy')).toEqual([2, 3])
      expect(await find('*ploy*')).toEqual([0, 1, 2, 3])
      expect(await find('*ploy*', { limit: 1 })).toEqual([3])
      expect(await find('*ploy* NOT *ment*')).toEqual([2, 3])
      expect(await find('*unheard* OR *AFÉ*')).toEqual([4])
      expect(await find('*ranch-sen*')).toEqual([2])
      expect(await find('*ranch-sen')).toEqual([])
      expect(await find('*unheard*')).toEqual([])
      expect(await find('ploy')).toEqual([3])
      expect(await find('ploym')).toEqual([0, 1])
      expect(await find('ploym slow')).toEqual([1])
      expect(await find('ranch-se')).toEqual([2])
      expect(await find('"ploym"')).toEqual([])
      expect(await find('ploy slow')).toEqual([])
      expect(await find('ploym', { role: 'assistant' })).toEqual([])
      expect((await store.search.find('ploym'))[0]?.snippet).toBe('de>>>ploym<<<ents are slow')
      await store.log.append('s', [say('unemployment')], { lease })
      expect(await store.search.find('*ploym*')).toHaveLength(3)
    })
  })
}
