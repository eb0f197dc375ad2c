import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { userText } from '@hermes/contracts/conversation'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { startScript, startWriter } from './__fixtures__/run-writer.js'
import { temporaryPath, temporaryStore } from './__fixtures__/temporary-store.js'
import { openBackups, openStorage } from './index.js'
import { createStepClock } from './testing/store-case.js'

async function home({ keep = 3 } = {}) {
  const path = temporaryPath()
  const clock = createStepClock()
  const backups = openBackups({ path, directory: join(dirname(path), 'backups'), keep, clock })
  const write = async (id: string, count = 1) => {
    const store = await openStorage({ path, clock })
    await store.sessions.create({ id, source: 'cli' })
    const lease = await store.leases.acquire(id, { owner: 'me' })
    const texts = Array.from({ length: count }, (_, index) => `kettle ${index} ${'word '.repeat(50)}`)
    await store.log.append(
      id,
      texts.map((text) => ({ type: 'message', message: userText(text) })),
      { lease },
    )
    await store.close()
  }
  return { path, clock, backups, write }
}

const sessionsOf = async (path: string) => {
  const store = await openStorage({ path })
  const ids = (await store.sessions.list()).map(({ id }) => id).sort()
  await store.close()
  return ids
}

/** Makes the middle of a file unreadable and leaves a log beside it, as a broken disk and a kill would. */
function damage(path: string): void {
  const bytes = readFileSync(path)
  bytes.fill(0xff, Math.floor(bytes.length / 8192) * 4096, Math.floor(bytes.length / 8192) * 4096 + 8192)
  writeFileSync(path, bytes)
}

