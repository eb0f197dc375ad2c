import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { userText } from '@hermes/contracts/conversation'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { makeFormat } from '../../__fixtures__/formats.js'
import { temporaryPath, temporaryStore } from '../../__fixtures__/temporary-store.js'
import { importSessions, openStorage } from '../../index.js'
import { SHARED_INDEXES, SHARED_TABLES } from './schema-sql.js'

/** The first version: few columns, a word index over texts only. */
const VERSION_1 = `
  CREATE TABLE schema_version (version INTEGER NOT NULL);
  INSERT INTO schema_version VALUES (1);
  CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT,
    system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
    message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
    output_tokens INTEGER DEFAULT 0);
  CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
    token_count INTEGER);
  CREATE VIRTUAL TABLE messages_fts USING fts5(content, content=messages, content_rowid=id);
  CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
    INSERT INTO messages_fts(rowid, content) VALUES (new.id, new.content);
  END;`

/** Version 11 as another program makes it: the word index holds the texts itself. */
const VERSION_11 = `
  ${SHARED_TABLES} ${SHARED_INDEXES}
  INSERT INTO schema_version VALUES (11);
  CREATE VIRTUAL TABLE messages_fts USING fts5(content);
  CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
    INSERT INTO messages_fts(rowid, content) VALUES (new.id,
      COALESCE(new.content, '') || ' ' || COALESCE(new.tool_name, '') || ' ' || COALESCE(new.tool_calls, ''));
  END;
  CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN
    DELETE FROM messages_fts WHERE rowid = old.id;
  END;`

const ROWS = `
  INSERT INTO sessions (id, source, started_at, message_count, output_tokens) VALUES ('old', 'telegram', 1700000000.25, 4, 7);
  INSERT INTO messages (session_id, role, content, timestamp) VALUES ('old', 'user', 'Find the kettle.', 1700000001.5);
  INSERT INTO messages (session_id, role, tool_calls, timestamp) VALUES
    ('old', 'assistant', '[{"id":"c","type":"function","function":{"name":"look","arguments":"{}"}}]', 1700000002);
  INSERT INTO messages (session_id, role, content, tool_call_id, tool_name, timestamp) VALUES
    ('old', 'tool', 'on the stove', 'c', 'look', 1700000003);
  INSERT INTO messages (session_id, role, content, timestamp) VALUES ('old', 'session_meta', '{}', 1700000004);`

function existing(schema: string): string {
  const path = temporaryPath()
  new Database(path).exec(schema + ROWS).close()
  return path
}

describe.each([
  ['1', VERSION_1],
  ['11', VERSION_11],
])('a database of version %s made by another program', (version, schema) => {
  it('serves its rows as entries and goes on from there', async () => {
    const path = existing(schema)
    const store = await temporaryStore({ path })
    expect(await store.log.entries('old')).toEqual([
      { seq: 1, atMs: 1700000001500, type: 'message', message: userText('Find the kettle.') },
      {
        seq: 2,
        atMs: 1700000002000,
        type: 'message',
        message: {
          role: 'assistant',
          content: [{ type: 'tool-call', id: 'c', name: 'look', args: {}, rawArgs: '{}' }],
        },
      },
      {
        seq: 3,
        atMs: 1700000003000,
        type: 'message',
        message: { role: 'tool', callId: 'c', toolName: 'look', content: [{ type: 'text', text: 'on the stove' }] },
      },
      { seq: 4, atMs: 1700000004000, type: 'note', kind: 'message.session_meta', data: { content: '{}' } },
    ])
    expect(await store.sessions.get('old')).toMatchObject({
      source: 'telegram',
      startedAtMs: 1700000000250,
      lastActiveAtMs: 1700000004000,
      messageCount: 4,
      usage: { outputTokens: 7, costUsd: 'unknown' },
      preview: 'Find the kettle.',
    })
    const lease = await store.leases.acquire('old', { owner: 'me' })
    expect(await store.log.append('old', [{ type: 'message', message: userText('And the cup?') }], { lease })).toEqual([
      5,
    ])
    expect((await store.search.find('cup')).map((hit) => hit.seq)).toEqual([5])
    expect((await store.search.find('look')).map((hit) => hit.seq).sort()).toEqual([2, 3])
    await lease.release()
    await store.sessions.delete('old')
    expect(await store.search.find('kettle')).toEqual([])
    expect(await store.maintenance.check()).toEqual([])
  })

  it('keeps a copy of what was there before an upgrade, and upgrades once', async () => {
    const path = existing(schema)
    await (await openStorage({ path })).close()
    await (await openStorage({ path })).close()
    const backup = `${path}.v${version}.bak`
    expect(readdirSync(dirname(path)).filter((name) => name.endsWith('.bak'))).toEqual([basename(backup)])
    const database = new Database(backup, { readonly: true })
    expect(database.prepare('SELECT version FROM schema_version').pluck().all()).toEqual([Number(version)])
    expect(database.prepare('SELECT count(*) FROM messages').pluck().get()).toBe(4)
    database.close()
  })
})

