// What each service that browsers are rented or borrowed from is held to, a cell for each: the same lines for all four.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { needs } from '@hermes/testkit/daemons'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { browserCommandIn } from '../__fixtures__/browser-command-in.js'
import { type Camofox, startCamofox } from '../__fixtures__/camofox.js'
import { type Clouds, startClouds, variablesOf } from '../__fixtures__/clouds.js'
import { type BrowserScene, openScene, PUBLIC } from '../__fixtures__/scene.js'
import { type Site, startSite } from '../__fixtures__/site.js'
import { findBrowser } from '../launch/find-browser.js'
import { DEFAULT_SETTINGS } from '../settings.js'
import { CLOUD_NAMES, SERVICES } from './cloud-vendors.js'

const WORKER = fileURLToPath(new URL('../__fixtures__/work-until-killed.ts', import.meta.url))
const LOADER = fileURLToPath(new URL('../../../testkit/src/__fixtures__/load-sources.mjs', import.meta.url))
const COSTS: Readonly<Record<string, string | null>> = { 'browser-use': '0.0003 USD', firecrawl: '2 credits' }

const missing = await findBrowser({ env: process.env, executable: null }).then(
  () => (process.platform === 'linux' ? null : 'no /proc'),
  () => 'no Chromium',
)

needs(missing)('browsers that others run', () => {
  let folder: string
  let clouds: Clouds
  let camofox: Camofox
  let site: Site
  let scene: BrowserScene
  const address = () => `http://site.test:${site.port}/`
  const variables = () => ({ ...variablesOf(clouds), ...camofox.variables })
  const records = async () =>
    (await readdir(join(scene.folder, 'cache')).catch(() => [])).filter((name) => name.startsWith('cloud-'))
  const status = async () => JSON.stringify(await browserCommandIn(scene, 'status'))
  const open = (session?: string) => scene.call('browser_navigate', { url: address() }, session)
  const failing = (work: Promise<string>) =>
    work.then(
      (text) => expect.fail(text),
      (error: Error) => error.message,
    )

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hermes-rented-'))
    ;[clouds, camofox, site] = await Promise.all([startClouds(folder), startCamofox(), startSite(PUBLIC)])
    site.pages['/'] = '<!doctype html><title>Far</title><h1>Far away</h1><input aria-label=F>'
  })
  beforeEach(async () => {
    scene = await openScene(undefined, variables())
  })
  afterEach(async () => {
    ;[clouds.refusal, clouds.handsOut, clouds.isFree, camofox.refusal] = [null, null, false, null]
    await scene[Symbol.asyncDispose]()
    clouds.open.clear()
    camofox.tabs.clear()
    clouds.seen.length = camofox.seen.length = 0
  })
  afterAll(async () => {
    for (const one of [clouds, camofox, site]) await one[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  describe.each([...CLOUD_NAMES, 'camofox'] as const)('%s', (backend) => {
    const isCamofox = backend === 'camofox'
    const { label } = SERVICES[backend]
    /** Sessions there that nobody has ended. */
    const there = () =>
      isCamofox ? [...new Set([...camofox.tabs.values()].map(({ userId }) => userId))] : [...clouds.open]
    const made = () =>
      isCamofox
        ? camofox.seen.filter((line) => line === 'POST /tabs').length
        : clouds.seen.filter(({ method, path }) => method === 'POST' && !path.includes('session-')).length
    const refuse = (status: number, headers: Record<string, string> = {}) => {
      clouds.refusal = { status, headers }
      camofox.refusal = { status, headers, body: '{"error":"not this time"}' }
    }
    const connectionEnded = () => expect.poll(() => scene.sessions.isRunning, { timeout: 30_000 }).toBe(false)

    beforeEach(() => {
      scene.settings = { ...scene.settings, backend }
    })

    it('makes a session with the first page, writes it down where only its owner reads, and tells the minutes', async () => {
      expect(await open()).toContain('Far away')
      expect([there().length, made()]).toEqual([1, 1])
      const [record] = await records()
      expect((await stat(join(scene.folder, 'cache', record!))).mode & 0o777).toBe(0o600)
      if (isCamofox) expect(await status()).not.toMatch(/paid|cost/)
      else expect(await status()).toContain(`${label} runs for 1 minute, which are paid.`)
    })

    it('uses it again for every call, clouds for every session, and releases it with the last page', async () => {
      await open()
      await open()
      expect([there().length, made()]).toEqual([1, 1])
      await open('two')
      // In Camofox a session is a user, whose cookies are its own.
      expect(there()).toHaveLength(isCamofox ? 2 : 1)
      await scene.sessions.end('one')
      expect(there()).toHaveLength(1)
      await scene.sessions.end('two')
      expect([there(), await records()]).toEqual([[], []])
      const cost = COSTS[backend] ?? null
      if (cost === null) expect(await status()).not.toContain('cost')
      else expect(await status()).toContain(`A session of ${label} that is over cost ${cost}.`)
    })

    it('has it go on where the connection ends, until nobody wants it', async () => {
      // Four times in such a while it is looked for what nobody wants.
      scene.settings = { ...scene.settings, idleMs: 20_000 }
      await open()
      const before = there()
      if (isCamofox) camofox.drop()
      else {
        clouds.drop()
        await connectionEnded()
        expect(await status()).toContain(`${label} runs for 1 minute, which are paid.`)
        expect(await failing(scene.call('browser_snapshot'))).toMatch(/No page is open|browser has gone/)
        await open()
      }
      expect(await scene.call('browser_snapshot')).toContain('Far away')
      expect([there(), made()]).toEqual([before, 1])
      scene.settings = { ...scene.settings, idleMs: 40 }
      clouds.drop()
      await expect.poll(records, { timeout: 60_000 }).toEqual([])
      expect(there()).toEqual([])
    })

    it('has what a killed process left released at the next start', async () => {
      const argv = [WORKER, scene.folder, address(), backend, JSON.stringify(variables()), '1']
      const child = spawn(process.execPath, ['--conditions=@hermes/source', `--import=${LOADER}`, ...argv], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      const ended = once(child, 'exit')
      try {
        await expect.poll(there, { timeout: 120_000 }).toHaveLength(1)
        await expect.poll(records, { timeout: 30_000 }).toHaveLength(1)
      } finally {
        child.kill('SIGKILL')
        await ended
      }
      const [left] = there()
      expect(await records()).not.toEqual([])
      const lease = isCamofox ? await open() : await scene.sessions.leases.create(backend)
      // Nobody waits for that.
      await expect.poll(there, { timeout: 30_000 }).not.toContain(left)
      expect(there()).toHaveLength(1)
      await expect.poll(records, { timeout: 30_000 }).toHaveLength(1)
      if (typeof lease !== 'string') await lease.release()
    })

    it.each([
      [401, {}, 'refused the key (401): not this time'],
      [402, {}, 'has no credit left for this account (402): not this time. browser.backend: local works without it.'],
      [429, {}, 'has too many sessions or was asked too often (429): not this time.'],
      [429, { 'retry-after': '17' }, 'it wants 17 s of rest'],
      [429, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 'it may be asked again at 2026-10-21T07:28:00.000Z'],
      [500, {}, 'answered 500'],
    ] as const)('says in a line why it gives no session: %i %o', async (code, headers, words) => {
      refuse(code, headers)
      const line = await failing(open())
      expect(line).toContain(`${label} ${words}`.replace(/.*(it (?:wants|may))/, '$1'))
      expect(line).not.toMatch(/\n|-key/)
      clouds.refusal = camofox.refusal = null
      await scene.sessions.end('one')
      // Who fails may have made one: it is looked for by its mark.
      const isMarked = code === 500 && (backend === 'browserbase' || backend === 'browser-use')
      expect([there(), (await records()).length]).toEqual([[], isMarked ? 1 : 0])
      for (const file of await records()) await rm(join(scene.folder, 'cache', file))
    })

    it('says so where it has expired, gives the next page one that is new, and releases that with the home', async () => {
      await open()
      if (isCamofox) camofox.tabs.clear()
      else {
        clouds.expire()
        await connectionEnded()
      }
      expect(await failing(scene.call('browser_snapshot'))).toMatch(
        /^(?:No page is open|The browser has gone|Camofox has closed)[^\n]*$/,
      )
      expect(await open()).toContain('Far away')
      expect([there().length, made(), (await records()).length]).toEqual([1, 2, 1])
      await scene.sessions.close()
      expect([there(), await records()]).toEqual([[], []])
    })
  })

  it('are released where their browser cannot be reached', async () => {
    for (const backend of CLOUD_NAMES) {
      scene.settings = { ...DEFAULT_SETTINGS, backend }
      clouds.handsOut = 'ws://127.0.0.1:9/'
      expect(await failing(open())).toContain(`${SERVICES[backend].label} cannot be reached`)
      expect([clouds.open.size, await records()]).toEqual([0, []])
    }
  })

  it('are released though the connection ends over which that is asked for', async () => {
    for (const backend of CLOUD_NAMES) {
      const lease = await scene.sessions.leases.create(backend)
      clouds.losesReleases = 1
      await lease.release()
      expect([clouds.open.size, await records()]).toEqual([0, []])
    }
  })

  it('of Browserbase end with their connection where the plan keeps none alive, and the next page has a new one', async () => {
    scene.settings = { ...scene.settings, backend: 'browserbase' }
    clouds.isFree = true
    await open()
    const wanted = () => clouds.seen.filter(({ path }) => path === '/v1/sessions').map(({ body }) => body['keepAlive'])
    expect(wanted()).toEqual([true, undefined])
    const [first] = clouds.open
    clouds.drop()
    await expect.poll(records, { timeout: 30_000 }).toEqual([])
    await open()
    expect(wanted()).toEqual([true, undefined, undefined])
    expect([...clouds.open]).not.toContain(first)
  })
})
