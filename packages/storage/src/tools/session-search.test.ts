import type { NewEntry } from '@hermes/contracts/conversation'
import type { ToolContext, ToolResult } from '@hermes/contracts/tool'
import { describe, expect, it } from 'vitest'
import { temporaryStore } from '../__fixtures__/temporary-store.js'
import { createStepClock } from '../testing/store-case.js'
import { createSessionSearchTool } from './session-search.js'

const user = (text: string): NewEntry => ({
  type: 'message',
  message: { role: 'user', content: [{ type: 'text', text }] },
})
const assistant = (text: string): NewEntry => ({
  type: 'message',
  message: { role: 'assistant', content: [{ type: 'text', text }] },
})

async function open() {
  const clock = createStepClock()
  const storage = await temporaryStore({ clock })
  const write = async (id: string, entries: readonly NewEntry[], options: object = {}) => {
    clock.step(60_000)
    await storage.sessions.create({ id, source: 'cli', ...options })
    const lease = await storage.leases.acquire(id, { owner: 'me' })
    for (const entry of entries) await storage.log.append(id, [entry], { lease })
    await lease.release()
  }
  await write('20231114_a', [user('How do I deploy to staging?'), assistant('Run make deploy-staging first.')], {
    title: 'Deploys',
  })
  await write('20231114_b', [user('Deploy again, please.'), assistant('Done.')], { source: 'telegram' })
  await write('20231114_c', [user('deploy in a fork')], { parentSessionId: '20231114_a' })
  const tool = createSessionSearchTool({ storage: async () => storage })
  const ask = async (args: object, sessionId = '20231114_b') => {
    const context = { sessionId } as ToolContext
    const result = (await tool.execute(args as never, context)) as ToolResult
    return typeof result === 'string' ? { text: result } : result
  }
  return { storage, write, ask }
}

