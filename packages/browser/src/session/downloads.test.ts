import { copyFile, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Download } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { Downloads, pruneDownloads } from './downloads.js'

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

it('takes fifty files of a session and no more', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-downloads-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [notes, cancelled]: [string[], string[]] = [[], []]
  const downloads = new Downloads(join(folder, 'kept'), (text) => notes.push(text))
  for (let file = 1; file <= 52; file++) {
    const path = join(folder, `${file}`)
    await writeFile(path, 'x')
    const download: Pick<Download, 'suggestedFilename' | 'failure' | 'path' | 'saveAs' | 'delete' | 'cancel' | 'url'> =
      {
        suggestedFilename: () => `report-${file}.txt`,
        failure: async () => null,
        path: async () => path,
        saveAs: (to) => copyFile(path, to),
        delete: () => rm(path),
        cancel: async () => void cancelled.push(`report-${file}.txt`),
        url: () => 'http://site.test/',
      }
    downloads.take(download as Download)
  }
  await downloads.settled(AbortSignal.timeout(10_000))
  expect(await readdir(join(folder, 'kept'))).toHaveLength(50)
  expect(cancelled).toEqual(['report-51.txt', 'report-52.txt'])
  expect(notes.filter((text) => text.includes('was not downloaded: a session may download 50 files.'))).toHaveLength(2)
})
