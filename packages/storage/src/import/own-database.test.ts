import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type NewEntry, noUsage, userText } from '@hermes/contracts/conversation'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { makeFormat } from '../__fixtures__/formats.js'
import { temporaryPath, temporaryStore } from '../__fixtures__/temporary-store.js'
import { importSessions, openBackups, openStorage } from '../index.js'

const text = (text: string): NewEntry => ({ type: 'message', message: userText(text) })
const reply: NewEntry = {
  type: 'message',
  message: { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }], finishReason: 'stop' },
  usage: { ...noUsage, inputTokens: 10, outputTokens: 5, costUsd: 0.5 },
}

async function storeWithSessions() {
  const path = temporaryPath()
  const store = await openStorage({ path })
  const add = async (id: string, more: object, entries: readonly NewEntry[]) => {
    await store.sessions.create({ id, source: 'cli', ...more })
    const lease = await store.leases.acquire(id, { owner: 'me' })
    for (const entry of entries) await store.log.append(id, [entry], { lease })
    await lease.release()
  }
  await add('a', { title: 'Kettle', model: 'm', provider: 'p', cwd: '/x', startedAtMs: 1_000 }, [text('one'), reply])
  const [first] = await store.log.entries('a')
  await add('empty', {}, [])
  await add('child', { source: 'subagent', parentSessionId: 'a', startedAtMs: 2_000 }, [text('two')])
  await store.sessions.setTags('a', ['home', 'tea'])
  const lease = await store.leases.acquire('a', { owner: 'me' })
  await store.log.append('a', [{ type: 'compaction', upToSeq: first!.seq, summary: 'They spoke.' }, text('three')], {
    lease,
  })
  await store.close()
  return path
}

async function importInto(store: Awaited<ReturnType<typeof temporaryStore>>, path: string) {
  const results = []
  for await (const result of importSessions(store, path)) results.push(result)
  return results
}

it('moves all sessions of a store into another, numbers that name others included, and does so once', async () => {
  const path = await storeWithSessions()
  const store = await temporaryStore()
  await store.sessions.create({ id: 'before', source: 'cli' })
  const held = await store.leases.acquire('before', { owner: 'me' })
  for (let at = 0; at < 10; at++) await store.log.append('before', [text('filler')], { lease: held })
  expect(await importInto(store, path)).toMatchObject([
    { type: 'imported', sessionId: 'a', messages: 3 },
    { type: 'imported', sessionId: 'child', messages: 1 },
  ])
  expect(await store.sessions.get('a')).toMatchObject({
    ...{ title: 'Kettle', model: 'm', provider: 'p', cwd: '/x', startedAtMs: 1_000, messageCount: 3, apiCallCount: 1 },
    usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.5 },
  })
  expect(await store.sessions.get('child')).toMatchObject({ source: 'subagent', parentSessionId: 'a' })
  expect(await store.sessions.tags('a')).toEqual(['home', 'tea'])
  const [first, , compaction] = await store.log.entries('a')
  expect(compaction).toMatchObject({ type: 'compaction', upToSeq: first!.seq, summary: 'They spoke.' })
  expect(await importInto(store, path)).toMatchObject([{ type: 'present' }, { type: 'present' }])
})

it('reads a store of an older Hermes from a copy, which leaves it as it is', async () => {
  const path = await storeWithSessions()
  const database = new Database(path)
  database.exec("UPDATE state_meta SET value = '1' WHERE key = 'hermes_schema'")
  database.close()
  const before = readFileSync(path)
  expect(await importInto(await temporaryStore(), path)).toMatchObject([
    { type: 'imported', sessionId: 'a', messages: 3 },
    { type: 'imported', sessionId: 'child', messages: 1 },
  ])
  expect(readFileSync(path)).toEqual(before)
})

it('takes sessions out of a backup, which keeps its bytes', async () => {
  const path = await storeWithSessions()
  const directory = join(dirname(path), 'backups')
  const backup = await openBackups({ path, directory }).create()
  const before = readFileSync(backup.path)
  expect(await importInto(await temporaryStore(), backup.path)).toHaveLength(2)
  expect(readFileSync(backup.path)).toEqual(before)
  expect(readdirSync(directory)).toEqual([backup.name])
})

it.each([11, 20])('reads a store of version %i of the reference format, once', async (version) => {
  const path = temporaryPath()
  makeFormat(path, version)
  const store = await temporaryStore()
  expect(await importInto(store, path)).toMatchObject(
    ['s0', 's1', 's2'].map((sessionId) => ({ type: 'imported', sessionId, messages: 4 })),
  )
  expect((await importInto(store, path)).map(({ type }) => type)).toEqual(['present', 'present', 'present'])
})

it('names a database that holds no conversations', async () => {
  const path = temporaryPath()
  new Database(path).exec('CREATE TABLE bookmarks (url)').close()
  expect(await importInto(await temporaryStore(), path)).toMatchObject([
    { type: 'problem', problem: expect.stringMatching(/state\.db is no transcript of/) },
  ])
})
