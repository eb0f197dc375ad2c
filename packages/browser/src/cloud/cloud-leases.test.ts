import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { type Clock, silentLogger, systemClock } from '@hermes/contracts'
import type { ExtensionApi } from '@hermes/contracts/extension'
import { createOriginFetch } from '@hermes/safety'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { permitAll } from '../__fixtures__/scene.js'
import type { BrowserOptions } from '../browser-options.js'
import { createBrowser } from '../extension.js'
import { connectBrowser } from '../session/remote-browser.js'
import { BrowserSessions } from '../session/sessions.js'
import { DEFAULT_SETTINGS } from '../settings.js'
import { CloudLeases } from './cloud-leases.js'
import type { CloudPort } from './cloud-port.js'

let folder: string
let server: Server
let seen: string[]
let port: CloudPort
/** Who rents out browsers. */
let answer: RequestListener
const made: RequestListener = (_request, response) =>
  void response.end('{"id":"new","cdpUrl":"ws://127.0.0.1:9/","browserCost":null}')
const records = async () => (await readdir(folder)).filter((name) => name.startsWith('cloud-'))
const leave = (id: string) =>
  writeFile(join(folder, `cloud-999999999-1-${id}.json`), JSON.stringify({ cloud: 'browser-use', id }))
const leasesOf = (more: object = {}) =>
  new CloudLeases(port, { folder, logger: silentLogger, clock: systemClock, ...more })
const optionsOf = (more: object = {}) =>
  ({ cloud: port, cacheDir: folder, clock: systemClock, logger: silentLogger, ...more }) as unknown as BrowserOptions

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-leases-'))
  seen = []
  answer = made
  server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  port = {
    variables: {
      ...{ BROWSER_USE_API_KEY: 'k', BROWSER_USE_BASE_URL: baseUrl },
      ...{ BROWSERBASE_API_KEY: 'k', BROWSERBASE_BASE_URL: baseUrl },
    },
    fetchTo: (address) => createOriginFetch({ baseUrl: address }),
    openSocket: (address) => new WebSocket(address) as never,
    permit: permitAll,
  }
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await rm(folder, { recursive: true, force: true })
})

it('releases what killed processes left with the start, before anybody wants a page', async () => {
  await leave('old')
  const api = {
    config: { section: () => ({ value: null }) },
    tools: { addSource: () => undefined },
    hooks: { on: () => undefined },
    commands: { add: () => undefined },
    doctor: { check: () => undefined },
  } as unknown as ExtensionApi
  const { extension } = createBrowser(optionsOf({ vaultFile: join(folder, 'vault.json') }))
  const end = (await extension.setup(api)) as () => Promise<void>
  await expect.poll(records, { timeout: 30_000 }).toEqual([])
  expect(seen).toEqual(['PATCH /browsers/old'])
  await end()
})

it.each([
  ['browserbase', 'userMetadata', (list: unknown[]) => list],
  ['browser-use', 'metadata', (list: unknown[]) => ({ items: list, totalItems: list.length })],
] as const)(
  'finds the session of %s that was made for a process that was killed before its answer, by the mark it was asked for with',
  async (name, kept, listed) => {
    const running: { readonly id: string }[] = [
      { id: 'of-others', [kept]: { hermes: 'another' } },
      { id: 'plain' },
    ] as never
    const recorded: boolean[] = []
    answer = async (request, response) => {
      if (request.method === 'GET') return void response.end(JSON.stringify(listed(running)))
      if (/of-others|plain|ours/.test(request.url!)) return void response.end('{}')
      const body = JSON.parse(await text(request)) as Record<string, { readonly hermes: string }>
      running.push({ id: 'ours', [kept]: body[kept] } as never)
      for (const file of await records())
        recorded.push((await readFile(join(folder, file), 'utf8')).includes(body[kept]!.hermes))
      request.socket.destroy()
    }
    const leases = leasesOf()
    await expect(leases.create(name)).rejects.toThrow('could not be asked')
    expect(recorded).toEqual([true])
    // Another process of this home leaves it alone while its owner runs; then it is nobody's.
    seen.length = 0
    expect(await leasesOf().releaseLeft()).toBe(0)
    expect(seen).toEqual([])
    const [file] = await records()
    await rename(join(folder, file!), join(folder, 'cloud-999999999-1-a.json'))
    expect(await leasesOf().releaseLeft()).toBe(1)
    expect(seen.slice(1)).toEqual([name === 'browserbase' ? 'POST /v1/sessions/ours' : 'PATCH /browsers/ours'])
    expect(await records()).toEqual([])
  },
)

