import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { HermesError, silentLogger } from '@hermes/contracts'
import { userText } from '@hermes/contracts/conversation'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryPath, temporaryStore } from '../../__fixtures__/temporary-store.js'
import { bringIn, findRescueFiles } from '../../rescue-files.js'
import { orRescue } from '../../shared/rescue.js'
import { setJournal } from './journal.js'

describe('the journal', () => {
  it('is a write-ahead log unless asked otherwise', async () => {
    const path = temporaryPath()
    const store = await temporaryStore({ path, journal: 'delete' })
    await store.sessions.create({ id: 's', source: 'cli' })
    expect(readdirSync(dirname(path))).toEqual(['state.db'])
    await store.close()
    await (await temporaryStore({ path })).sessions.create({ id: 't', source: 'cli' })
    expect(readdirSync(dirname(path)).sort()).toEqual(['state.db', 'state.db-shm', 'state.db-wal'])
  })

  it('is the older one where a write-ahead log does not come about, with an fsync for each commit', () => {
    const path = temporaryPath()
    const database = new Database(path)
    onTestFinished(() => void database.close())
    const warnings: string[] = []
    const failing = new Proxy(database, {
      get: (target, key) => {
        if (key !== 'pragma') return Reflect.get(target, key)
        return (text: string, options?: object) => {
          if (/WAL/.test(text)) throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_SHMMAP' })
          return target.pragma(text, options)
        }
      },
    })
    const logger = { ...silentLogger, warn: (line: string) => void warnings.push(line) }
    setJournal(failing, { path, journal: 'wal', sync: 'normal', logger })
    expect(database.pragma('journal_mode', { simple: true })).toBe('delete')
    expect(database.pragma('synchronous', { simple: true })).toBe(2)
    expect(warnings).toEqual(['the store works without a write-ahead log, appends wait for the disk'])
  })
})

describe.runIf(process.platform === 'linux')('the journal on a file system of other machines', () => {
  it.each([
    ['NFS', 0x6969],
    ['SMB, as a signed number', 0xff534d42 | 0],
    ['FUSE', 0x65735546],
  ])('is the older one, and one line says so: %s', (_, type) => {
    const path = temporaryPath()
    const database = new Database(path)
    onTestFinished(() => void database.close())
    const warnings: string[] = []
    const logger = { ...silentLogger, warn: (line: string) => void warnings.push(line) }
    setJournal(database, { path, journal: 'wal', sync: 'normal', logger, fileSystemOf: () => type })
    expect(database.pragma('journal_mode', { simple: true })).toBe('delete')
    expect(database.pragma('synchronous', { simple: true })).toBe(2)
    expect(warnings).toEqual(['the store is on a network file system: no write-ahead log, appends wait for the disk'])
  })
})

describe('what the disk takes no more', () => {
  it('is not kept twice when it cannot be brought back in yet', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hermes-rescue-test-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = temporaryPath()
    const store = await temporaryStore({ path, rescueDirs: [folder] })
    await store.sessions.create({ id: 's', source: 'cli' })
    const full = (sql: string) => new Database(path).exec(sql).close()
    full("CREATE TRIGGER full BEFORE INSERT ON messages BEGIN SELECT raise(ABORT, 'database or disk is full'); END")
    const line = { sessionId: 's', atMs: 5, type: 'message', message: userText('do not lose this') }
    writeFileSync(join(folder, 'hermes-rescue-s.jsonl'), `${JSON.stringify(line)}\n`, { mode: 0o600 })
    const bringBack = async () => bringIn(store, (await findRescueFiles([folder])).files[0]!)
    expect(await bringBack()).toMatchObject({ type: 'problem' })
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/\.taking$/)])
    full('DROP TRIGGER full')
    expect(await bringBack()).toMatchObject({ added: 1, stays: null })
    expect(readdirSync(folder)).toEqual([])
  })

  it('is kept in a file elsewhere, and the error says which', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hermes-rescue-test-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = temporaryPath()
    const store = await temporaryStore({ path, rescueDirs: [folder] })
    await store.sessions.create({ id: 's', source: 'cli' })
    const lease = await store.leases.acquire('s', { owner: 'me' })
    const database = new Database(path)
    database.exec(
      "CREATE TRIGGER full BEFORE INSERT ON messages BEGIN SELECT raise(ABORT, 'database or disk is full'); END",
    )
    database.close()
    const message = { type: 'message' as const, message: userText('do not lose this') }
    const error = await store.log.append('s', [message], { lease, atMs: 5 }).catch((thrown: unknown) => thrown)
    const file = join(folder, 'hermes-rescue-s.jsonl')
    expect(error).toMatchObject({ code: 'store.failed', details: { rescuedTo: file } })
    expect((error as Error).message).toMatch(
      /What was said is kept in .*\.jsonl; hermes sessions rescue brings it back\.$/,
    )
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ sessionId: 's', atMs: 5, ...message })
  })

  it('is kept in no file that somebody else has put there, nor behind a link', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hermes-rescue-test-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const theirs = join(folder, 'theirs')
    writeFileSync(theirs, '')
    chmodSync(theirs, 0o666)
    const fail = async () => {
      throw new HermesError('No space left.', { code: 'store.disk_full' })
    }
    const rescue = async (sessionId: string) => {
      const parts = {
        directories: ['/proc/nowhere', folder],
        sessionId,
        entries: [{ type: 'message', message: userText('mine') }],
        atMs: 0,
      } as const
      const error = (await orRescue(fail, parts).catch((thrown: unknown) => thrown)) as HermesError
      return String(error.details['rescuedTo'])
    }
    symlinkSync(theirs, join(folder, 'hermes-rescue-a.jsonl'))
    renameSync(theirs, join(folder, 'hermes-rescue-b.jsonl'))
    writeFileSync(theirs, '')
    for (const id of ['a', 'b']) {
      const file = await rescue(id)
      expect(file).toMatch(new RegExp(`hermes-rescue-${id}-[0-9a-f]{12}\\.jsonl$`))
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(readFileSync(file, 'utf8')).toContain('mine')
    }
    expect(readFileSync(theirs, 'utf8') + readFileSync(join(folder, 'hermes-rescue-b.jsonl'), 'utf8')).toBe('')
  })

  it('stays with the first error when it cannot be kept, or need not be', async () => {
    const fail = (code: string) => async () => {
      throw new HermesError('No space left.', { code })
    }
    const rescue = (code: string, directory: string | null) =>
      orRescue(fail(code), {
        directories: directory === null ? [] : [directory],
        sessionId: '../s',
        entries: [],
        atMs: 0,
      })
    await expect(rescue('store.disk_full', '/proc/nowhere')).rejects.toMatchObject({ message: 'No space left.' })
    await expect(rescue('store.disk_full', null)).rejects.toMatchObject({ message: 'No space left.' })
    await expect(rescue('store.lease_lost', tmpdir())).rejects.toMatchObject({ message: 'No space left.' })
  })
})

