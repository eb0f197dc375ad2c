// The addresses that nothing of Hermes reaches, asked for by pages of the public web and by the model, while all of this machine listens. One
// run has calls name some of them, drawn by HERMES_TEST_SEED; with HERMES_TEST_RUNS, all.
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { needs } from '@hermes/testkit/daemons'
import { REBOUND, REFUSED_ADDRESSES } from '@hermes/testkit/refused-addresses'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BrowserScene, openScene, PUBLIC } from '../__fixtures__/scene.js'
import { type Site, startSite } from '../__fixtures__/site.js'
import { findBrowser } from '../launch/find-browser.js'

const SEED = Number(process.env['HERMES_TEST_SEED'] ?? 0)
/** Of the addresses that calls name; pages name all. */
const EVERY = process.env['HERMES_TEST_RUNS'] === undefined ? 6 : 1

const missing = await findBrowser({ env: process.env, executable: null }).then(
  () => null,
  () => 'no Chromium',
)

needs(missing)('addresses that nothing reaches', () => {
  let scene: BrowserScene
  let site: Site
  let tcp: Server
  let udp: UdpSocket
  let addresses: readonly string[]
  const reached: string[] = []

  beforeAll(async () => {
    ;[scene, site] = await Promise.all([openScene(), startSite(PUBLIC)])
    scene.answers = () => 'deny'
    tcp = createServer((socket) => {
      reached.push(`TCP to ${socket.localAddress}`)
      socket.destroy()
    })
    await new Promise<void>((resolve) => tcp.listen(0, '::', resolve))
    const { port } = tcp.address() as AddressInfo
    udp = createSocket('udp6')
    udp.on('message', (_bytes, { address }) => reached.push(`UDP from ${address}`))
    await new Promise<void>((resolve) => udp.bind(port, '::', resolve))
    REBOUND.forEach((address, index) => {
      scene.names.set(`name${index}.test`, address)
    })
    const named = REBOUND.map((_, index) => `http://name${index}.test:PORT/`)
    // What counts as public in this scene is another address.
    addresses = [...REFUSED_ADDRESSES, ...named].map((one) =>
      one.replace('127.0.0.2', '127.0.0.9').replaceAll('PORT', String(port)),
    )
  })
  afterAll(async () => {
    tcp.close()
    udp.close()
    for (const one of [scene, site]) await one[Symbol.asyncDispose]()
  })

  it('are reached by nothing that a page of the public web does', async () => {
    site.pages['/go'] = (request, response) => {
      const to = addresses[Number(new URL(request.url!, 'http://x').searchParams.get('n'))]!
      response.writeHead(302, { location: to.replace(/[^\x20-\x7e]/g, encodeURIComponent) }).end()
    }
    site.pages['/all'] = `<!doctype html><title>All</title><p>words<script>
      const all = ${JSON.stringify(addresses)}
      const add = (tag, of) => document.body.append(Object.assign(document.createElement(tag), of))
      const ways = [
        (to) => add('img', { src: to }),
        (to, n) => n % 6 === ${SEED % 6} && add('iframe', { src: to }),
        (to) => add('script', { src: to }),
        (to) => add('link', { rel: 'preconnect', href: to }),
        (to) => add('link', { rel: 'prefetch', href: to }),
        (to) => fetch(to, { mode: 'no-cors' }).catch(() => {}),
        (to) => navigator.sendBeacon(to, 'x'),
        (to) => new WebSocket(to.replace('http', 'ws')),
        (to) => new EventSource(to),
        (to, n) => n % 20 === 0 && new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + new URL(to).host }] }).createOffer({ offerToReceiveAudio: true }),
        (to, n) => add('img', { src: '/go?n=' + n }),
        (to, n) => n % 6 === ${SEED % 6} && add('iframe', { src: '/go?n=' + n }),
        (to, n) => fetch('/go?n=' + n, { mode: 'no-cors' }).catch(() => {}),
      ]
      all.forEach((to, n) => ways.forEach((way) => { try { way(to, n) } catch {} }))
    </script>`
    await scene.call('browser_navigate', { url: `http://site.test:${site.port}/all` })
    await scene.call('browser_wait', { seconds: 1 })
    expect(site.seen.filter((line) => line.startsWith('GET /go')).length).toBeGreaterThan(addresses.length)
    expect(reached).toEqual([])
  }, 600_000)

  it('are opened by no call', async () => {
    const opened: string[] = []
    for (const url of addresses.filter((_, index) => (index + SEED) % EVERY === 0)) {
      const text = await scene.call('browser_navigate', { url }).catch(() => null)
      const isRefused = text === null || text.includes('which is not on the public network')
      if (!isRefused) opened.push(`${url}: ${text}`)
    }
    expect(opened).toEqual([])
    expect(reached).toEqual([])
  }, 600_000)
})
