import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@hermes/contracts'
import { userText } from '@hermes/contracts/conversation'
import { openStorage } from '@hermes/storage'
import { expect, it } from 'vitest'
import { keepSessions } from './session-upkeep.js'

const DAY_MS = 86_400_000
const off = { auto_prune: false, retention_days: 90, auto_archive: false, auto_archive_days: 3, min_interval_hours: 24 }

it('archives and deletes quiet sessions where it is told to, once a day', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hermes-session-upkeep-'))
  let nowMs = 0
  const clock = { now: () => nowMs, sleep: async () => undefined }
  const storage = await openStorage({ path: join(folder, 'state.db'), clock })
  try {
    const say = async (id: string) => {
      await storage.sessions.create({ id, source: 'cli' })
      const lease = await storage.leases.acquire(id, { owner: 'me' })
      await storage.log.append(id, [{ type: 'message', message: userText('hello') }], { lease })
      await lease.release()
      await storage.sessions.end(id, { reason: 'done' })
    }
    const keep = (settings: Partial<typeof off>) =>
      keepSessions({ storage, settings: { ...off, ...settings }, clock, logger: silentLogger })
    const left = async () => [
      (await storage.sessions.list()).map(({ id }) => id),
      (await storage.sessions.list({ includeArchived: true })).map(({ id }) => id),
    ]
    await say('old')
    nowMs = 90 * DAY_MS
    await say('new')
    await keep({})
    expect(await left()).toEqual([
      ['new', 'old'],
      ['new', 'old'],
    ])
    await keep({ auto_archive: true })
    expect(await left()).toEqual([['new'], ['new', 'old']])
    await keep({ auto_prune: true })
    expect(await left()).toEqual([['new'], ['new', 'old']])
    nowMs += DAY_MS
    await keep({ auto_prune: true })
    expect(await left()).toEqual([['new'], ['new']])
  } finally {
    await storage.close()
    rmSync(folder, { recursive: true })
  }
})
