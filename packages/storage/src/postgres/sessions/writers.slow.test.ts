import { userText } from '@hermes/contracts/conversation'
import { needs, postgresMissing } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PostgresDatabase, startDatabase } from '../../__fixtures__/postgres-database.js'
import { startWriter } from '../../__fixtures__/run-writer.js'
import { openStorage } from '../../index.js'

const KILLS = 3

const numbers = (lines: readonly string[]) =>
  lines.flatMap((line) => (/^[\d ]+$/.test(line) ? line.split(' ').map(Number) : []))

needs(postgresMissing())('processes on one PostgreSQL', () => {
  let database: PostgresDatabase
  beforeAll(async () => {
    database = await startDatabase()
  })
  afterAll(() => database?.stop())

  const sessions = async (...ids: string[]) => {
    const store = await database.open()
    for (const id of ids) await store.sessions.create({ id, source: 'cli' })
    await store.close()
    return database.url
  }

  it('lose nothing that was appended when they are killed, and leave the session free', async () => {
    const path = await sessions('s')
    const promised: number[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      const writer = startWriter({ path, sessionId: 's', count: 0 })
      await writer.printed(2 + Math.floor(Math.random() * 60))
      writer.process.kill('SIGKILL')
      await writer.ended
      expect(writer.lines[0]).toBe('ready')
      promised.push(...numbers(writer.lines))
    }
    const store = await openStorage({ url: path })
    const entries = await store.log.entries('s')
    const stored = new Set(entries.map(({ seq }) => seq))
    expect(promised.filter((seq) => !stored.has(seq))).toEqual([])
    expect(entries.map(({ type }) => type).join()).toMatch(/^(message,note,?)+$/)
    expect(await store.sessions.get('s')).toMatchObject({ messageCount: entries.length / 2 })
    expect(await store.maintenance.check()).toEqual([])
    await store.close()
  })

  it('that race for a session let exactly one write it, and tell the others who', async () => {
    const path = await sessions('s')
    const racers = Array.from({ length: 4 }, () => startWriter({ path, sessionId: 's', count: 0 }))
    await Promise.all(racers.map((racer) => racer.printed(1)))
    const winners = racers.filter(({ lines }) => lines[0] === 'ready')
    expect(winners).toHaveLength(1)
    const [winner] = winners
    for (const racer of racers) {
      if (racer !== winner) {
        await racer.ended
        expect(racer.lines).toEqual([expect.stringMatching(`^busy writer \\(process ${winner!.process.pid}@`)])
      }
    }
    winner!.process.kill('SIGKILL')
    await winner!.ended
  })

  it('append to sessions of their own side by side, each in full and in order', async () => {
    const path = await sessions('a', 'b')
    const writers = ['a', 'b'].map((sessionId) => ({ sessionId, ...startWriter({ path, sessionId, count: 60 }) }))
    await Promise.all(writers.map(({ ended }) => ended))
    const store = await openStorage({ url: path })
    for (const { sessionId, lines } of writers) {
      const seqs = (await store.log.entries(sessionId)).map(({ seq }) => seq)
      expect(lines.at(-1)).toBe('done')
      expect(seqs).toEqual(numbers(lines))
      expect(seqs).toEqual([...seqs].sort((left, right) => left - right))
    }
    await store.close()
  })

  it('lets nobody append with a lease that another process took meanwhile, not even at the same time', async () => {
    const path = await sessions('s')
    const clock = { now: () => now, sleep: async () => undefined }
    let now = 1_000
    const [first, second] = [
      await openStorage({ url: path, clock }),
      await openStorage({ url: path, clock, owner: 'other' }),
    ]
    const old = await first.leases.acquire('s', { owner: 'first', ttlMs: 100 })
    now += 10_000
    const entry = { type: 'message', message: userText('late') } as const
    const [taken, ...late] = await Promise.allSettled([
      second.leases.acquire('s', { owner: 'second' }),
      ...Array.from({ length: 5 }, () => first.log.append('s', [entry], { lease: old })),
    ])
    const appended = late.filter(({ status }) => status === 'fulfilled').length
    // Whoever came first: either the lease was taken and nothing was appended after that, or an append had renewed it.
    if (taken.status === 'fulfilled') {
      await expect(first.log.append('s', [entry], { lease: old })).rejects.toMatchObject({ code: 'store.lease_lost' })
    } else {
      expect(taken.reason).toMatchObject({ code: 'store.session_busy' })
      expect(appended).toBe(5)
    }
    expect(await first.log.entries('s')).toHaveLength(appended)
    await Promise.all([first.close(), second.close()])
  })
})
