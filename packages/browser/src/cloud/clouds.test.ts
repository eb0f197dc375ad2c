import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Browserbase } from '@browserbasehq/sdk'
import { needs } from '@hermes/testkit/daemons'
import { BrowserUse } from 'browser-use-sdk/v3'
import Firecrawl from 'firecrawl'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Clouds, startClouds, variablesOf } from '../__fixtures__/clouds.js'
import { type BrowserScene, openScene, PUBLIC } from '../__fixtures__/scene.js'
import { type Site, startSite } from '../__fixtures__/site.js'
import { findBrowser } from '../launch/find-browser.js'
import { DEFAULT_SETTINGS, readSettings } from '../settings.js'
import { choosePlace } from './choose-place.js'
import { CLOUD_NAMES, CLOUDS, type CloudName } from './cloud-vendors.js'

const missing = await findBrowser({ env: process.env, executable: null }).then(
  () => null,
  () => 'no Chromium',
)

needs(missing)('browsers elsewhere', () => {
  let folder: string
  let clouds: Clouds
  let scene: BrowserScene
  let site: Site
  let dev: Site
  const at = (path: string) => `http://site.test:${site.port}${path}`
  const near = (path: string) => `http://localhost:${dev.port}${path}`
  const use = (backend: CloudName) => {
    scene.settings = { ...DEFAULT_SETTINGS, backend }
  }
  const stop = async () => {
    for (const [id] of scene.sessions.list()) await scene.sessions.end(id)
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hermes-clouds-'))
    clouds = await startClouds(folder)
    scene = await openScene(undefined, variablesOf(clouds))
    site = await startSite(PUBLIC)
    dev = await startSite('127.0.0.1')
    site.pages['/'] =
      '<!doctype html><title>Far</title><h1>Far away</h1><button onclick="this.textContent=1+1">Press</button>'
    dev.pages['/'] = '<!doctype html><title>Near</title><h1>At home</h1>'
  })
  afterEach(async () => {
    ;[clouds.refusal, clouds.handsOut] = [null, null]
    await stop()
    clouds.seen.length = 0
    site.seen.length = 0
    dev.seen.length = 0
  })
  afterAll(async () => {
    await scene[Symbol.asyncDispose]()
    await clouds[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
    await dev[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  it('take no page for an answer', async () => {
    use('browserbase')
    clouds.refusal = { status: 200, text: '<!doctype html><title>Sign in</title>' }
    await expect(scene.call('browser_navigate', { url: at('/') })).rejects.toThrow('Browserbase answered with no JSON')
    clouds.refusal = { status: 200, text: '{"id":"x"}' }
    await expect(scene.call('browser_navigate', { url: at('/') })).rejects.toThrow('its answer names none')
  })

  it('are given no login of the vault', async () => {
    use('browserbase')
    const password = 'canary-Tr0ub4dor&3'
    await scene.vault.unlock('open sesame')
    await scene.vault.put({ name: 'shop', origin: `http://site.test:${site.port}`, user: 'ann', password })
    const field = '<input type=password aria-label=Key oninput="document.title=this.value">'
    site.pages['/login'] = `<!doctype html><title>Login</title>${field}`
    const [, ref] = /\[(e\d+)\] password/.exec(await scene.call('browser_navigate', { url: at('/login') }))!
    await expect(scene.call('browser_vault_fill', { name: 'shop', password_ref: ref })).rejects.toThrow(
      'open in a browser elsewhere',
    )
    expect(await scene.call('browser_snapshot')).not.toContain('canary')
  })

  it('show nothing of this machine: such pages open here, and pages there reach none of them', async () => {
    use('browserbase')
    expect(await scene.call('browser_navigate', { url: near('/') })).toContain('At home')
    expect(clouds.seen).toEqual([])
    dev.seen.length = 0
    site.pages['/leads-in'] = (_request, response) =>
      void response.writeHead(302, { location: near('/redirected') }).end()
    site.pages['/loads'] =
      `<!doctype html><title>L</title><img src="${near('/image')}"><iframe src="${near('/frame')}"></iframe><p>Loaded</p><script>fetch('${near('/fetch')}', {mode: 'no-cors'}).catch(() => { document.title = 'refused' }); navigator.sendBeacon('${near('/beacon')}')</script>`
    expect(await scene.call('browser_navigate', { url: at('/loads') })).toContain('Loaded')
    await scene.call('browser_wait', { seconds: 1 })
    await scene.call('browser_navigate', { url: at('/leads-in') }).catch(() => undefined)
    expect(dev.seen).toEqual([])
  })

  it('are reached by an address too, without touching the pages of others there', async () => {
    scene.settings = { ...DEFAULT_SETTINGS, backend: 'local' }
    await scene.sessions.connect(clouds.address)
    expect(await scene.call('browser_navigate', { url: at('/') })).toContain('Far away')
    site.pages['/theirs'] = '<!doctype html><title>Theirs</title>'
    const made = await fetch(`${clouds.address}/json/new?${near('/theirs')}`, { method: 'PUT' })
    const { id } = (await made.json()) as { readonly id: string }
    dev.pages['/theirs'] = '<!doctype html><title>Theirs</title>'
    await expect.poll(() => dev.seen).toContain('GET /theirs')
    await scene.sessions.connect(null)
    const left = (await (await fetch(`${clouds.address}/json/list`)).json()) as readonly {
      readonly id: string
      readonly url: string
    }[]
    expect(left.map((one) => one.id)).toContain(id)
    expect(left.filter(({ url }) => url === at('/'))).toEqual([])
    await scene.sessions.connect('http://127.0.0.1:9')
    await expect(scene.call('browser_navigate', { url: at('/') })).rejects.toThrow(/127\.0\.0\.1:9 cannot be reached/)
    await scene.sessions.connect(null)
  })

  it('are asked in the places where the packages that they publish ask', async () => {
    const { baseUrl } = clouds
    const browserbase = new Browserbase({ apiKey: 'bb-key', baseURL: baseUrl, maxRetries: 0 })
    const browserUse = new BrowserUse({ apiKey: 'bu-key', baseUrl })
    const firecrawl = new Firecrawl({ apiKey: 'fc-key', apiUrl: baseUrl })
    const theirs: Readonly<Record<CloudName, () => Promise<unknown>>> = {
      browserbase: async () => {
        const kept = { keepAlive: true, userMetadata: { hermes: 'MARK' } }
        const { id } = await browserbase.sessions.create({ projectId: 'project', api_timeout: 3_600, ...kept })
        await browserbase.sessions.update(id, { status: 'REQUEST_RELEASE', projectId: 'project' })
      },
      'browser-use': async () => {
        const { id } = await browserUse.browsers.create({ timeout: 60, metadata: { hermes: 'MARK' } })
        await browserUse.browsers.stop(id)
      },
      firecrawl: async () => firecrawl.deleteBrowser((await firecrawl.browser({ ttl: 120, activityTtl: 120 })).id!),
    }
    const requests = () =>
      clouds.seen.splice(0).map(({ method, path, body }) => ({
        ...{ method, path: path.replace(/session-\d+/, 'ID') },
        // The packages add their own name.
        body: JSON.parse(JSON.stringify({ ...body, origin: undefined }).replace(/[0-9a-f]{32}/, 'MARK')) as unknown,
      }))
    for (const name of CLOUD_NAMES) {
      await theirs[name]()
      const places = requests()
      await (await scene.sessions.leases.create(name)).release()
      // What the first scene asked for is looked for too.
      expect(requests().filter(({ method }) => method !== 'GET')).toEqual(places)
    }
    const listed = [
      await browserbase.sessions.list({ status: 'RUNNING' }),
      (await browserUse.browsers.list({ filterBy: 'active', pageSize: 100 })).items,
    ]
    expect(listed).toEqual([[], []])
    const { browserbase: one, 'browser-use': other } = CLOUDS
    expect(requests().map(({ path }) => path)).toEqual([one, other].map(({ marks }) => marks.running.path))
  })
})

describe('where pages open', () => {
  const place = (settings: object, variables: Readonly<Record<string, string>> = {}, more: object = {}) =>
    choosePlace({ settings: { ...DEFAULT_SETTINGS, ...settings }, variables, env: {}, connected: null, ...more })
  const none = { executable: '/no/such/browser' }
  const keys = { BROWSER_USE_API_KEY: 'k', FIRECRAWL_API_KEY: 'k' }

  it('is what was connected, then what is chosen, then an address, this machine, and a cloud with a key', async () => {
    expect(await place({ backend: 'local' }, keys, { connected: 'ws://x' })).toEqual({
      type: 'address',
      address: 'ws://x',
    })
    expect(await place({ ...none, backend: 'local' }, keys)).toEqual({ type: 'local' })
    expect(await place({ backend: 'firecrawl' }, keys)).toEqual({ type: 'cloud', cloud: 'firecrawl' })
    expect(await place({}, { ...keys, BROWSER_CDP_URL: 'ws://y' })).toEqual({ type: 'address', address: 'ws://y' })
    expect(await place({ executable: process.execPath }, keys)).toEqual({ type: 'local' })
    expect(await place(none, keys)).toEqual({ type: 'cloud', cloud: 'browser-use' })
    expect(await place(none)).toEqual({ type: 'local' })
  })

  it('is nowhere where what is chosen is not configured', async () => {
    await expect(place({ backend: 'browserbase' }, keys)).rejects.toThrow('BROWSERBASE_API_KEY is not set')
    await expect(place({ backend: 'cdp' })).rejects.toThrow('BROWSER_CDP_URL')
    expect(readSettings({ backend: 'browserbase', cdp_url: 'ws://x' })).toMatchObject({
      problems: [],
      settings: { cdpUrl: 'ws://x' },
    })
    expect(readSettings({ backend: 'nimbus' }).problems[0]!.message).toContain('browserbase, browser-use, firecrawl')
  })
})
