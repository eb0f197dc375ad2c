import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@hermes/contracts'
import { openBackups, openStorage } from '@hermes/storage'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startDailyBackup } from './daily-backup.js'

const DAY_MS = 86_400_000

let folder: string
let path: string
const warnings: string[] = []
const logger = { ...silentLogger, warn: (line: string) => void warnings.push(line) }
const backups = () => openBackups({ path, directory: join(folder, 'backups'), keep: 2, clock: laterClock })
const laterClock = { now: () => Date.now(), sleep: async () => undefined }
const names = async () => (await backups().list()).map(({ name }) => name)
const start = () => startDailyBackup(backups(), { path, logger })

/** The file stays as old as it is; only what the program takes for now moves on. */
function onDay(day: number): void {
  vi.setSystemTime(realNowMs + day * DAY_MS)
}

let realNowMs: number

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hermes-daily-backup-'))
  path = join(folder, 'state.db')
  const store = await openStorage({ path })
  await store.sessions.create({ id: 's', source: 'cli' })
  await store.close()
  realNowMs = Date.now()
  warnings.length = 0
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
})

afterEach(() => {
  vi.useRealTimers()
  rmSync(folder, { recursive: true })
})

describe('the daily backup', () => {
  it('is not made on the first day of a file, then once a day, and the oldest goes', async () => {
    await start().finish()
    expect(await names()).toEqual([])
    for (const day of [1.1, 1.2, 2.2, 3.3]) {
      onDay(day)
      await start().finish()
    }
    expect(await names()).toHaveLength(2)
    expect(await backups().verify((await names())[0]!)).toMatchObject({ sessions: 1, problems: [] })
  })

  it('is made by a process that lives on, without its end', async () => {
    onDay(2)
    const daily = start()
    await vi.advanceTimersByTimeAsync(30_000)
    await vi.waitFor(async () => expect(await names()).toHaveLength(1))
    await daily.finish()
  })

  it('leaves a damaged store alone and says so, and costs the end of a command nothing else', async () => {
    writeFileSync(path, 'not a database')
    onDay(2)
    await start().finish()
    expect(warnings).toEqual(['the daily backup of the sessions failed'])
    expect(await names()).toEqual([])
  })
})