describe('pruneSessions', () => {
  it('takes sessions of the past with their whole lineage, and no others', async () => {
    let nowMs = 1_000_000
    const store = await temporaryStore({ clock: { now: () => nowMs, sleep: async () => undefined } })
    const make = async (id: string, options: { endedAtMs?: number; parent?: string; source?: string } = {}) => {
      const { parent, source = 'cli', endedAtMs } = options
      await store.sessions.create({ id, source, ...(parent ? { parentSessionId: parent } : {}) })
      if (endedAtMs !== undefined) await store.sessions.update(id, { endedAtMs })
    }
    await make('old', { endedAtMs: 5 })
    await make('old-child', { endedAtMs: 5, parent: 'old' })
    await make('parent-of-running', { endedAtMs: 5 })
    await make('elsewhere', { endedAtMs: 5, source: 'telegram' })
    nowMs += 1_000
    await make('running', { parent: 'parent-of-running' })
    await make('recent', { endedAtMs: 5 })
    const left = async () => (await store.sessions.list({ includeEmpty: true })).map(({ id }) => id).sort()
    expect(await store.maintenance.prune({ olderThanMs: 1_000, source: 'cli', dryRun: true })).toBe(2)
    expect(await store.maintenance.prune({ olderThanMs: 1_000, source: 'cli' })).toBe(2)
    expect(await left()).toEqual(['elsewhere', 'parent-of-running', 'recent', 'running'])
    expect(await store.maintenance.prune({ olderThanMs: 500 })).toBe(1)
    expect(await left()).toEqual(['parent-of-running', 'recent', 'running'])
    expect(await store.maintenance.prune({ olderThanMs: 0 })).toBe(3)
    expect(await left()).toEqual([])
  })
})

describe('stats', () => {
  it('counts sessions, messages, sources, models and bytes', async () => {
    const store = await temporaryStore({ clock: { now: () => 5_000, sleep: async () => undefined } })
    expect(await store.maintenance.stats()).toMatchObject({
      sessions: 0,
      messages: 0,
      oldestMs: null,
      newestMs: null,
      bySource: [],
    })
    for (const [id, source] of [
      ['a', 'cli'],
      ['b', 'cli'],
      ['c', 'acp'],
    ] as const)
      await store.sessions.create({ id, source, model: 'm', startedAtMs: 1_000 })
    const lease = await store.leases.acquire('a', { owner: 'me' })
    await store.log.append('a', [{ type: 'message', message: userText('Hello') }], { lease })
    expect(await store.maintenance.stats()).toMatchObject({
      sessions: 3,
      messages: 1,
      oldestMs: 1_000,
      newestMs: 5_000,
      bytes: expect.any(Number),
      freeBytes: 0,
      bySource: [
        { source: 'cli', sessions: 2, messages: 1 },
        { source: 'acp', sessions: 1, messages: 0 },
      ],
      byModel: [{ model: 'm', sessions: 3, inputTokens: 0, outputTokens: 0, costUsd: 0 }],
    })
  })
})
