// What a page has Chromium send around its proxy: STUN, and names that are looked up. Without our arguments both are seen, which shows that they
// would be; with them neither is.
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { ELSEWHERE } from '../__fixtures__/scene.js'
import { type Answer, startSite } from '../__fixtures__/site.js'
import { launchArguments } from './arguments.js'
import { findBrowser } from './find-browser.js'

const program = await findBrowser({ env: process.env, executable: null }).catch(() => null)

const isSoak = process.env['HERMES_TEST_RUNS'] !== undefined

/** What Chromium itself logs of its network. */
interface NetLog {
  readonly constants: { readonly logEventTypes: Readonly<Record<string, number>> }
  readonly events: readonly { readonly type: number; readonly params?: object }[]
}

/** Opens a page that wants both, with the arguments that are left, and a proxy where they name one. */
async function sentAround(isTaken: (argument: string) => boolean) {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-around-'))
  onTestFinished(() => rm(folder, { recursive: true, maxRetries: 5 }))
  const udp = createSocket('udp4')
  const heard: string[] = []
  udp.on('message', (bytes) => heard.push(`${bytes.length} bytes`))
  udp.bind(0, ELSEWHERE)
  await once(udp, 'listening')
  const { port } = udp.address() as AddressInfo
  // The page is there once something came, or all that would have come in that time.
  const held: Answer = (_request, response) => {
    const done = () => void (response.writableEnded || response.writeHead(204).end())
    udp.once('message', done)
    setTimeout(done, 2_500)
  }
  const page = `<!doctype html><link rel=dns-prefetch href="http://prefetched.leak.test/"><link rel=preconnect href="http://connected.leak.test/">
    <img src="http://pictured.leak.test/x"><img src="/held"><script>const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:${ELSEWHERE}:${port}' }] })
    peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer))</script>`
  await using site = await startSite('127.0.0.1', {
    ...{ '/': page, 'http://site.test/': page },
    ...{ '/held': held, 'http://site.test/held': held },
  })
  const proxy = `http://127.0.0.1:${site.port}`
  const ours = launchArguments({ program: program!, folder, isHeaded: false, withoutSandbox: process.getuid?.() === 0 })
    .slice(1)
    .filter((one) => !['--remote-debugging-pipe', '--no-startup-window'].includes(one) && isTaken(one))
    .map((one) => (one.startsWith('--proxy-server=') ? `--proxy-server=${proxy}` : one))
  const isProxied = ours.includes(`--proxy-server=${proxy}`)
  const log = join(folder, 'net.json')
  const args = [...ours, `--log-net-log=${log}`, '--dump-dom', isProxied ? 'http://site.test/' : proxy]
  const child = spawn(program!, args, { stdio: 'ignore' })
  await once(child, 'exit')
  udp.close()
  expect(site.seen.map((line) => line.split(' ')[1])).toContain(isProxied ? 'http://site.test/' : '/')
  const { constants, events } = JSON.parse(await readFile(log, 'utf8')) as NetLog
  const resolving = Object.entries(constants.logEventTypes).flatMap(([name, type]) =>
    /^(?:HOST_RESOLVER|DNS_)/.test(name) ? [type] : [],
  )
  const looked = events.filter(({ type }) => resolving.includes(type)).map(({ params }) => JSON.stringify(params ?? {}))
  const names = ['prefetched', 'connected', 'pictured'].filter((name) =>
    looked.some((line) => line.includes(`${name}.leak.test`)),
  )
  return { heard, names }
}

needs(program === null ? 'no Chromium' : null)('around the proxy', () => {
  it('a bare Chromium sends STUN and looks names up', async () => {
    const { heard, names } = await sentAround((one) => !/^--(?:proxy|host-resolver|disable-quic|webrtc)/.test(one))
    expect(heard).not.toEqual([])
    expect(names).toEqual(['prefetched', 'connected', 'pictured'])
  })

  it('a Chromium of ours does neither', async () => {
    expect(await sentAround(() => true)).toEqual({ heard: [], names: [] })
  })

  it.runIf(isSoak)('it is the arguments that hold it back', async () => {
    expect((await sentAround((one) => !one.startsWith('--webrtc'))).heard).not.toEqual([])
    expect((await sentAround((one) => !one.startsWith('--host-resolver'))).names).not.toEqual([])
  })
})
