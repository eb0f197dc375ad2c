import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { pruneDownloads } from './downloads.js'

const HOUR_MS = 3_600_000

it('keeps pictures and texts of pages for a day, and what pages download for two weeks', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-downloads-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const now = Date.now()
  const hours = {
    ...{ 'screenshot.jpg': 25, 'screenshot-2.jpg': 23, 'whole-page-3.txt': 25, 'whole-page.txt': 23 },
    ...{ 'report.pdf': 25, 'old.pdf': 14 * 24 + 1, 'screenshot.jpg.txt': 25 },
  }
  await mkdir(join(folder, 'one'))
  for (const [name, age] of Object.entries(hours)) {
    await writeFile(join(folder, 'one', name), 'x')
    const at = new Date(now - age * HOUR_MS)
    await utimes(join(folder, 'one', name), at, at)
  }
  await pruneDownloads(folder, now)
  expect((await readdir(join(folder, 'one'))).sort()).toEqual([
    ...['report.pdf', 'screenshot-2.jpg', 'screenshot.jpg.txt', 'whole-page.txt'],
  ])
  await pruneDownloads(join(folder, 'nowhere'), now)
})
