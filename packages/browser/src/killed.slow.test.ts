// What is left of a browser whose owner is killed. HERMES_TEST_KILLS is five times how often; HERMES_TEST_SEED repeats the moments.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { PUBLIC } from './__fixtures__/scene.js'
import { startSite } from './__fixtures__/site.js'
import { findBrowser } from './launch/find-browser.js'

const KILLS = Math.max(3, Math.ceil(Number(process.env['HERMES_TEST_KILLS'] ?? 0) / 5))
const SEED = Number(process.env['HERMES_TEST_SEED'] ?? 0)
const WORKER = fileURLToPath(new URL('./__fixtures__/work-until-killed.ts', import.meta.url))
const LOADER = fileURLToPath(new URL('../../storage/src/__fixtures__/load-sources.mjs', import.meta.url))

const missing = await findBrowser({ env: process.env, executable: null }).then(
  () => (process.platform === 'linux' ? null : 'no /proc'),
  () => 'no Chromium',
)

/** Programs of this machine that were started with a folder. */
async function programsWith(folder: string): Promise<readonly string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(folder)).map((line) => line.split('\0')[0]!)
}

needs(missing)('a killed owner', () => {
  it(`leaves no browser and no proxy, and its folders go at the next start, ${KILLS} times`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hermes-killed-'))
    await using site = await startSite(PUBLIC, { '/': '<!doctype html><title>T</title><input aria-label=F>' })
    const start = (tasks: number): ChildProcess => {
      const options = ['--conditions=@hermes/source', `--import=${LOADER}`, WORKER]
      const args = [folder, `http://site.test:${site.port}/`, String(tasks)]
      return spawn(process.execPath, [...options, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    }
    try {
      let tasks = 0
      for (let kill = 0; kill < KILLS; kill++) {
        const child = start(1_000)
        const ended = new Promise((resolve) => child.once('close', resolve))
        // After none, one or two tasks, and somewhere within the next.
        const after = (SEED + kill) % 3
        await new Promise<void>((resolve) => {
          if (after === 0) setTimeout(resolve, 100 + ((SEED + kill * 37) % 400))
          let seen = 0
          child.stdout!.on('data', (chunk: Buffer) => {
            seen += chunk.toString().split('\n').length - 1
            if (seen >= after) resolve()
          })
          child.once('close', () => resolve())
        })
        expect(child.exitCode).toBeNull()
        child.kill('SIGKILL')
        await ended
        tasks += after
        await expect.poll(() => programsWith(folder), { timeout: 30_000 }).toEqual([])
      }
      const last = start(2)
      expect(await new Promise((resolve) => last.once('close', resolve))).toBe(0)
      tasks += 2
      expect(await readdir(join(folder, 'cache'))).toEqual([])
      expect(await programsWith(folder)).toEqual([])
      process.stdout.write(`${KILLS} kills during ${tasks} tasks: nothing left\n`)
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    }
  }, 7_200_000)
})
