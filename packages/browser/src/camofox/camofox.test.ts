import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Camofox, startCamofox } from '../__fixtures__/camofox.js'
import { type BrowserScene, openScene, PUBLIC } from '../__fixtures__/scene.js'
import { type Site, startSite } from '../__fixtures__/site.js'
import { choosePlace } from '../cloud/choose-place.js'
import { DEFAULT_SETTINGS, readSettings } from '../settings.js'
import { camofoxUser } from './camofox-user.js'

let camofox: Camofox
let scene: BrowserScene
let site: Site
let dev: Site
const at = (path: string, host = 'site') => `http://${host}.test:${site.port}${path}`
const records = async () =>
  (await readdir(join(scene.folder, 'cache')).catch(() => [])).filter((name) => name.startsWith('cloud-'))
const failing = (name: string, args: object = {}) =>
  scene.call(name, args).then(
    (text) => expect.fail(text),
    (error: Error) => error.message,
  )

beforeEach(async () => {
  camofox = await startCamofox()
  scene = await openScene(undefined, camofox.variables)
  scene.settings = { ...scene.settings, backend: 'camofox' }
  site = await startSite(PUBLIC, {
    '/': '<h1>Far away</h1><a href=/next>Next</a><input aria-label=Search>',
    '/next': '<h1>Second</h1><p>Here.</p>',
    '/found': '<h1>Found</h1>',
  })
  dev = await startSite('127.0.0.1', { '/': '<h1>At home</h1>' })
})
afterEach(async () => {
  for (const one of [scene, camofox, site, dev]) await one[Symbol.asyncDispose]()
})

it('opens pages, clicks, writes and goes back, with a user of its own that ends with the session', async () => {
  expect(await scene.call('browser_navigate', { url: at('/') })).toMatch(
    /^site\.test:\d+ — http:\S+\n- heading "Far away"\n- link "Next" \[e2\]\n- textbox "Search" \[e3\]: \nCamofox shows the pages of the public web\. /,
  )
  expect(await scene.call('browser_type', { ref: 'e3', text: 'lamp' })).toBe(
    'Wrote into e3.\nChanged:\n+ - textbox "Search" [e3]: lamp\n- - textbox "Search" [e3]: ',
  )
  expect(await scene.call('browser_press', { key: 'Enter' })).toContain('- heading "Found"')
  expect(site.seen.at(-1)).toBe('GET /found?q=lamp')
  await scene.call('browser_back')
  expect(await scene.call('browser_click', { ref: 'e2' })).toMatch(/^Clicked e2\.\n[\s\S]*- heading "Second"/)
  expect(await scene.call('browser_wait', { text: 'Here.' })).toContain('- text: Here.')
  expect(await scene.call('browser_scroll', { direction: 'down' })).toContain('Second')
  expect(scene.pid).toBeNull()
  expect([camofox.tabs.size, (await records()).length]).toEqual([1, 1])
  await scene.sessions.end('one')
  expect([camofox.tabs.size, await records()]).toEqual([0, []])
  expect(camofox.seen.at(-1)).toMatch(/^DELETE \/sessions\/hermes-/)
})

it('closes an idle page, and opens it again as the same user with references of its own', async () => {
  const users = () => new Set([...camofox.tabs.values()].map(({ userId }) => userId))
  // Idle ones are looked for four times in such a while.
  scene.settings = { ...scene.settings, idleMs: 8_000 }
  await scene.call('browser_navigate', { url: at('/') })
  const before = users()
  scene.settings = { ...scene.settings, idleMs: 40 }
  // The record goes once Camofox has answered.
  await expect.poll(records, { timeout: 30_000 }).toEqual([])
  expect(camofox.tabs.size).toBe(0)
  scene.settings = { ...scene.settings, idleMs: 8_000 }
  expect(await failing('browser_click', { ref: 'e2' })).toContain('its references are new')
  expect(await scene.call('browser_snapshot')).toContain('- heading "Far away"')
  expect([users(), site.seen]).toEqual([before, ['GET /', 'GET /']])
  await scene.call('browser_click', { ref: 'e2' })
  scene.settings = { ...scene.settings, idleMs: 40 }
  await expect.poll(() => camofox.tabs.size, { timeout: 30_000 }).toBe(0)
  scene.denies = (action) => action.type === 'fetch'
  expect(await failing('browser_snapshot')).toContain('was not opened again')
  expect(camofox.tabs.size).toBe(0)
})

it('leaves a page that led where it may not be, and tells nothing of it', async () => {
  const home = `http://127.0.0.1:${dev.port}/`
  site.pages['/out'] = (_request, response) => void response.writeHead(302, { location: home }).end()
  const answer = await failing('browser_navigate', { url: at('/out') })
  expect(answer).toContain(`The page led to http://127.0.0.1:${dev.port}, where it may not be; it was left.`)
  expect(answer).not.toContain('At home')
  expect(camofox.tabs.size).toBe(0)
  site.pages['/'] = `<a href="${at('/next', 'other')}">Elsewhere</a>`
  scene.denies = (action) => action.type === 'fetch' && action.url.includes('other.test')
  await scene.call('browser_navigate', { url: at('/') })
  expect(await failing('browser_click', { ref: 'e1' })).toContain('it was left')
  expect(await failing('browser_snapshot')).toMatch(/^No page is open/)
})