describe('backups', () => {
  it('are sound copies for their owner only, the newest first, at most as many as are kept', async () => {
    const { backups, write, clock } = await home()
    await write('a')
    expect(await backups.isDue()).toBe(true)
    for (let day = 0; day < 5; day++) {
      clock.step(86_400_000)
      await backups.create()
      expect(await backups.isDue()).toBe(false)
    }
    const all = await backups.list()
    expect(all.map(({ name }) => name)).toEqual([
      'state-20231119-221320.db',
      'state-20231118-221320.db',
      'state-20231117-221320.db',
    ])
    expect(all[0]).toMatchObject({ atMs: Math.floor(clock.now() / 1000) * 1000 })
    expect((statSync(all[0]!.path).mode & 0o777).toString(8)).toBe('600')
    expect(await backups.verify(all[0]!.name)).toMatchObject({ sessions: 1, messages: 1, problems: [] })
    expect(readdirSync(dirname(all[0]!.path)).sort()).toEqual(all.map(({ name }) => name).sort())
    clock.step(86_400_000)
    expect(await backups.isDue()).toBe(true)
  })

  it('have different names within one second', async () => {
    const { backups, write } = await home()
    await write('a')
    const names = [await backups.create(), await backups.create()].map(({ name }) => name)
    expect(names).toEqual(['state-20231114-221320.db', 'state-20231114-221320.1.db'])
    expect((await backups.list()).map(({ name }) => name)).toEqual(names.toReversed())
  })

  it('are whole while another process writes', async () => {
    const { path, backups, write } = await home()
    await write('a')
    const writer = startWriter({ path, sessionId: 'a', count: 0 })
    await writer.printed(50)
    const { name } = await backups.create()
    writer.process.kill('SIGKILL')
    await writer.ended
    const report = await backups.verify(name)
    expect(report.problems).toEqual([])
    expect(report.messages).toBeGreaterThan(10)
  })

  it('come back, and what was there before is kept as a backup', async () => {
    const { path, backups, write } = await home()
    await write('old')
    const { name } = await backups.create()
    await write('new')
    const { restored, savedAs } = await backups.restore(name)
    expect(restored).toMatchObject({ sessions: 1, messages: 1 })
    expect(await sessionsOf(path)).toEqual(['old'])
    expect(await sessionsOf(savedAs!)).toEqual(['new', 'old'])
  })

  it('come back in place of a damaged file, which is moved aside', async () => {
    const { path, backups, write } = await home()
    await write('old', 200)
    const { name } = await backups.create()
    damage(path)
    const { savedAs } = await backups.restore(name)
    expect(savedAs).toBe(`${path}.damaged-20231114-221320`)
    expect(existsSync(savedAs!)).toBe(true)
    expect(await sessionsOf(path)).toEqual(['old'])
  })

  it('come back where nothing is any more', async () => {
    const { path, backups, write } = await home()
    await write('old')
    const { path: copy } = await backups.create()
    const elsewhere = openBackups({ path: `${path}.other`, directory: dirname(copy) })
    expect((await elsewhere.restore(copy)).savedAs).toBeNull()
    expect(await sessionsOf(`${path}.other`)).toEqual(['old'])
  })

  it('are not put in place while another process has the file open, nor when they are damaged', async () => {
    const { path, backups, write } = await home()
    await write('a', 200)
    const backup = await backups.create()
    const writer = startWriter({ path, sessionId: 'a', count: 0 })
    await writer.printed(2)
    const refused = backups.restore(backup.name)
    await expect(refused).rejects.toMatchObject({
      code: 'store.in_use',
      message: expect.stringContaining(`${writer.process.pid}`),
    })
    writer.process.kill('SIGKILL')
    await writer.ended
    damage(backup.path)
    await expect(backups.restore(backup.name)).rejects.toMatchObject({ code: 'store.bad_backup' })
    expect(await sessionsOf(path)).toEqual(['a'])
  })

  it('are not put in place either where a link leads to the home that another process has open', async () => {
    const { path, write } = await home()
    await write('a')
    const link = `${dirname(path)}-link`
    symlinkSync(dirname(path), link)
    const backups = openBackups({ path: join(link, 'state.db'), directory: join(link, 'backups') })
    const { name } = await backups.create()
    const { process: other, ended } = startScript('hold-open.mjs', [path])
    await new Promise((resolve) => other.stdout.once('data', resolve))
    await expect(backups.restore(name)).rejects.toMatchObject({ code: 'store.in_use' })
    other.kill('SIGKILL')
    await ended
    await backups.restore(name)
    expect(await sessionsOf(path)).toEqual(['a'])
  })

  it('are not put in place while anybody else holds a lock on the file, seen or not', async () => {
    const { path, backups, write } = await home()
    await write('a')
    const { name } = await backups.create()
    // Connections of this process are not looked for by its id.
    const store = await openStorage({ path })
    await expect(backups.restore(name)).rejects.toMatchObject({
      code: 'store.in_use',
      message: `${path} is open in other processes; end them and try again.`,
    })
    await store.close()
    await backups.restore(name)
    expect(await sessionsOf(path)).toEqual(['a'])
  })

  it('say in one line what is not there', async () => {
    const { backups } = await home()
    expect(await backups.list()).toEqual([])
    await expect(backups.create()).rejects.toMatchObject({ code: 'store.no_backup' })
    await expect(backups.verify('state-x.db')).rejects.toMatchObject({ code: 'store.no_backup' })
    await expect(backups.restore('../secrets')).rejects.toMatchObject({ code: 'store.no_backup' })
    await expect(backups.recover()).rejects.toMatchObject({ code: 'store.no_backup' })
  })

  it('leave nothing behind when the copy is damaged like the original', async () => {
    const { path, backups, write } = await home()
    await write('a', 200)
    damage(path)
    await expect(backups.create()).rejects.toMatchObject({
      code: expect.stringMatching(/^store\.(bad_backup|corrupt)$/),
    })
    expect(readdirSync(join(dirname(path), 'backups'))).toEqual([])
  })
})

