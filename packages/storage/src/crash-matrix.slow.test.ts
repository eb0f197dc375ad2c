import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startWriter } from './__fixtures__/run-writer.js'
import { temporaryPath } from './__fixtures__/temporary-store.js'
import { openStorage } from './index.js'

/** Of each matrix; `HERMES_TEST_KILLS=500` for a long run. */
const KILLS = Number(process.env['HERMES_TEST_KILLS'] ?? 6)
const WRITERS = ['a', 'b', 'c', 'd']
const TIMEOUT_MS = 60_000 + KILLS * 4_000

const seqsIn = (lines: readonly string[]) =>
  lines.flatMap((line) => (/^[\d ]+$/.test(line) ? line.split(' ').map(Number) : []))

async function newStore(path: string, sessions: readonly string[], options: { journal?: 'wal' | 'delete' } = {}) {
  const store = await openStorage({ path, ...options })
  for (const id of sessions) await store.sessions.create({ id, source: 'cli' })
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
      const entries = await store.log.entries(id)
      const stored = new Set(entries.map(({ seq }) => seq))
      expect(seqs.filter((seq) => !stored.has(seq))).toEqual([])
      expect(entries.map(({ type }) => type).join()).toMatch(/^(message,note,?)*$/)
      expect(await store.sessions.get(id)).toMatchObject({ messageCount: entries.length / 2 })
    }
    expect(await store.maintenance.damage()).toEqual([])
    expect(await store.maintenance.check()).toEqual([])
    await store.close()
  })
})
