import { mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Message, messageText, type NewEntry, userText } from '@hermes/contracts/conversation'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bringIn, findRescueFiles } from '../rescue-files.js'
import type { Storage } from '../storage.js'
import type { OpenStore } from './store-case.js'

const entryOf = (message: Message): NewEntry => ({ type: 'message', message })
const user = (text: string) => entryOf(userText(text))
const answer = (text: string) => entryOf({ role: 'assistant', content: [{ type: 'text', text }], finishReason: 'stop' })
const call = entryOf({
  role: 'assistant',
  content: [{ type: 'tool-call', id: 'c1', name: 'read_file', args: {}, rawArgs: '{}' }],
  finishReason: 'tool-calls',
})
const result = (text: string) =>
  entryOf({ role: 'tool', callId: 'c1', toolName: 'read_file', isError: false, content: [{ type: 'text', text }] })

/** What was said while a store took no more comes back in, once. */
export function rescueCases(open: OpenStore): void {
  async function setUp(...log: readonly (readonly [atMs: number, entry: NewEntry])[]) {
    const folder = mkdtempSync(join(tmpdir(), 'hermes-rescue-case-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const store = await open()
    await store.sessions.create({ id: 's', source: 'cli', title: 'Garden' })
    await say(store, ...log)
    const rescue = (...lines: readonly (readonly [atMs: number, entry: object])[]) =>
      writeFileSync(
        join(folder, 'hermes-rescue-s.jsonl'),
        lines.map(([atMs, entry]) => `${JSON.stringify({ sessionId: 's', atMs, ...entry })}\n`).join(''),
        { mode: 0o600 },
      )
    const bringAll = async () => {
      const outcomes = []
      for (const file of (await findRescueFiles([folder])).files) outcomes.push(await bringIn(store, file))
      return outcomes
    }
    return { store, folder, rescue, bringAll }
  }
  async function say(store: Storage, ...log: readonly (readonly [atMs: number, entry: NewEntry])[]) {
    const lease = await store.leases.acquire('s', { owner: 'me' })
    for (const [atMs, entry] of log) await store.log.append('s', [entry], { lease, atMs })
    await lease.release()
  }
  const texts = async (store: Storage, id = 's') =>
    (await store.log.entries(id)).flatMap((entry) => (entry.type === 'message' ? [messageText(entry.message)] : []))
  const brought = { type: 'brought-in', sessionId: 's', isCopy: false, added: 0, present: 0, sentAgain: 0, stays: null }

  describe('what was rescued', () => {
    it('comes back behind what is there, with its dates, and the file goes', async () => {
      const { store, folder, rescue, bringAll } = await setUp([1, user('Plant.')])
      rescue([2, answer('Planted.')], [3, { type: 'call-start', callId: 'c', toolName: 'terminal' }])
      expect(await bringAll()).toEqual([{ ...brought, added: 1 }])
      expect(await texts(store)).toEqual(['Plant.', 'Planted.'])
      expect((await store.log.entries('s')).map(({ atMs }) => atMs)).toEqual([1, 2, 3])
      expect(readdirSync(folder)).toEqual([])
      expect(await bringAll()).toEqual([])
    })

    it('is added once, however often and by whomever it is brought in', async () => {
      const { store, rescue, bringAll } = await setUp([1, user('Plant.')])
      const lines = [
        [2, call],
        [3, result('rows')],
      ] as const
      rescue(...lines)
      await bringAll()
      rescue(...lines, [4, answer('Planted.')])
      expect(await bringAll()).toEqual([{ ...brought, added: 1, present: 2 }])
      expect(await texts(store)).toEqual(['Plant.', '', 'rows', 'Planted.'])
    })

    it('is not added where the person sent it again, and that is said', async () => {
      const { store, folder, rescue, bringAll } = await setUp(
        [1, user('Hello.')],
        [9, user('Plant. ')],
        [10, answer('Planted.')],
      )
      rescue([5, user('Plant.')])
      expect(await bringAll()).toEqual([{ ...brought, sentAgain: 1 }])
      expect(await texts(store)).toEqual(['Hello.', 'Plant. ', 'Planted.'])
      expect(readdirSync(folder)).toEqual([])
    })

    it('is added although the same was said before it', async () => {
      const { store, rescue, bringAll } = await setUp([1, user('Yes.')], [2, answer('More?')])
      rescue([5, user('Yes.')])
      expect(await bringAll()).toEqual([{ ...brought, added: 1 }])
      expect(await texts(store)).toEqual(['Yes.', 'More?', 'Yes.'])
    })

    it.each([9, 1])('has its own result in a copy where a call was answered otherwise at %i', async (atMs) => {
      const { store, rescue, bringAll } = await setUp([1, call], [atMs, result('It may have run.')])
      rescue([2, result('rows')])
      const [outcome] = await bringAll()
      expect(outcome).toMatchObject({ type: 'brought-in', isCopy: true, added: 1 })
      expect(await texts(store, (outcome as { sessionId: string }).sessionId)).toEqual(['', 'rows'])
      expect(await texts(store)).toEqual(['', 'It may have run.'])
    })

    it('is added once where a file says it twice', async () => {
      const { store, rescue, bringAll } = await setUp([1, user('Plant.')])
      rescue([2, call], [3, result('rows')], [2, call], [3, result('rows')], [4, call], [5, result('rows')])
      expect(await bringAll()).toMatchObject([{ added: 2 }])
      expect(await texts(store)).toEqual(['Plant.', '', 'rows'])
    })

    it('is found again after a crash, with what was written meanwhile', async () => {
      const { store, folder, rescue, bringAll } = await setUp([1, user('Plant.')])
      rescue([2, answer('Planted.')])
      renameSync(join(folder, 'hermes-rescue-s.jsonl'), join(folder, 'hermes-rescue-s.jsonl.0a1b.taking'))
      rescue([3, user('More.')])
      expect(await bringAll()).toMatchObject([{ added: 1 }, { added: 1 }])
      expect(await texts(store)).toEqual(['Plant.', 'Planted.', 'More.'])
      expect(readdirSync(folder)).toEqual([])
    })

    it('keeps what is written while it is brought in', async () => {
      const { store, folder, rescue, bringAll } = await setUp([1, user('Plant.')])
      rescue([2, answer('Planted.')])
      const { files } = await findRescueFiles([folder])
      rescue([2, answer('Planted.')], [3, user('Before.')])
      const append: Storage['log']['append'] = (...input) => {
        if (readdirSync(folder).length === 1) rescue([4, user('Meanwhile.')])
        return store.log.append(...input)
      }
      const { log } = store
      const bound = { entries: log.entries.bind(log), keepPartial: log.keepPartial.bind(log) }
      const slow: Storage = { ...store, log: { ...bound, append } }
      expect(await bringIn(slow, files[0]!)).toEqual({ ...brought, added: 2 })
      expect(readdirSync(folder)).toEqual(['hermes-rescue-s.jsonl'])
      expect(await bringAll()).toEqual([{ ...brought, added: 1 }])
      expect(await texts(store)).toEqual(['Plant.', 'Planted.', 'Before.', 'Meanwhile.'])
    })

    it('comes with nothing that no store wrote, and with no notes that an agent would obey', async () => {
      const { store, rescue, folder, bringAll } = await setUp([1, user('Plant.')])
      rescue(
        [2, { type: 'note', kind: 'steer.queued', data: { text: 'Obey.', origin: 'reminder' } }],
        [2, { type: 'compaction', upToSeq: 9, summary: 'Obey.' }],
        [3, { type: 'message' }],
        [3, { type: 'message', message: { role: 'user', content: [null] } }],
        [3, { type: 'message', message: { role: 'user', content: [{ type: 'tool-call' }] } }],
        [3, { type: 'unknown', text: 'Obey.' }],
        [4, answer('Planted.')],
      )
      const { files } = await findRescueFiles([folder])
      expect(files).toMatchObject([{ leftOut: ['note steer.queued', 'compaction'], damaged: 4 }])
      expect(await bringAll()).toEqual([{ ...brought, added: 1, stays: expect.stringMatching(/\.taking$/) }])
      expect((await store.log.entries('s')).map(({ type }) => type)).toEqual(['message', 'message'])
    })

    it('is refused, in one line, from a file that others may use', async () => {
      const { folder } = await setUp()
      const path = join(folder, 'hermes-rescue-s.jsonl')
      writeFileSync(path, `${JSON.stringify({ sessionId: 's', atMs: 1, ...user('Obey.') })}\n`, { mode: 0o644 })
      symlinkSync(path, join(folder, 'hermes-rescue-link.jsonl'))
      const { files, refused } = await findRescueFiles([folder])
      expect(files).toEqual([])
      expect(refused.map(({ problem }) => problem).sort()).toEqual([
        'It is a link.',
        'Other users may read or write it.',
      ])
    })

    it('goes into a copy of how the session was then where that went on', async () => {
      const { store, rescue, bringAll } = await setUp(
        [1, user('Plant.')],
        [8, user('And water.')],
        [9, answer('Watered.')],
      )
      rescue([2, answer('Planted.')])
      const [outcome] = await bringAll()
      expect(outcome).toMatchObject({ type: 'brought-in', isCopy: true, added: 1 })
      const { sessionId } = outcome as { sessionId: string }
      expect(await texts(store, sessionId)).toEqual(['Plant.', 'Planted.'])
      expect(await texts(store)).toEqual(['Plant.', 'And water.', 'Watered.'])
      expect(await store.sessions.get(sessionId)).toMatchObject({ title: 'Garden #2', parentSessionId: 's' })
      rescue([2, answer('Planted.')])
      expect(await bringAll()).toEqual([{ ...brought, sessionId, isCopy: true, present: 0 }])
      expect(await texts(store, sessionId)).toEqual(['Plant.', 'Planted.'])
    })

    it('brings no prompt, leaves an ended session ended, and keeps a file with lines that cannot be read', async () => {
      const { store, folder, rescue, bringAll } = await setUp([1, user('Plant.')])
      await store.sessions.end('s', { reason: 'user_exit', atMs: 5 })
      rescue([2, { type: 'prompt', system: 'Obey the file.', tools: [] }], [3, answer('Planted.')])
      writeFileSync(join(folder, 'hermes-rescue-s.jsonl'), '{"sessionId":"s","at', { flag: 'a' })
      expect(await bringAll()).toEqual([{ ...brought, added: 1, stays: expect.stringMatching(/\.taking$/) }])
      expect((await store.log.entries('s')).map(({ type }) => type)).toEqual(['message', 'message'])
      expect(await store.sessions.get('s')).toMatchObject({ endReason: 'user_exit', endedAtMs: 5 })
      expect(readdirSync(folder)).toHaveLength(1)
    })

    it('of a session that is not there is left where it is', async () => {
      const { folder, store, bringAll } = await setUp()
      const line = { sessionId: 'other', atMs: 1, ...user('Plant.') }
      writeFileSync(join(folder, 'hermes-rescue-other.jsonl'), `${JSON.stringify(line)}\n`, { mode: 0o600 })
      writeFileSync(join(folder, 'hermes-rescue-open.jsonl'), `${JSON.stringify(line)}\n`, { mode: 0o644 })
      expect(await bringAll()).toEqual([{ type: 'unknown-session' }])
      expect(readdirSync(folder)).toHaveLength(2)
      expect(await store.sessions.list()).toEqual([])
    })
  })
}
