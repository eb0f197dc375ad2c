import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { noteBoot } from './boots.js'

/** No process has it. */
const GONE = 2 ** 22 + 1

it('leaves out what others brought after three starts in ten minutes that came to nothing, until one went well', async () => {
  const { path, remove } = await temporaryHome()
  onTestFinished(remove)
  const start = (nowMs: number, pid = process.pid) => noteBoot(path, { pid, nowMs })
  const folder = join(path, 'gateway', 'boots')
  const safe = []
  for (const nowMs of [1_000, 2_000, 3_000]) safe.push((await start(nowMs, GONE)).isSafe)
  expect(safe).toEqual([false, false, false])
  // Another one that runs is no failure, and neither is what was ten minutes ago.
  await writeFile(join(folder, `4000-${process.ppid}`), '')
  const fourth = await start(5_000)
  expect(fourth.isSafe).toBe(true)
  expect((await start(1_000 + 10 * 60_000 + 1_500)).isSafe).toBe(false)
  await fourth.passed()
  expect((await readdir(folder)).filter((name) => !name.endsWith(`-${process.ppid}`))).toEqual([
    `602500-${process.pid}`,
  ])
})
