// Addresses that must never be reached by what a model or a page names: nobody listens, so that what asks is a no.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Action, Subject } from '@hermes/contracts/policy'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPolicy } from '../policy.js'
import { createPublicFetch } from './public-fetch.js'

/** `PORT` is where a server of this machine waits for anybody to get through. */
const ADDRESSES = [
  'http://127.0.0.1:PORT/',
  'http://127.0.0.2:PORT/',
  'http://127.255.255.254:PORT/',
  'http://127.1:PORT/',
  'http://127.0.1:PORT/',
  'http://2130706433:PORT/',
  'http://0x7f000001:PORT/',
  'http://0x7f.0.0.1:PORT/',
  'http://0x7F.1:PORT/',
  'http://0177.0.0.1:PORT/',
  'http://0177.0.0.01:PORT/',
  'http://017700000001:PORT/',
  'http://0.0.0.0:PORT/',
  'http://0:PORT/',
  'http://localhost:PORT/',
  'http://LOCALHOST:PORT/',
  'http://localhost.:PORT/',
  'http://app.localhost:PORT/',
  'http://%6c%6f%63%61%6c%68%6f%73%74:PORT/',
  'http://１２７.０.０.１:PORT/',
  'http://①②⑦.⓪.⓪.①:PORT/',
  'http://127。0。0。1:PORT/',
  'http://127.0.0.1.:PORT/',
  'http://[::1]:PORT/',
  'http://[::]:PORT/',
  'http://[0:0:0:0:0:0:0:1]:PORT/',
  'http://[0000::0001]:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://[::ffff:7f00:1]:PORT/',
  'http://[::127.0.0.1]:PORT/',
  'http://[64:ff9b::127.0.0.1]:PORT/',
  'http://[64:ff9b::7f00:1]:PORT/',
  'http://[2002:7f00:1::]:PORT/',
  'http://10.0.0.1/',
  'http://10.255.255.255/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.0.1/',
  'http://192.168.1.254:8443/',
  'http://0xc0a80101/',
  'http://3232235777/',
  'http://100.64.0.1/',
  'http://100.127.255.255/',
  'http://[fc00::1]/',
  'http://[fd12:3456:789a::1]/',
  'http://[fe80::1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[::ffff:192.168.1.1]/',
  'http://[2002:c0a8:101::]/',
  'http://printer.local/',
  'http://nas.home.arpa/',
  'http://db.internal/',
  'http://intranet/',
  'http://169.254.169.254/latest/meta-data/',
  'http://169.254.169.254:80/',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://0251.0376.0251.0376/',
  'http://169.254.170.2/v2/credentials',
  'http://[::ffff:169.254.169.254]/',
  'http://[fd00:ec2::254]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://METADATA.google.internal./',
  'http://100.100.100.200/latest/meta-data/',
  'http://169.254.0.1/',
  'http://224.0.0.1/',
  'http://239.255.255.250:1900/',
  'http://255.255.255.255/',
  'http://240.0.0.1/',
  'http://[ff02::1]/',
  'http://user:secret@example.com/',
  'http://example.com@127.0.0.1:PORT/',
  'http://127.0.0.1:PORT#@example.com/',
  'http://127.0.0.1:PORT\\@example.com/',
  'file:///etc/passwd',
  'ftp://127.0.0.1/',
  'gopher://127.0.0.1:PORT/_GET',
  'dict://127.0.0.1:11211/stat',
  'data:text/html,hi',
  'javascript:1',
  'http:///127.0.0.1:PORT/',
]

/** What a public name may resolve to without being one. */
const REBOUND = [
  '127.0.0.1',
  '10.1.2.3',
  '192.168.7.7',
  '169.254.169.254',
  '0.0.0.0',
  '::1',
  'fd00::1',
  '::ffff:127.0.0.1',
]

const subject: Subject = { sessionId: 's', platform: 'test', agentPath: ['root'], origin: 'model', tainted: false }
let hits = 0
let server: Server
let port = 0
let location = ''

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/start') response.writeHead(302, { location }).end()
    else {
      hits++
      response.end('reached')
    }
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => void server.close())

const policy = createPolicy({ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada' })

/** As the policy says, but for the one address from which a redirect starts. */
async function permit(action: Action, start: string | null = null) {
  const lenient = createPolicy({ mode: 'ask', home: '/h', userHome: '/u', network: { allowLoopback: true } })
  const isStart = action.type === 'fetch' && action.url === start
  const decision = await (isStart ? lenient : policy).decide(action, subject)
  if (decision.type !== 'allow') throw new Error(`not permitted: ${decision.type === 'deny' ? decision.rule : 'ask'}`)
  return decision.permit
}

/** Refused, with the reason; anything else got through. */
async function outcome(run: Promise<unknown>): Promise<string> {
  return run.then(
    () => 'through',
    (error: Error & { readonly code?: string }) => {
      const isRefusal = /not permitted/.test(error.message) || error.code === 'policy.address_refused'
      return isRefusal || error.name === 'TypeError' ? 'refused' : `tried: ${error.message}`
    },
  )
}

it(`lets none of ${ADDRESSES.length + REBOUND.length} addresses through, directly`, async () => {
  const get = createPublicFetch({ resolve: async () => Promise.reject(new Error('no name is looked up')) })
  const through: string[] = []
  for (const address of ADDRESSES) {
    const url = address.replaceAll('PORT', String(port))
    if ((await outcome(get(url, { permit: (action) => permit(action) }))) !== 'refused') through.push(address)
  }
  for (const address of REBOUND) {
    const resolve = async () => [{ address, family: address.includes(':') ? 6 : 4 }]
    const run = createPublicFetch({ resolve })(`http://name.example.com:${port}/`, {
      permit: (action) => permit(action),
    })
    if ((await outcome(run)) !== 'refused') through.push(`a name that leads to ${address}`)
  }
  expect(through).toEqual([])
  expect(ADDRESSES.length).toBeGreaterThanOrEqual(80)
  expect(hits).toBe(0)
})

it('lets none of them through by a redirect', async () => {
  const get = createPublicFetch({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  const start = `http://127.0.0.1:${port}/start`
  const through: string[] = []
  for (const address of ADDRESSES) {
    location = address.replaceAll('PORT', String(port)).replace(/[^\x20-\x7e]/g, encodeURIComponent)
    if ((await outcome(get(start, { permit: (action) => permit(action, start) }))) !== 'refused') through.push(address)
  }
  expect(through).toEqual([])
  expect(hits).toBe(0)
})
