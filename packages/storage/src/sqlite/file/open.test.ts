import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { temporaryPath, temporaryStore } from '../../__fixtures__/temporary-store.js'
import { openStorage } from '../../index.js'
import { toStoreError } from './store-error.js'

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe('openStorage', () => {
  it('makes missing directories and files for their owner only', async () => {
    const path = join(temporaryPath('new'), 'deep', 'state.db')
    const store = await temporaryStore({ path })
    await store.sessions.create({ id: 's', source: 'cli' })
    expect(mode(dirname(path))).toBe('700')
    expect(readdirSync(dirname(path)).sort()).toEqual(['state.db', 'state.db-shm', 'state.db-wal'])
    for (const name of readdirSync(dirname(path))) expect(mode(join(dirname(path), name))).toBe('600')
  })

  it('gives an existing directory and file no other mode', async () => {
    const path = temporaryPath()
    chmodSync(dirname(path), 0o755)
    writeFileSync(path, '', { mode: 0o644 })
    chmodSync(path, 0o644)
    await temporaryStore({ path })
    expect([mode(dirname(path)), mode(path)]).toEqual(['755', '644'])
  })

  it('has the shared tables of version 11 with their columns in order', async () => {
    const path = temporaryPath()
    await temporaryStore({ path })
    const database = new Database(path, { readonly: true })
    const columns = (table: string) =>
      (database.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name).join(' ')
    expect(columns('sessions')).toBe(
      'id source user_id model model_config system_prompt parent_session_id started_at ended_at end_reason ' +
        'message_count tool_call_count input_tokens output_tokens cache_read_tokens cache_write_tokens ' +
        'reasoning_tokens billing_provider billing_base_url billing_mode estimated_cost_usd actual_cost_usd ' +
        'cost_status cost_source pricing_version title api_call_count',
    )
    expect(columns('messages')).toBe(
      'id session_id role content tool_call_id tool_calls tool_name timestamp token_count finish_reason reasoning ' +
        'reasoning_content reasoning_details codex_reasoning_items codex_message_items',
    )
    expect(columns('messages_fts')).toBe('content')
    expect(database.prepare('SELECT version FROM schema_version').pluck().all()).toEqual([11])
    expect(database.prepare('SELECT * FROM state_meta').all()).toContainEqual({ key: 'hermes_schema', value: '2' })
    expect(database.pragma('journal_mode', { simple: true })).toBe('wal')
    database.close()
  })

  it('opens one file any number of times, also at the same moment', async () => {
    const path = temporaryPath()
    const stores = await Promise.all(Array.from({ length: 5 }, () => temporaryStore({ path })))
    await Promise.all(stores.map((store, index) => store.sessions.create({ id: `s${index}`, source: 'cli' })))
    expect(await stores[0]!.sessions.list({ includeEmpty: true })).toHaveLength(5)
  })

  it('opens a file while another process is writing to it', async () => {
    const path = temporaryPath()
    await (await openStorage({ path })).close()
    const writer = new Database(path)
    writer.exec('BEGIN EXCLUSIVE')
    const sleep = () => Promise.reject(new Error('It waits for the writer.'))
    const store = await openStorage({ path, clock: { now: () => 0, sleep } })
    expect(await store.sessions.list()).toEqual([])
    writer.exec('ROLLBACK')
    writer.close()
    await store.close()
  })

  it('says that it is closed, and takes closing twice', async () => {
    const store = await temporaryStore()
    await Promise.all([store.close(), store.close()])
    await store.close()
    await expect(store.sessions.get('s')).rejects.toMatchObject({ code: 'store.closed' })
    await expect(store.sessions.create({ id: 's', source: 'cli' })).rejects.toMatchObject({ code: 'store.closed' })
    await expect(store.sessions.list()).rejects.toMatchObject({ code: 'store.closed' })
  })

  it('finishes writes under way before it closes', async () => {
    const path = temporaryPath()
    const store = await openStorage({ path })
    const created = store.sessions.create({ id: 's', source: 'cli' })
    await store.close()
    await created
    expect(await (await temporaryStore({ path })).sessions.get('s')).toMatchObject({ id: 's' })
  })
})

