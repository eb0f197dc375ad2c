import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { browserCommandIn } from '../__fixtures__/browser-command-in.js'
import { openScene, PUBLIC } from '../__fixtures__/scene.js'
import { startSite } from '../__fixtures__/site.js'
import { findBrowser } from '../launch/find-browser.js'

const KEPT_MS = 72 * 3_600_000

const missing = await findBrowser({ env: process.env, executable: null }).then(
  () => null,
  () => 'no Chromium',
)

needs(missing)('a recorded session', () => {
  it('is pictures with their times and a page that plays them, of its owner alone, said once and ended by a secret', async () => {
    await using site = await startSite(PUBLIC, {
      '/': '<body style="background:red"><h1>First</h1><a href=/next>On</a>',
      '/next': '<body style="background:blue"><h1>Second</h1>',
    })
    await using scene = await openScene()
    scene.settings = { ...scene.settings, recordsSessions: true }
    const first = await scene.call('browser_navigate', { url: `http://site.test:${site.port}/` })
    const [, player = ''] = /is recorded [^\n]*for 72 hours: (\S+index\.html)\./.exec(first) ?? []
    const folder = join(player, '..')
    const frames = async () => (await readFile(join(folder, 'frames.js'), 'utf8').catch(() => '')).trim().split('\n')
    await expect
      .poll(frames, { timeout: 20_000 })
      .toEqual([expect.stringMatching(/^frames\.push\(\[\d+,"00001\.jpg",1\]\)$/)])
    const second = await scene.call('browser_click', { ref: /\[(e\d+)\] link "On"/.exec(first)![1] })
    expect(second).not.toContain('recorded')
    const picturesIn = async () => (await readdir(folder)).filter((name) => name.endsWith('.jpg')).sort()
    const bytesOf = async () => Promise.all((await picturesIn()).map((name) => readFile(join(folder, name))))
    // A page that was shown a moment ago may not be drawn yet.
    await expect
      .poll(async () => new Set((await bytesOf()).map((bytes) => bytes.toString('hex'))).size, { timeout: 20_000 })
      .toBeGreaterThan(1)
    await scene.sessions.get('one').close()
    const names = await readdir(folder)
    expect(await frames()).toHaveLength((await picturesIn()).length)
    expect((await bytesOf())[0]!.subarray(0, 3).toString('hex')).toBe('ffd8ff')
    for (const name of names) expect((await stat(join(folder, name))).mode & 0o777, name).toBe(0o600)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)

    await scene.call('browser_navigate', { url: `http://site.test:${site.port}/` })
    scene.sessions.get('one').conceal('Zq7-opal')
    const there = (await readdir(folder)).length
    expect(await scene.call('browser_navigate', { url: `http://site.test:${site.port}/next` })).toContain(
      'The recording ends here: a secret',
    )
    await scene.sessions.get('one').close()
    expect((await readdir(folder)).length).toBeLessThanOrEqual(there + 1)
    expect(await scene.call('browser_navigate', { url: `http://site.test:${site.port}/` }, 'two')).toContain('/two-')
    expect(JSON.stringify(await browserCommandIn(scene, 'status'))).toContain(`Session one: ${player}.`)
  })

  it('is kept for 72 hours, and nothing is recorded unasked', async () => {
    await using site = await startSite(PUBLIC, { '/': '<h1>Here</h1>' })
    await using scene = await openScene()
    const recordings = join(scene.folder, 'recordings')
    const ageOf = { 'old-1': KEPT_MS + 60_000, 'new-1': KEPT_MS - 60_000 }
    for (const [name, age] of Object.entries(ageOf)) {
      await mkdir(join(recordings, name), { recursive: true })
      await writeFile(join(recordings, name, '00001.jpg'), 'x')
      const at = new Date(Date.now() - age)
      await utimes(join(recordings, name), at, at)
    }
    expect(await scene.call('browser_navigate', { url: `http://site.test:${site.port}/` })).not.toContain('recorded')
    await expect.poll(() => readdir(recordings), { timeout: 20_000 }).toEqual(['new-1'])
  })
})
