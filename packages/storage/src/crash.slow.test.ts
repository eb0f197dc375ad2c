import { describe, expect, it } from 'vitest'
import { startWriter } from './__fixtures__/run-writer.js'
import { temporaryPath } from './__fixtures__/temporary-store.js'
import { openStorage } from './index.js'

const KILLS = 4

const numbers = (lines: readonly string[]) =>
  lines.flatMap((line) => (/^[\d ]+$/.test(line) ? line.split(' ').map(Number) : []))

async function newSession(path: string, ...ids: string[]): Promise<void> {
  const store = await openStorage({ path })
  for (const id of ids) await store.sessions.create({ id, source: 'cli' })
  await store.close()
}

describe('a killed writer', () => {
  it('loses nothing that was appended, leaves the file sound and the session free', async () => {
    const path = temporaryPath()
    await newSession(path, 's')
    const promised: number[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      const writer = startWriter({ path, sessionId: 's', count: 0 })
      await writer.printed(2 + Math.floor(Math.random() * 150))
      writer.process.kill('SIGKILL')
      await writer.ended
      expect(writer.lines[0]).toBe('ready')
      promised.push(...numbers(writer.lines))
    }
    const store = await openStorage({ path })
    const entries = await store.log.entries('s')
    const stored = new Set(entries.map((entry) => entry.seq))
    expect(promised.filter((seq) => !stored.has(seq))).toEqual([])
    expect(promised.length).toBeGreaterThanOrEqual(KILLS * 2)
    expect(await store.maintenance.check()).toEqual([])
    expect(entries.map((entry) => entry.type).join()).toMatch(/^(message,note,?)+$/)
    expect(await store.sessions.get('s')).toMatchObject({ messageCount: entries.length / 2 })
    await store.close()
  })
})

describe('two processes', () => {
  it('do not write one session: the second one is told who does', async () => {
    const path = temporaryPath()
    await newSession(path, 's')
    const first = startWriter({ path, sessionId: 's', count: 0 })
    await first.printed(2)
    const second = startWriter({ path, sessionId: 's', count: 0 })
    await second.ended
    expect(second.lines).toEqual([expect.stringMatching(`^busy writer \\(process ${first.process.pid}@`)])
    first.process.kill('SIGKILL')
    await first.ended
  })

  it('write two sessions of one file at the same time, each in full', async () => {
    const path = temporaryPath()
    await newSession(path, 'a', 'b')
    const count = 100
    const writers = ['a', 'b'].map((sessionId) => ({ sessionId, ...startWriter({ path, sessionId, count }) }))
    await Promise.all(writers.map((writer) => writer.ended))
    const store = await openStorage({ path })
    for (const { sessionId, lines } of writers) {
      expect(lines.at(-1)).toBe('done')
      expect((await store.log.entries(sessionId)).map((entry) => entry.seq)).toEqual(numbers(lines))
      expect(numbers(lines)).toHaveLength(count * 2)
    }
    await store.close()
  })
})
