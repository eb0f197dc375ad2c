import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import { createOriginFetch } from '@hermes/safety'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { permitAll } from '../__fixtures__/scene.js'
import type { BrowserOptions } from '../browser-options.js'
import { connectBrowser } from '../session/remote-browser.js'
import { CloudLeases } from './cloud-leases.js'
import type { CloudPort } from './cloud-port.js'

let folder: string
let server: Server
let seen: string[]
let port: CloudPort
/** Who rents out browsers. */
let answer: RequestListener
const records = async () => (await readdir(folder)).filter((name) => name.startsWith('cloud-'))
const optionsOf = () => ({ cloud: port, clock: systemClock, logger: silentLogger }) as unknown as BrowserOptions

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-leases-'))
  seen = []
  server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  port = {
    variables: { BROWSER_USE_API_KEY: 'k', BROWSER_USE_BASE_URL: baseUrl },
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

it('sets nothing aside whose connection ends before it can be used: that is released', async () => {
  server.on('upgrade', ({ headers }, socket) => {
    const accept = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade']
    socket.write([...head, `Sec-WebSocket-Accept: ${accept.digest('base64')}`, '', ''].join('\r\n'))
    socket.once('data', () => socket.destroy())
  })
  const cdpUrl = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`
  answer = (_request, response) => void response.end(JSON.stringify({ id: 'new', cdpUrl, browserCost: null }))
  const leases = new CloudLeases(port, { folder, logger: silentLogger, clock: systemClock })
  const place = { type: 'cloud', cloud: 'browser-use' } as const
  await expect(connectBrowser(place, optionsOf(), leases)).rejects.toThrow('its connection ended')
  expect([leases.aside, await records()]).toEqual([null, []])
  expect(seen).toEqual(['POST /browsers', 'PATCH /browsers/new'])
})
