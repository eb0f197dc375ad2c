// Addresses that must never be reached by what a model or a page names: nobody listens, so that what asks is a no.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Action, Subject } from '@hermes/contracts/policy'
import { REFUSED_ADDRESSES as ADDRESSES, REBOUND } from '@hermes/testkit/refused-addresses'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPolicy } from '../policy.js'
import { createPublicFetch } from './public-fetch.js'

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