it('asks before a text goes to a page whose requests it cannot hold', async () => {
  scene.isTainted = true
  scene.answers = () => 'deny'
  await scene.call('browser_navigate', { url: at('/') })
  expect(await failing('browser_type', { ref: 'e3', text: 'Zq7-opal-KESTREL' })).toContain('Nothing was written')
  expect(scene.questions).toEqual([expect.stringContaining(`browser-text:http://site.test:${site.port}`)])
  expect(camofox.seen.filter((line) => line.endsWith('/type'))).toEqual([])
  expect([...camofox.tabs.values()].flatMap(({ values }) => [...values])).toEqual([])
  const leak = at('/next?t=Zq7-opal-KESTREL', 'leak')
  expect(await failing('browser_navigate', { url: leak })).toContain('it carries what was read elsewhere')
})

it('says in a line what its API has nothing for, and what it answers', async () => {
  expect(await failing('browser_snapshot')).toMatch(/^No page is open/)
  await scene.call('browser_navigate', { url: at('/') })
  for (const [tool, args] of [
    ['browser_select', { ref: 'e1', values: ['x'] }],
    ['browser_console', {}],
    ['browser_cdp', { method: 'Page.reload' }],
    ['browser_vision', { question: 'What?' }],
  ] as const)
    expect(await failing(tool, args), tool).toMatch(/^Camofox cannot .* browser\.backend: local can\.$/)
  expect(await failing('browser_click', { ref: 'e99' })).toBe('Camofox answered 400: Unknown ref: e99.')
  for (const [refusal, line] of [
    [{ status: 401, body: '' }, /refused the key \(401\).*CAMOFOX_API_KEY/],
    [{ status: 429, headers: { 'retry-after': '7' }, body: '{"error":"Tab limit reached"}' }, /\(429\).*7 s of rest/],
    [{ status: 200, body: '<html>' }, /answered with no JSON/],
    [{ status: 200, body: '{}' }, /gave no snapshot/],
  ] as const) {
    camofox.refusal = refusal
    expect(await failing('browser_snapshot')).toMatch(line)
  }
  camofox.refusal = null
  camofox.tabs.clear()
  expect(await failing('browser_snapshot')).toBe(
    'Camofox has closed the page. The next call opens it again, with new references.',
  )
  expect(await scene.call('browser_snapshot')).toContain('Far away')
})