describe('a file that cannot be used', () => {
  const refused = async (path: string, code: string) => {
    const error = await openStorage({ path }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code, message: expect.stringContaining(path) })
    expect((error as Error).message).not.toContain('\n')
  }

  it.each([
    ['a text file', 'not a database at all'],
    ['a long text file', 'x'.repeat(10_000)],
    ['a damaged database', `SQLite format 3\0${'\xff'.repeat(5_000)}`],
  ])('is refused and left as it is: %s', async (_, content) => {
    const path = temporaryPath()
    writeFileSync(path, content, 'latin1')
    await refused(path, 'store.corrupt')
    expect(readFileSync(path, 'latin1')).toBe(content)
    expect(readdirSync(dirname(path))).toEqual(['state.db'])
  })

  it('is refused and left as it is: a store whose end is missing', async () => {
    const path = temporaryPath()
    await (await openStorage({ path })).close()
    const whole = readFileSync(path)
    for (const share of [0.9, 0.5, 0.1]) {
      writeFileSync(path, whole.subarray(0, whole.length * share))
      const before = readFileSync(path)
      await refused(path, 'store.corrupt')
      expect(readFileSync(path)).toEqual(before)
    }
  })

  it('is refused and left as it is: another program’s database', async () => {
    const path = temporaryPath()
    new Database(path).exec('CREATE TABLE recipes (name TEXT)').close()
    const before = readFileSync(path)
    await refused(path, 'store.foreign')
    expect(readFileSync(path)).toEqual(before)
  })

  it('is refused and left as it is: one of a newer Hermes', async () => {
    const path = temporaryPath()
    await (await openStorage({ path })).close()
    new Database(path).exec("UPDATE state_meta SET value = '3' WHERE key = 'hermes_schema'").close()
    const before = readFileSync(path)
    await refused(path, 'store.newer_schema')
    expect(readFileSync(path)).toEqual(before)
  })

  it('is refused as unwritable where no file can be', async () => {
    const path = temporaryPath()
    mkdirSync(path)
    await refused(path, 'store.unwritable')
    writeFileSync(join(path, 'file'), '')
    await refused(join(path, 'file', 'state.db'), 'store.unwritable')
    symlinkSync(join(path, 'missing', 'target'), join(path, 'link'))
    await refused(join(path, 'link'), 'store.unwritable')
  })
})

describe('toStoreError', () => {
  const failing = (database: Database.Database, sql: string) => {
    try {
      database.exec(sql)
    } catch (error) {
      return toStoreError(error, '/x/state.db')
    }
    throw new Error('It did not fail.')
  }

  it('tells a full disk from a file that may not be written', () => {
    const path = temporaryPath()
    const full = new Database(path)
    full.exec('PRAGMA max_page_count = 2; CREATE TABLE t (x)')
    expect(failing(full, 'INSERT INTO t VALUES (zeroblob(100000))')).toMatchObject({
      code: 'store.disk_full',
      message: 'No space left to write /x/state.db; free some and try again.',
    })
    full.close()
    const readOnly = new Database(path, { readonly: true })
    expect(failing(readOnly, 'INSERT INTO t VALUES (1)')).toMatchObject({ code: 'store.unwritable' })
    readOnly.close()
  })

  it('keeps the line of what it does not know', () => {
    const database = new Database(':memory:')
    expect(failing(database, 'SELECT absent')).toMatchObject({
      code: 'store.failed',
      message: '/x/state.db: no such column: absent',
    })
    database.close()
  })
})

describe('a database that another process has locked', () => {
  it('is waited for without blocking the event loop', async () => {
    const path = temporaryPath()
    const locker = new Database(path)
    const waits: number[] = []
    const sleep = async (ms: number) => {
      waits.push(ms)
      if (waits.length === 3) locker.exec('COMMIT')
    }
    const store = await temporaryStore({ path, clock: { now: () => 0, sleep } })
    locker.exec('BEGIN IMMEDIATE')
    await store.sessions.create({ id: 's', source: 'cli' })
    expect(waits).toHaveLength(3)
    expect(waits.every((ms) => ms >= 20 && ms <= 150)).toBe(true)
    locker.close()
  })

  it('does not change the order of what is appended meanwhile', async () => {
    const path = temporaryPath()
    const locker = new Database(path)
    const sleep = async () => {
      locker.exec('COMMIT')
      await new Promise((resolve) => setImmediate(resolve))
    }
    const store = await temporaryStore({ path, clock: { now: () => 0, sleep } })
    await store.sessions.create({ id: 's', source: 'cli' })
    const lease = await store.leases.acquire('s', { owner: 'me' })
    locker.exec('BEGIN IMMEDIATE')
    const kinds = ['a', 'b', 'c']
    await Promise.all(kinds.map((kind) => store.log.append('s', [{ type: 'note', kind, data: {} }], { lease })))
    expect(await store.log.entries('s')).toMatchObject(kinds.map((kind) => ({ kind })))
    locker.close()
  })

  it('is given up on after 30 more tries, and the write can be tried again', async () => {
    const path = temporaryPath()
    let waits = 0
    const store = await temporaryStore({ path, clock: { now: () => 0, sleep: async () => void waits++ } })
    const locker = new Database(path)
    locker.exec('BEGIN IMMEDIATE')
    const blocked = store.sessions.create({ id: 's', source: 'cli' })
    await expect(blocked).rejects.toMatchObject({ code: 'store.busy', retryable: true })
    expect(waits).toBe(30)
    expect(await store.sessions.get('s')).toBeNull()
    locker.exec('COMMIT')
    locker.close()
    expect(await store.sessions.create({ id: 's', source: 'cli' })).toMatchObject({ id: 's' })
  })
})
