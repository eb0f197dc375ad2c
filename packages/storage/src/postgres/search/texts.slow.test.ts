import { type NewEntry, userText } from '@hermes/contracts/conversation'
import type { AuditRecord } from '@hermes/contracts/policy'
import { needs, postgresMissing } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type PostgresDatabase, startDatabase } from '../../__fixtures__/postgres-database.js'
import { messageWords, toTsQuery } from './words.js'

const say = (text: string): NewEntry => ({ type: 'message', message: userText(text) })

it('makes words as the index of SQLite does', () => {
  const words = (content: string) => messageWords({ role: 'user', content, tool_name: null, tool_calls: null })
  expect(words('The docker-compose of /srv/app.v2')).toBe(
    "'the':1 'docker':2 'compose':3 'of':4 'srv':5 'app':6 'v2':7",
  )
  expect(words('Café CAFE\u0301 cafe')).toBe("'cafe':1,2,3")
  expect(words('部署失败')).toBe("'部署':1 '署失':2 '失败':3 '败':4")
  expect(words("' \\ : & | ! <-> 😀")).toBe('')
})

it('asks for words, phrases and beginnings', () => {
  expect(toTsQuery('"chat-send" AND "dep"* NOT ("x" OR "部署 署失")')).toBe(
    "('chat' <-> 'send') & ('dep':*) & ! ( ('x') | ('部署' <-> '署失') )",
  )
})

needs(postgresMissing())('texts on PostgreSQL', () => {
  let database: PostgresDatabase
  beforeAll(async () => {
    database = await startDatabase()
  })
  afterAll(() => database?.stop())

  const storeWith = async (...entries: readonly NewEntry[]) => {
    const store = await database.open()
    onTestFinished(() => store.close())
    await store.sessions.create({ id: 's', source: 'cli' })
    const lease = await store.leases.acquire('s', { owner: 'me' })
    for (const entry of entries) await store.log.append('s', [entry], { lease })
    return store
  }

  it('come back exactly, also those that no column there can hold', async () => {
    const texts = ['a\0b', '\ud800half', 'quotes \' " \\ {},NULL', 'NULL', '', '\n', '{"a":"\\u0000"}']
    const store = await storeWith(...texts.map(say), { type: 'note', kind: 'k\0', data: { text: '\0\udc00' } })
    const entries = await store.log.entries('s')
    expect(entries.map(({ seq: _, atMs: __, ...entry }) => entry)).toEqual([
      ...texts.map(say),
      { type: 'note', kind: 'k\0', data: { text: '\0\udc00' } },
    ])
    expect(await store.search.find('b')).toHaveLength(1)
    await store.sessions.update('s', { endReason: 'a\0b' })
    expect(await store.sessions.resolve('\0')).toMatchObject({ type: 'none' })
    expect(await store.sessions.get('\0')).toBeNull()
  })

  it('are found by what stands inside their words when no message has the word', async () => {
    const store = await storeWith(say('The unreachable 100%_sure host'), say('reach'))
    const found = async (query: string) => (await store.search.find(query)).length
    expect(await found('reach')).toBe(1)
    expect(await found('nreacha')).toBe(1)
    expect(await found('NREACHA')).toBe(1)
    expect(await found('0%_su')).toBe(1)
    expect(await found('0%xsu')).toBe(0)
    expect(await found('nreacha OR')).toBe(1)
    expect(await found('nreacha host')).toBe(1)
    expect(await found('nreacha guest')).toBe(0)
    expect(await found('ea')).toBe(0)
  })

  it('are taken in however long and however many different words they have', async () => {
    const words = Array.from({ length: 150_000 }, (_, at) => `word${at}`)
    const store = await storeWith(say(`${words.join(' ')} ${'x'.repeat(5_000)}`), say('last'.repeat(1_000)))
    expect(await store.search.find('word7 word8')).toHaveLength(1)
    expect(await store.search.find('"word7 word8"')).toHaveLength(1)
    expect(await store.search.find('lastlast*')).toHaveLength(1)
    expect((await store.log.entries('s')).map(({ type }) => type)).toEqual(['message', 'message'])
  })

  it('of an audit trail that were changed or taken away are noticed', async () => {
    const record = {
      atMs: 1,
      sessionId: 's',
      kind: 'spawn',
      action: 'Run ls',
      decision: 'allow',
      toolName: 't',
      rule: 'r',
    }
    for (const change of [
      "UPDATE hermes_audit SET record = replace(record, 'ls', 'rm') WHERE seq = 2",
      "UPDATE hermes_audit SET decision = 'deny' WHERE seq = 2",
      'DELETE FROM hermes_audit WHERE seq = 2',
      'DELETE FROM hermes_audit WHERE seq >= 2',
    ]) {
      const { audit } = await storeWith()
      await audit.append([1, 2, 3].map((atMs) => ({ ...record, atMs }) as unknown as AuditRecord))
      await database.server.sql(change, 'store')
      expect(await audit.verify(), change).toMatchObject({ type: 'broken', seq: 2 })
    }
  })
})
