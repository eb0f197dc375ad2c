import { copyFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { userText } from '@hermes/contracts/conversation'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { makeFormat } from './__fixtures__/formats.js'
import { startScript, startWriter } from './__fixtures__/run-writer.js'
import { temporaryPath } from './__fixtures__/temporary-store.js'
import { openBackups, openStorage } from './index.js'

/** Of each matrix; `HERMES_TEST_KILLS=500` for a long run. */
const KILLS = Number(process.env['HERMES_TEST_KILLS'] ?? 30)
const WRITERS = ['a', 'b', 'c', 'd']
const TIMEOUT_MS = 60_000 + KILLS * 4_000

const seqsIn = (lines: readonly string[]) =>
  lines.flatMap((line) => (/^[\d ]+$/.test(line) ? line.split(' ').map(Number) : []))

async function newStore(path: string, sessions: readonly string[], options: { journal?: 'wal' | 'delete' } = {}) {
  const store = await openStorage({ path, ...options })
  for (const id of sessions) await store.createSession({ id, source: 'cli' })
  return store
}

describe.each(['wal', 'delete'] as const)('four writers of one file, journal %s', (journal) => {
  it('lose nothing they were promised, whenever they are killed', { timeout: TIMEOUT_MS }, async () => {
    const path = temporaryPath()
    await (await newStore(path, WRITERS, { journal })).close()
    const promised = new Map(WRITERS.map((id) => [id, [] as number[]]))
    const start = (sessionId: string) => ({ sessionId, ...startWriter({ path, sessionId, count: 0, journal }) })
    const running = WRITERS.map(start)
    const end = async (index: number) => {
      const writer = running[index]!
      writer.process.kill('SIGKILL')
      await writer.ended
      expect(writer.lines.filter((line) => !/^(ready|[\d ]+)$/.test(line))).toEqual([])
      promised.get(writer.sessionId)!.push(...seqsIn(writer.lines))
    }
    for (let kill = 0; kill < KILLS / 2; kill++) {
      const index = Math.floor(Math.random() * running.length)
      await running[index]!.printed(2)
      await sleep(Math.random() * 40)
      await end(index)
      running[index] = start(running[index]!.sessionId)
    }
    for (const index of running.keys()) await end(index)
    const store = await openStorage({ path, journal })
    for (const [id, seqs] of promised) {
      const entries = await store.entries(id)
      const stored = new Set(entries.map(({ seq }) => seq))
      expect(seqs.filter((seq) => !stored.has(seq))).toEqual([])
      expect(entries.map(({ type }) => type).join()).toMatch(/^(message,note,?)*$/)
      expect(await store.getSession(id)).toMatchObject({ messageCount: entries.length / 2 })
    }
    expect(await store.damage()).toEqual([])
    expect(await store.integrityCheck()).toEqual([])
    await store.close()
  })
})

/** Runs an operation and kills it somewhere within the time it took the last one. */
async function killWithin(operation: string, path: string, folder: string, atMostMs: number): Promise<void> {
  const script = startScript('operate.mjs', [operation, path, folder])
  await script.printed(1)
  await sleep(Math.random() * atMostMs)
  script.process.kill('SIGKILL')
  await script.ended
  expect(script.lines.filter((line) => line !== 'begin' && line !== 'done')).toEqual([])
}

describe('a kill', { timeout: TIMEOUT_MS }, () => {
  const times = Math.max(3, Math.ceil(KILLS / 8))
  const texts = (count: number) => Array.from({ length: count }, (_, index) => `line ${index} ${'word '.repeat(100)}`)

  it('within an upgrade leaves the old schema or the new one, and every row', async () => {
    for (let kill = 0; kill < times; kill++) {
      const path = temporaryPath()
      makeFormat(path, 7, { sessions: 20, messages: 4_000 })
      await killWithin('open', path, dirname(path), 120)
      const store = await openStorage({ path })
      expect(await store.integrityCheck()).toEqual([])
      expect(await store.listSessions({ limit: 100 })).toHaveLength(20)
      expect((await store.search('kettle', { limit: 100 })).length).toBeGreaterThan(0)
      await store.close()
    }
  })

  it('within a backup leaves sound backups and a sound store', async () => {
    const path = temporaryPath()
    const folder = join(dirname(path), 'backups')
    const store = await newStore(path, ['s'])
    const lease = await store.acquireLease('s', { owner: 'me' })
    await store.append(
      's',
      texts(2_000).map((text) => ({ type: 'message', message: userText(text) })),
      { lease },
    )
    const backups = openBackups({ path, directory: folder, keep: 3 })
    for (let kill = 0; kill < times; kill++) {
      await killWithin('backup', path, folder, 150)
      await store.append('s', [{ type: 'note', kind: 'k', data: {} }], { lease })
    }
    await backups.create()
    const all = await backups.list()
    expect(all.length).toBeLessThanOrEqual(3)
    for (const { name } of all) expect(await backups.verify(name)).toMatchObject({ messages: 2_000, problems: [] })
    expect(await store.integrityCheck()).toEqual([])
    await store.close()
  })

  it('within a restore leaves what was there or what was restored', async () => {
    const path = temporaryPath()
    const folder = join(dirname(path), 'backups')
    const store = await newStore(path, ['old'])
    const lease = await store.acquireLease('old', { owner: 'me' })
    await store.append(
      'old',
      texts(1_000).map((text) => ({ type: 'message', message: userText(text) })),
      { lease },
    )
    await store.close()
    const backup = await openBackups({ path, directory: folder }).create()
    const kept = join(folder, 'state-20000101-000000.db')
    copyFileSync(backup.path, kept)
    await (await newStore(path, ['new'])).close()
    for (let kill = 0; kill < times; kill++) {
      await killWithin('restore', path, folder, 200)
      const database = new Database(path)
      expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
      const ids = database.prepare('SELECT id FROM sessions ORDER BY id').pluck().all().join()
      expect(['old', 'new,old']).toContain(ids)
      database.close()
    }
    expect(readdirSync(dirname(path)).filter((name) => name.includes('damaged'))).toEqual([])
  })

  it('within pruning leaves each session whole or gone', async () => {
    const path = temporaryPath()
    const ids = Array.from({ length: 60 }, (_, index) => `s${index}`)
    const store = await newStore(path, ids)
    for (const id of ids) {
      const lease = await store.acquireLease(id, { owner: 'me' })
      await store.append(
        id,
        texts(50).map((text) => ({ type: 'message', message: userText(text) })),
        { lease, atMs: 1 },
      )
      await store.updateSession(id, { endedAtMs: 2 })
      await lease.release()
    }
    await store.search('word')
    await store.close()
    for (let kill = 0; kill < times; kill++) await killWithin('prune', path, dirname(path), 60)
    const database = new Database(path)
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    const broken =
      'SELECT count(*) FROM sessions WHERE (SELECT count(*) FROM messages WHERE session_id = sessions.id) <> 50'
    expect(database.prepare(broken).pluck().get()).toBe(0)
    const orphans = 'SELECT count(*) FROM messages WHERE session_id NOT IN (SELECT id FROM sessions)'
    expect(database.prepare(orphans).pluck().get()).toBe(0)
    database.close()
  })
})
