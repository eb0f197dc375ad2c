import { type NewEntry, userText } from '@hermes/contracts/conversation'
import Database from 'better-sqlite3'
import { describe, expect, it, vi } from 'vitest'
import { temporaryPath } from '../../__fixtures__/temporary-store.js'
import { openStorage } from '../../index.js'
import type { Storage } from '../../storage.js'

const say = (text: string): NewEntry => ({ type: 'message', message: userText(text) })

async function open() {
  const path = temporaryPath()
  return { path, store: await openStorage({ path }) }
}

async function write(store: Storage, id: string, texts: readonly string[]): Promise<void> {
  await store.sessions.create({ id, source: 'cli' })
  const lease = await store.leases.acquire(id, { owner: 'me' })
  for (const text of texts) await store.log.append(id, [say(text)], { lease })
  await lease.release()
}

/** How many messages the index of the file knows, read past the store. Throws when the index contradicts itself. */
function indexed(path: string): number {
  const database = new Database(path)
  try {
    database.exec("INSERT INTO messages_fts(messages_fts) VALUES ('integrity-check')")
    return database.prepare('SELECT count(*) FROM messages_fts_docsize').pluck().get() as number
  } finally {
    database.close()
  }
}

describe('the word index', () => {
  it('takes messages in a moment after they were appended', async () => {
    const { path, store } = await open()
    await write(store, 'a', ['the quick fox', 'a lazy dog'])
    await vi.waitFor(() => expect(indexed(path)).toBe(2), { timeout: 5_000 })
    await store.close()
  })

  it('is complete after a close, and for a search at once', async () => {
    const { path, store } = await open()
    await write(store, 'a', ['the quick fox'])
    expect(await store.search.find('fox')).toHaveLength(1)
    await write(store, 'b', ['a lazy dog'])
    await store.close()
    expect(indexed(path)).toBe(2)
  })

  it('finds what a process that is gone had appended, and what others append', async () => {
    const { path, store } = await open()
    await write(store, 'a', ['the quick fox'])
    const other = await openStorage({ path })
    expect(await other.search.find('fox')).toHaveLength(1)
    await write(other, 'b', ['a lazy dog'])
    expect(await store.search.find('dog')).toHaveLength(1)
    await Promise.all([store.close(), other.close()])
    expect(indexed(path)).toBe(2)
  })

  it('stays sound when messages are deleted before and after they are in it', async () => {
    const { path, store } = await open()
    await write(store, 'a', ['the quick fox'])
    await store.sessions.delete('a')
    await write(store, 'b', ['a quick dog'])
    expect(await store.search.find('quick')).toHaveLength(1)
    await store.sessions.delete('b')
    expect(await store.search.find('quick')).toEqual([])
    expect(indexed(path)).toBe(0)
    await store.close()
  })

  it('takes in more than fits into one batch', async () => {
    const { path, store } = await open()
    const long = 'word '.repeat(60_000)
    await write(store, 'a', [...Array.from({ length: 600 }, (_, index) => `line ${index}`), long, long, 'the end'])
    expect(await store.search.find('end')).toHaveLength(1)
    await vi.waitFor(() => expect(indexed(path)).toBe(603), { timeout: 5_000 })
    await store.close()
  })

  it('takes in rows that another program put there, also those its triggers took in', async () => {
    const { path, store } = await open()
    await write(store, 'a', ['the quick fox'])
    const database = new Database(path)
    database.exec(`CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
      INSERT INTO messages_fts(rowid, content)
      VALUES (new.id, new.content);
    END;`)
    const insert = database.prepare(
      "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', ?, 1)",
    )
    insert.run('a lazy dog')
    database.exec('DROP TRIGGER messages_fts_insert')
    insert.run('a sly cat')
    database.close()
    expect(await store.search.find('fox OR dog OR cat')).toHaveLength(3)
    await vi.waitFor(() => expect(indexed(path)).toBe(3), { timeout: 5_000 })
    expect(await store.search.find('fox OR dog OR cat')).toHaveLength(3)
    await store.close()
  })

  it('finds what was appended just before a search, also while another search is under way', async () => {
    const { store } = await open()
    await store.sessions.create({ id: 'a', source: 'cli' })
    const lease = await store.leases.acquire('a', { owner: 'me' })
    const found: Promise<number>[] = []
    for (let i = 0; i < 20; i++) {
      await store.log.append('a', [say(`word${i}`)], { lease })
      found.push(store.search.find(`word${i}`).then((hits) => hits.length))
    }
    expect(await Promise.all(found)).toEqual(found.map(() => 1))
    await store.close()
  })

  it('finds what is not in it yet while another process keeps it from being written', async () => {
    const { path, store } = await open()
    await write(store, 'a', ['the quick fox'])
    const locker = new Database(path)
    locker.exec('BEGIN IMMEDIATE')
    expect(await store.search.find('fox')).toMatchObject([{ snippet: 'the quick >>>fox<<<' }])
    expect(await store.search.find('fox', { source: 'cli', role: 'user' })).toHaveLength(1)
    expect(await store.search.find('fox', { role: 'tool' })).toEqual([])
    locker.exec('COMMIT')
    locker.close()
    await store.close()
  })

  it('knows a message by its new words when another program has changed it', async () => {
    const { path, store } = await open()
    await write(store, 'a', ['the quick fox'])
    expect(await store.search.find('fox')).toHaveLength(1)
    const database = new Database(path)
    database.exec("UPDATE messages SET content = 'a lazy dog'")
    database.close()
    expect(await store.search.find('dog')).toHaveLength(1)
    expect(await store.search.find('fox')).toEqual([])
    await store.close()
  })

  it('takes in what was there before it, newest first, and says how far it is', async () => {
    const { path, store } = await open()
    await write(
      store,
      'a',
      Array.from({ length: 900 }, (_, index) => `line ${index}`),
    )
    await store.close()
    const database = new Database(path)
    database.exec("INSERT INTO messages_fts(messages_fts) VALUES ('delete-all')")
    database.exec("UPDATE state_meta SET value = '900' WHERE key = 'hermes_backlog'")
    database.close()
    const again = await openStorage({ path })
    expect(await again.search.backlog()).toBe(900)
    expect(await again.search.find('"line 3"')).toHaveLength(1)
    expect(await again.search.backlog()).toBe(0)
    expect(indexed(path)).toBe(900)
    await again.close()
  })

  it('merges its parts, so that there are never many of them', async () => {
    const { path, store } = await open()
    const words = (round: number) => Array.from({ length: 5 }, (_, index) => `word${round} number${index}`)
    for (let round = 0; round < 15; round++) {
      await write(store, `s${round}`, words(round))
      // By rank the index is asked itself, so it is brought up to date first.
      expect(await store.search.find(`word${round}`, { order: 'relevance' })).toHaveLength(5)
    }
    const database = new Database(path)
    const parts = database.prepare('SELECT count(DISTINCT segid) FROM messages_fts_idx').pluck().get()
    database.close()
    expect(parts).toBeLessThan(10)
    expect(indexed(path)).toBe(75)
    await store.close()
  })

  it('has the write-ahead log moved into the file before a commit has to', async () => {
    const { path, store } = await open()
    const text = 'kettle '.repeat(15_000)
    await write(
      store,
      'a',
      Array.from({ length: 160 }, () => text),
    )
    const database = new Database(path)
    const moved = () => (database.pragma('wal_checkpoint(NOOP)') as { checkpointed: number }[])[0]!.checkpointed
    await vi.waitFor(() => expect(moved()).toBeGreaterThan(4_000), { timeout: 20_000 })
    database.close()
    await store.close()
    expect(indexed(path)).toBeGreaterThan(0)
  })
})