describe('a damaged file', () => {
  it('is only read from the moment it is noticed, and says so in one line', async () => {
    const { path, write } = await home()
    await write('a', 200)
    damage(path)
    appendFileSync(`${path}-wal`, 'left over')
    const notified: string[] = []
    const store = await temporaryStore({ path, onNotice: (line) => void notified.push(line) })
    expect(await store.maintenance.damage()).not.toEqual([])
    expect(notified).toEqual([
      expect.stringMatching(/^.*state\.db is damaged \(.*\) and is only read from now on; .*$/),
    ])
    const refused = await store.sessions.create({ id: 'b', source: 'cli' }).catch((error: unknown) => error)
    expect(refused).toMatchObject({
      code: 'store.damaged',
      message: expect.stringMatching(/^.*state\.db is damaged \(.*$/),
    })
    expect(await store.sessions.get('a')).toMatchObject({ messageCount: 200 })
  })

  it('is only read as well when it is opened anew after a clean end', async () => {
    const { path, write } = await home()
    await write('a', 200)
    damage(path)
    appendFileSync(`${path}-wal`, 'left over')
    for (let time = 0; time < 2; time++) {
      const store = await openStorage({ path })
      expect(await store.maintenance.damage()).not.toEqual([])
      await store.close()
      rmSync(`${path}-wal`, { force: true })
    }
  })

  it('is looked at by the next process where one ended before it was done, until it is found sound', async () => {
    const { path, write } = await home()
    await write('a')
    writeFileSync(`${path}.unchecked`, 'mark')
    const store = await temporaryStore({ path })
    expect(await store.maintenance.damage()).toEqual([])
    expect(existsSync(`${path}.unchecked`)).toBe(false)
  })

  it('is not looked at while another process has it open, whose log lies beside it', async () => {
    const { path, write } = await home()
    await write('a', 200)
    damage(path)
    const { process: other, ended } = startScript('hold-open.mjs', [path])
    await new Promise((resolve) => other.stdout.once('data', resolve))
    appendFileSync(`${path}-wal`, 'left over')
    expect(await (await temporaryStore({ path })).maintenance.damage()).toEqual([])
    other.kill('SIGKILL')
    await ended
  })

  it('gives what can be read to a new file, and stays as it is', async () => {
    const { path, backups, write } = await home()
    await write('a', 400)
    new Database(path)
      .exec(
        "CREATE TABLE theirs (x PRIMARY KEY) WITHOUT ROWID; INSERT INTO theirs VALUES ('kept'); CREATE TABLE more (y)",
      )
      .exec("INSERT INTO more VALUES ('kept too')")
      .close()
    damage(path)
    const before = readFileSync(path)
    const report = await backups.recover()
    expect(readFileSync(path)).toEqual(before)
    expect(report.path).toBe(`${path}.recovered-20231114-221320`)
    expect(report.messages).toBeGreaterThan(300)
    expect(report.messages + report.lost).toBeGreaterThanOrEqual(400)
    const others = new Database(report.path)
    expect(others.prepare('SELECT x FROM theirs UNION ALL SELECT y FROM more').pluck().all()).toEqual([
      'kept',
      'kept too',
    ])
    others.close()
    const store = await temporaryStore({ path: report.path })
    expect(await store.maintenance.check()).toEqual([])
    expect(await store.log.entries('a')).toHaveLength(report.messages)
    expect((await store.search.find('kettle', { limit: 100 })).length).toBe(100)
  })

  it('gives what is left of a file that was cut off', async () => {
    const { path, backups, write } = await home()
    await write('a', 400)
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length / 2 / 4096) * 4096))
    const refused = await openStorage({ path }).catch((error: unknown) => error)
    expect(refused).toMatchObject({
      code: 'store.corrupt',
      message: expect.stringMatching(/^.* is damaged or not [^\n]*$/),
    })
    const recovered = await backups.recover()
    expect(recovered).toMatchObject({ sessions: 1 })
    expect(recovered.messages).toBeGreaterThan(50)
    expect(recovered.messages + recovered.lost).toBeGreaterThanOrEqual(400)
    const store = await openStorage({ path: recovered.path })
    expect(await store.log.entries('a')).toHaveLength(recovered.messages)
    expect(await store.search.find('kettle')).toHaveLength(10)
    expect(await store.maintenance.check()).toEqual([])
    await store.close()
  })

  it('keeps messages whose session cannot be read', async () => {
    const { path, backups, write } = await home()
    await write('a', 3)
    const database = new Database(path)
    database.exec('PRAGMA foreign_keys = OFF; DELETE FROM sessions')
    database.close()
    const { path: recovered } = await backups.recover()
    expect(await sessionsOf(recovered)).toEqual(['a'])
  })
})