it('shows a long page in parts, and finds words in all of it', async () => {
  site.pages['/'] = Array.from({ length: 400 }, (_, at) => `<p>Line ${at} of many</p>`).join('')
  expect(await scene.call('browser_navigate', { url: at('/') })).toMatch(/Line 0 of many[\s\S]*\(below: \d+ lines/)
  expect(await scene.call('browser_snapshot', { more: 2 })).toMatch(/\(lines \d+ to \d+\)[\s\S]*more=3/)
  expect(await scene.call('browser_snapshot', { find: 'Line 399' })).toContain('- text: Line 399 of many')
})

it('works as a user whom the person named, in a tab that is open there, and leaves both', async () => {
  camofox.openTab('ann', 'work', at('/next'))
  await expect.poll(() => camofox.tabs.size).toBe(1)
  scene.settings = {
    ...scene.settings,
    camofox: { user: 'ann', group: 'work', takesTabs: true, staysPersistent: false },
  }
  expect(await scene.call('browser_navigate', { url: at('/') })).toContain('Far away')
  // Another session has a tab of its own beside it.
  await scene.call('browser_navigate', { url: at('/next') }, 'two')
  const tabs = () => [...camofox.tabs].map(([id, { userId, group, history }]) => [id, userId, group, history.at(-1)])
  expect(tabs()).toEqual([
    ['tab-1', 'ann', 'work', at('/')],
    ['tab-2', 'ann', 'work', at('/next')],
  ])
  expect(await records()).toHaveLength(2)
  for (const id of ['one', 'two']) await scene.sessions.end(id)
  expect([tabs().map(([id]) => id), await records()]).toEqual([['tab-1'], []])
  expect(camofox.seen.filter((line) => line.startsWith('DELETE'))).toEqual(['DELETE /tabs/tab-2'])
})

it('takes over no tab that a session has, of this process or of another one of the home', async () => {
  const other = await openScene(scene.folder, camofox.variables)
  const user = { user: 'ann', group: null, takesTabs: true, staysPersistent: false }
  for (const one of [scene, other]) one.settings = { ...one.settings, backend: 'camofox', camofox: user }
  await scene.call('browser_navigate', { url: at('/') }, 'opens')
  await camofox.openTab('ann', 'any', at('/found'))
  await scene.call('browser_navigate', { url: at('/') }, 'takes')
  expect(camofox.tabs.size).toBe(2)
  await scene.call('browser_navigate', { url: at('/next') }, 'third')
  await other.call('browser_navigate', { url: at('/next') })
  expect([...camofox.tabs].map(([id, { history }]) => [id, history.at(-1)])).toEqual([
    ['tab-1', at('/')],
    ['tab-2', at('/')],
    ['tab-3', at('/next')],
    ['tab-4', at('/next')],
  ])
  await other[Symbol.asyncDispose]()
  await scene.sessions.close()
  expect([[...camofox.tabs.keys()], await records()]).toEqual([['tab-2'], []])
})

it('leaves open what a killed process had taken over', async () => {
  const id = await camofox.openTab('ann', 'any', at('/found'))
  await mkdir(join(scene.folder, 'cache'), { recursive: true })
  const record = { cloud: 'camofox', id: `ann/${id}`, isBorrowed: true }
  await writeFile(join(scene.folder, 'cache', 'cloud-999999999-1-abcd.json'), JSON.stringify(record))
  await scene.sessions.leases.releaseLeft()
  expect([[...camofox.tabs.keys()], await records()]).toEqual([[id], []])
})

it('ends what containers left that are gone, once nobody has said for an hour that it is at work', async () => {
  const users = ['hermes-gone', 'hermes-busy']
  for (const user of users) await camofox.openTab(user, 'hermes', at('/found'))
  const cache = join(scene.folder, 'cache')
  await mkdir(cache, { recursive: true })
  const longAgo = new Date(Date.now() - 2 * 3_600_000)
  for (const [n, user] of users.entries()) {
    const file = join(cache, `cloud-999999999-1-${n}.json`)
    const record = { cloud: 'camofox', id: user, isBorrowed: false, machine: 'container/pid:[1]' }
    await writeFile(file, JSON.stringify(record))
    if (n === 0) await utimes(file, longAgo, longAgo)
  }
  expect(await scene.sessions.leases.releaseLeft()).toBe(1)
  expect([[...camofox.tabs.values()].map(({ userId }) => userId), await records()]).toEqual([
    ['hermes-busy'],
    ['cloud-999999999-1-1.json'],
  ])
})

it('shows nothing of a tab that was taken over but what it leads to, and asks about what it goes back to', async () => {
  await camofox.openTab('ann', 'any', at('/next', 'private'))
  scene.settings = { ...scene.settings, camofox: { user: 'ann', group: null, takesTabs: true, staysPersistent: false } }
  scene.denies = (action) => action.type === 'fetch' && action.url.includes('private.test')
  expect(await scene.call('browser_navigate', { url: at('/') })).not.toContain('Second')
  expect(await failing('browser_back')).toContain('where it may not be; it was left.')
  expect(camofox.tabs.size).toBe(1)
})

it('has one user for all sessions of a home that wants its cookies kept, and ends only what was opened', async () => {
  scene.settings = { ...scene.settings, camofox: { ...DEFAULT_SETTINGS.camofox, staysPersistent: true } }
  await scene.call('browser_navigate', { url: at('/') })
  await scene.call('browser_navigate', { url: at('/') }, 'two')
  const users = new Set([...camofox.tabs.values()].map(({ userId }) => userId))
  expect([...users]).toEqual([expect.stringMatching(/^hermes-[\da-f]{10}$/)])
  await scene.sessions.close()
  expect([camofox.tabs.size, await records()]).toEqual([0, []])
  expect(camofox.seen.filter((line) => line.startsWith('DELETE /sessions'))).toEqual([])
})

it('takes whom it is to be from variables before config.yaml', () => {
  const camofox = { user: 'ann', group: 'work', takesTabs: false, staysPersistent: false }
  expect(camofoxUser({ camofox }, {}, '/home')).toEqual({ name: 'ann', group: 'work', takesTabs: false })
  const variables = { CAMOFOX_USER_ID: 'bo', CAMOFOX_SESSION_KEY: ' ', CAMOFOX_ADOPT_EXISTING_TAB: 'true' }
  expect(camofoxUser({ camofox }, variables, '/home')).toEqual({ name: 'bo', group: 'work', takesTabs: true })
  expect(camofoxUser(DEFAULT_SETTINGS, {}, '/home')).toBeNull()
  const read = readSettings({ camofox: { user_id: 'ann', session_key: 'work', adopt_existing_tab: true } })
  expect([read.problems, read.settings.camofox]).toEqual([[], { ...camofox, takesTabs: true }])
  for (const [value, words] of [
    [{ user_id: 7 }, 'user_id must be a text'],
    [{ managed_persistence: 'yes' }, 'managed_persistence must be true or false'],
    [{ rewrite: true }, 'rewrite has no effect; known: user_id'],
    [true, 'must have keys'],
  ] as const)
    expect(readSettings({ camofox: value }).problems[0]!.message).toContain(words)
})

it('is used where its address is set, and named where it is not', async () => {
  const place = (backend: 'auto' | 'camofox', variables: Readonly<Record<string, string>>) =>
    choosePlace({ settings: { ...DEFAULT_SETTINGS, backend }, variables, env: {}, connected: null })
  expect(await place('auto', camofox.variables)).toEqual({ type: 'camofox' })
  await expect(place('camofox', {})).rejects.toThrow('CAMOFOX_URL is not set')
})