describe('session_search', () => {
  it('gives one hit per lineage between its neighbours, without the session that asks', async () => {
    const { ask } = await open()
    const { text } = await ask({ query: 'deploy', sort: 'newest' })
    expect(text).toMatch(/^20231114_c {2}2023-11-14 \d\d:\d\d {2}cli\n {2}#5 user: >>>deploy<<< in a fork$/)
    expect((await ask({ query: 'staging', sort: 'newest' })).text).toMatch(
      /^20231114_a {2}.* {2}cli {2}Deploys\n {2}#1 user: How do I.*\n {2}#2 assistant: Run make deploy->>>staging<<< first\.$/,
    )
  })

  it('finds a session by its summary where no message has the words, and begins a long one with it', async () => {
    const { ask, storage, write } = await open()
    const save = (sessionId: string, upToSeq: number) =>
      storage.summaries.save({ sessionId, text: 'Rollout of the web shop\nto the staging machines.', upToSeq })
    await save('20231114_a', 2)
    const { text, external } = await ask({ query: 'rollout shop' })
    expect(text).toMatch(
      /^20231114_a {2}.* {2}2 messages {2}Deploys\n {2}Summary: Rollout of the web shop to the staging machines\.$/,
    )
    expect(external).toBe(true)
    expect((await ask({ query: 'rollout', source: 'cli' })).text).toMatch(/^Nothing was found/)
    expect((await ask({ query: 'staging' })).text).not.toContain('Summary')
    await write(
      '20231115_l',
      Array.from({ length: 40 }, (_, index) => user(`line ${index}`)),
    )
    await save('20231115_l', 40)
    expect((await ask({ session_id: '20231115_l' })).text).toMatch(/\nSummary: Rollout of the web shop\n/)
  })

  it('narrows by source, role, tag and dates', async () => {
    const { ask, storage } = await open()
    await storage.sessions.setTags('20231114_a', ['work'])
    expect((await ask({ query: 'deploy', tag: 'work', sort: 'newest' })).text).toContain('20231114_a')
    expect((await ask({ query: 'deploy', source: 'telegram' })).text).toMatch(/^Nothing was found/)
    expect((await ask({ query: 'deploy', role: ['assistant'] })).text).toContain('#2 assistant')
    expect((await ask({ query: 'deploy', after: '2023-11-15' })).text).toMatch(/^Nothing was found/)
    expect((await ask({ query: 'deploy', before: '2023-11-15', sort: 'newest' })).text).toContain('20231114_c')
    expect(await ask({ query: 'deploy', after: 'soon' })).toEqual({
      text: 'Dates look like 2026-03-01.',
      isError: true,
    })
  })

  it('reads a session by title, around a message, and lists recent ones', async () => {
    const { ask } = await open()
    expect((await ask({ session_id: 'Deploys' })).text).toMatch(
      /^20231114_a .*Deploys\n#1 user: How do I.*\n#2 assistant: Run/,
    )
    expect((await ask({ session_id: '20231114_a', around: 2, limit: 1 })).text).toContain(
      '(0 messages before, 0 after)',
    )
    expect((await ask({ session_id: '20231114_b', query: 'again' })).text).toContain('>>>again<<<')
    expect((await ask({})).text?.split('\n').filter((line) => line.startsWith('2023'))).toHaveLength(2)
    expect((await ask({ source: 'telegram' })).text).toBe('There are no earlier sessions.')
  })

  it('leaves out the whole lineage of the running session, but for what was compacted away', async () => {
    const { ask, storage, write } = await open()
    await write('20231115_d', [user('deploy in a child')], { parentSessionId: '20231114_c' })
    await write('20231115_e', [user('deploy in another fork')], { parentSessionId: '20231114_a' })
    const requested = { query: 'deploy', sort: 'newest' }
    const found = async (args: object, sessionId: string) =>
      (await ask({ ...requested, ...args }, sessionId)).text?.split('\n').filter((line) => /^\d/.test(line))
    expect(await found({}, '20231114_c')).toEqual([
      expect.stringMatching(/^20231115_e/),
      expect.stringMatching(/^20231114_b/),
    ])
    expect(await found({ session_id: '20231114_a' }, '20231114_c')).toHaveLength(2)
    expect((await ask({}, '20231114_c')).text).not.toMatch(/20231114_a|20231114_c|20231115_d/)
    const lease = await storage.leases.acquire('20231114_b', { owner: 'me' })
    const upToSeq = (await storage.log.entries('20231114_b'))[0]!.seq
    await storage.log.append('20231114_b', [{ type: 'compaction', summary: 'About.', upToSeq }], { lease })
    expect(await found({ limit: 1 }, '20231114_b')).toEqual([expect.stringMatching(/^20231114_b/)])
    expect(await found({ query: 'done' }, '20231114_b')).toEqual([])
  })

  it('finds and reads sessions of the same person only, children included', async () => {
    const { ask, write, storage } = await open()
    await write('bob_1', [user('deploy the blue whale')], { person: 'bob', title: 'Whales' })
    await write('bob_2', [user('hello')], { person: 'bob' })
    await write('bob_child', [user('hello too')], { source: 'subagent', parentSessionId: 'bob_2' })
    await storage.summaries.save({ sessionId: 'bob_1', text: 'Ocean life.', upToSeq: 9 })
    for (const id of ['bob_2', 'bob_child']) {
      expect((await ask({ query: 'deploy' }, id)).text).toMatch(/^bob_1 /)
      expect((await ask({ query: 'deploy' }, id)).text).not.toContain('20231114')
      expect((await ask({ query: 'ocean' }, id)).text).toContain('Ocean life.')
      expect((await ask({ session_id: 'Deploys' }, id)).text).toBe(
        'There is no session "Deploys". Call without it for recent ones.',
      )
      expect((await ask({}, id)).text).not.toContain('20231114')
    }
    expect((await ask({ query: 'whale' })).text).toMatch(/^Nothing was found/)
    expect((await ask({ query: 'ocean' })).text).toMatch(/^Nothing was found/)
    for (const session_id of ['bob_1', 'bob_', 'Whales'])
      expect((await ask({ session_id, around: 9 })).text).toMatch(/^There is no session/)
    expect((await ask({})).text).not.toContain('whale')
  })

  it('says what to do about a session or message that is not there', async () => {
    const { ask } = await open()
    expect((await ask({ session_id: 'zzz' })).text).toContain('There is no session "zzz"')
    expect((await ask({ session_id: '20231114' })).text).toContain('Several sessions begin with that')
    expect((await ask({ session_id: 'Deploys', around: 99 })).text).toBe('Session 20231114_a has no message #99.')
  })

  it('leaves out the middle of a long session', async () => {
    const { ask, write } = await open()
    await write(
      'long',
      Array.from({ length: 50 }, (_, index) => user(`line ${index}`)),
    )
    const { text } = await ask({ session_id: 'long' })
    expect(text).toContain('line 19\n… 20 messages; read them with around …\n')
    expect(text?.endsWith('line 49')).toBe(true)
  })
})

describe('lineage', () => {
  it('is known upwards and downwards, also when a session is its own ancestor', async () => {
    const { storage, write } = await open()
    await write('child', [], { parentSessionId: '20231114_c' })
    expect((await storage.sessions.ancestors('child')).map(({ id }) => id)).toEqual(['20231114_c', '20231114_a'])
    expect((await storage.sessions.descendants('20231114_a')).map(({ id }) => id)).toEqual(['20231114_c', 'child'])
    expect(await storage.sessions.ancestors('none')).toEqual([])
  })
})