it('looks once more for a session that the list did not have yet, and no longer than one can take to be made', async () => {
  await writeFile(join(folder, 'cloud-999999999-1-a.json'), JSON.stringify({ cloud: 'browser-use', mark: 'm' }))
  answer = (_request, response) => void response.end('{"items":[]}')
  const leases = leasesOf()
  expect(await leases.releaseLeft()).toBe(0)
  expect([await records(), leases.hasUnreleased]).toEqual([['cloud-999999999-1-a.json'], true])
  const before = new Date(Date.now() - 120_000)
  await utimes(join(folder, 'cloud-999999999-1-a.json'), before, before)
  await leases.releaseLeft()
  expect([await records(), leases.hasUnreleased, seen.length]).toEqual([[], false, 2])
})

it('leaves those of another machine that shares the home, whose processes are not seen from here, until they are over', async () => {
  const other = { cloud: 'browser-use', machine: 'container/pid:[1]' }
  for (const id of ['used', 'over'])
    await writeFile(join(folder, `cloud-999999999-1-${id}.json`), JSON.stringify({ ...other, id }))
  const longAgo = new Date(Date.now() - 2 * 3_600_000)
  await utimes(join(folder, 'cloud-999999999-1-over.json'), longAgo, longAgo)
  expect(await leasesOf().releaseLeft()).toBe(1)
  expect(seen).toEqual(['PATCH /browsers/over'])
  expect(await records()).toEqual(['cloud-999999999-1-used.json'])
})

it('says of one at work that it is, for those who see no process of its owner', async () => {
  let nowMs = Date.now()
  const leases = leasesOf({ clock: { now: () => nowMs, sleep: async () => undefined } })
  const hold = await leases.hold('camofox', 'hermes-me')
  nowMs += 3 * 3_600_000
  hold.used()
  const [file] = await records()
  await expect.poll(async () => Math.round((await stat(join(folder, file!))).mtimeMs)).toBe(nowMs)
})

it('tries again to release one of its own that could not be released, as long as it may run', async () => {
  // An hour of these goes by at once.
  let nowMs = 0
  const clock = {
    ...systemClock,
    now: () => nowMs,
    async sleep(ms: number) {
      await setImmediate()
      nowMs += ms
    },
  } satisfies Clock
  const sessions = new BrowserSessions(optionsOf({ clock }), () => DEFAULT_SETTINGS)
  const lease = await sessions.leases.create('browser-use')
  const released = () => seen.filter((line) => line.startsWith('PATCH')).length
  answer = (_request, response) => void response.writeHead(released() < 3 ? 503 : 200).end('{}')
  await lease.release()
  expect(await records()).toHaveLength(1)
  await expect.poll(records, { timeout: 30_000 }).toEqual([])
  expect(released()).toBe(3)
  await sessions.close()
})

it('is not held up by what was left: pages come first', async () => {
  await Promise.all(['a', 'b', 'c'].map(leave))
  answer = (request, response) => (request.method === 'PATCH' ? undefined : made(request, response))
  const lease = await leasesOf().create('browser-use')
  expect(lease.id).toBe('new')
  await expect
    .poll(() => seen.filter((line) => line.startsWith('PATCH')).sort(), { timeout: 30_000 })
    .toEqual(['PATCH /browsers/a', 'PATCH /browsers/b', 'PATCH /browsers/c'])
})

it('makes one once what was left is released, where there may be no more', async () => {
  await leave('old')
  let isOpen = true
  answer = (request, response) => {
    if (request.method === 'PATCH') isOpen = false
    else if (isOpen || seen.filter((line) => line.startsWith('POST')).length === 1)
      return void response.writeHead(429).end('{}')
    made(request, response)
  }
  expect((await leasesOf().create('browser-use')).id).toBe('new')
  expect(seen.filter((line) => line.startsWith('POST'))).toHaveLength(2)
})

it('asks who is silent once, and again over a connection that broke', async () => {
  const requestsOf = async (more: object, how: RequestListener) => {
    answer = made
    const lease = await leasesOf(more).create('browser-use')
    seen.length = 0
    answer = how
    await lease.release()
    return seen.length
  }
  // A machine under load may not come to ask at all within such a while.
  expect(await requestsOf({ releasedWithinMs: 300 }, () => undefined)).toBeLessThan(2)
  expect(await requestsOf({}, (request) => void request.socket.destroy())).toBe(2)
})

it('sets nothing aside whose connection ends before it can be used: that is released', async () => {
  server.on('upgrade', ({ headers }, socket) => {
    const accept = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade']
    socket.write([...head, `Sec-WebSocket-Accept: ${accept.digest('base64')}`, '', ''].join('\r\n'))
    socket.once('data', () => socket.destroy())
  })
  const cdpUrl = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`
  answer = (_request, response) => void response.end(JSON.stringify({ id: 'new', cdpUrl, browserCost: null }))
  const leases = leasesOf()
  const place = { type: 'cloud', cloud: 'browser-use' } as const
  await expect(connectBrowser(place, optionsOf(), leases)).rejects.toThrow('its connection ended')
  expect([leases.aside, await records()]).toEqual([null, []])
  expect(seen).toEqual(['POST /browsers', 'PATCH /browsers/new'])
})