describe('an existing database', () => {
  it('keeps unknown tables and columns', async () => {
    const path = existing(`${VERSION_11} ALTER TABLE sessions ADD COLUMN mood TEXT; CREATE TABLE extras (x);`)
    new Database(path).exec("UPDATE sessions SET mood = 'calm'; INSERT INTO extras VALUES (1)").close()
    await (await openStorage({ path })).close()
    const database = new Database(path, { readonly: true })
    expect(database.prepare('SELECT mood FROM sessions').pluck().all()).toEqual(['calm'])
    expect(database.prepare('SELECT x FROM extras').pluck().all()).toEqual([1])
    database.close()
  })

  it('may have a title twice before titles were unique', async () => {
    const path = existing(`${VERSION_1} ALTER TABLE sessions ADD COLUMN title TEXT;`)
    new Database(path)
      .exec(`INSERT INTO sessions (id, source, started_at, title) VALUES ('a', 'cli', 1, 'T'), ('b', 'cli', 2, 'T')`)
      .close()
    const store = await temporaryStore({ path })
    expect((await store.sessions.get('b'))?.title).toBe('T')
    expect((await store.sessions.get('a'))?.title).toBe('T (a)')
  })

  it('takes rows that another program adds beside ours in their order', async () => {
    const path = existing(VERSION_11)
    const store = await temporaryStore({ path })
    const lease = await store.leases.acquire('old', { owner: 'me' })
    const note = { type: 'note', kind: 'k', data: {} } as const
    await store.log.append('old', [note, note], { lease })
    const other = new Database(path)
    other.exec(
      "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('old', 'user', 'theirs', 1700000009)",
    )
    other.close()
    await store.log.append('old', [note], { lease })
    const types = (await store.log.entries('old', { afterSeq: 4 })).map(({ seq, type }) => `${seq} ${type}`)
    expect(types).toEqual(['5 note', '6 note', '7 message', '8 note'])
  })

  it('deletes no session as old that another program has just written to', async () => {
    const path = existing(VERSION_11)
    const store = await temporaryStore({ path })
    await store.sessions.create({ id: 'ours', source: 'cli' })
    const other = new Database(path)
    const add = other.prepare(
      "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('old', 'user', 'x', ?)",
    )
    add.run(Date.now() / 1_000)
    other.close()
    expect(await store.maintenance.prune({ olderThanMs: 86_400_000 })).toBe(0)
    expect(await store.sessions.get('old')).not.toBeNull()
  })
})

describe('a database of a newer program', () => {
  it('is imported once, with columns and tables we do not know, and goes on beside the original', async () => {
    const path = temporaryPath()
    makeFormat(path, 20)
    const stores = await Promise.all([openStorage({ path }), openStorage({ path })])
    await stores[0].sessions.create({ id: 'ours', source: 'cli' })
    expect(await stores[1].sessions.get('ours')).not.toBeNull()
    await Promise.all(stores.map((store) => store.close()))
    expect(await (await temporaryStore({ path })).sessions.get('ours')).not.toBeNull()
    const database = new Database(path.replace('state.db', 'state.hermes.db'), { readonly: true })
    expect(database.prepare('SELECT DISTINCT mood FROM messages').pluck().all()).toEqual(['calm'])
    expect(database.prepare('SELECT session_id FROM gateway_routing').pluck().all()).toEqual(['s0'])
    expect(database.prepare('SELECT count(*) FROM live_sessions').pluck().get()).toBe(4)
    const names = database.prepare("SELECT name FROM sqlite_master WHERE name LIKE '%trigram%'").pluck().all()
    expect(names).toEqual([])
    database.close()
    expect(readdirSync(dirname(path)).sort().join(' ')).toMatch(
      /^state\.db state\.hermes\.db( state\.hermes\.db-(shm|wal))*$/,
    )
  })

  it('says what was written to the original since, and takes that in on request, also where sessions went on here', async () => {
    const path = temporaryPath()
    makeFormat(path, 20)
    const notices: string[] = []
    const open = () => openStorage({ path, onNotice: (line) => void notices.push(line) })
    const first = await open()
    const texts = async (store: typeof first, id: string) =>
      (await store.log.entries(id)).map((entry) => JSON.stringify(entry)).join()
    const lease = await first.leases.acquire('s0', { owner: 'me' })
    await first.log.append('s0', [{ type: 'message', message: userText('said here') }], { lease })
    await lease.release()
    await first.close()
    await (await open()).close()
    expect(notices).toEqual([])
    const newer = new Database(path)
    const say = newer.prepare(
      "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, 2000000000)",
    )
    newer.exec("INSERT INTO sessions (id, source, started_at, message_count) VALUES ('later', 'cli', 2000000000, 1)")
    say.run('s0', 'said there')
    say.run('later', 'begun there')
    newer.close()
    const before = readFileSync(path)
    const store = await open()
    expect(notices).toEqual([
      expect.stringMatching(/newer Hermes .*: 2 messages in 2 sessions\. To bring them in: hermes sessions import \//),
    ])
    const results = []
    for await (const result of importSessions(store, path)) if (result.type !== 'present') results.push(result)
    expect(results).toMatchObject([
      { type: 'imported', sessionId: 's0', messages: 1 },
      { type: 'imported', sessionId: 'later', messages: 1 },
    ])
    expect(await texts(store, 's0')).toMatch(/said here.*said there/)
    expect(await texts(store, 'later')).toContain('begun there')
    expect(readFileSync(path)).toEqual(before)
    await store.close()
    await (await open()).close()
    expect(notices).toHaveLength(1)
  })

  it('is told apart from a copy that cannot be opened, in one line', async () => {
    const path = temporaryPath()
    makeFormat(path, 20)
    mkdirSync(path.replace('state.db', 'state.hermes.db'))
    await expect(openStorage({ path, onNotice: () => undefined })).rejects.toMatchObject({
      code: expect.stringMatching(/^store\./),
    })
  })

  it('is refused and left as it is when its tables are not those we know', async () => {
    const path = temporaryPath()
    makeFormat(path, 20)
    new Database(path).exec('ALTER TABLE messages RENAME COLUMN content TO body').close()
    const before = readFileSync(path)
    await expect(openStorage({ path })).rejects.toMatchObject({
      code: 'store.newer_schema',
      message: expect.stringContaining('without the column messages.content'),
    })
    expect(readFileSync(path)).toEqual(before)
    expect(readdirSync(dirname(path))).toEqual(['state.db'])
  })
})
