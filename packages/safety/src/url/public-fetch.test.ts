import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Action } from '@hermes/contracts/policy'
import { afterEach, describe, expect, it } from 'vitest'
import { createPermit } from '../permit.js'
import { createOriginFetch } from './origin-fetch.js'
import { createPublicFetch, createPublicLookup } from './public-fetch.js'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const requested: Action[] = []
const permit = async (action: Action) => {
  requested.push(action)
  return createPermit(action)
}
const text = (body: Uint8Array) => Buffer.from(body).toString()

describe('createPublicFetch', () => {
  it('asks for a permit at every hop and gives what the last one answers', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/a') response.writeHead(302, { location: '/b' }).end()
      else response.writeHead(200, { 'content-type': 'text/HTML; charset=utf-8' }).end('there')
    })
    requested.length = 0
    const response = await createPublicFetch()(`http://127.0.0.1:${port}/a`, { permit })
    expect(response).toMatchObject({
      status: 200,
      mediaType: 'text/html',
      url: `http://127.0.0.1:${port}/b`,
      isCut: false,
    })
    expect(text(response.body)).toBe('there')
    expect(requested.map((action) => action.type === 'fetch' && new URL(action.url).pathname)).toEqual(['/a', '/b'])
  })

  it('never follows a redirect without a permit', async () => {
    const port = await serve((_, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end()
    })
    const strict = async (action: Action) => {
      if (action.type === 'fetch' && action.url.includes('169.254')) throw new Error('no permit')
      return createPermit(action)
    }
    await expect(createPublicFetch()(`http://127.0.0.1:${port}/`, { permit: strict })).rejects.toThrow(/no permit/)
  })

  it('refuses a public name that leads to this machine or a private network, before it connects', async () => {
    let hits = 0
    const port = await serve((_, response) => {
      hits++
      response.end()
    })
    for (const [address, family] of [
      ['127.0.0.1', 4],
      ['10.0.0.1', 4],
      ['::1', 6],
      ['169.254.169.254', 4],
    ] as const) {
      const resolve = async () => [
        { address: '93.184.215.14', family: 4 },
        { address, family },
      ]
      const run = createPublicFetch({ resolve })(`http://rebound.example.com:${port}/`, { permit })
      await expect(run).rejects.toMatchObject({ code: 'policy.address_refused' })
    }
    expect(hits).toBe(0)
  })

  it('lets a name of a private network lead into that network alone', async () => {
    const port = await serve((_, response) => void response.end('inside'))
    const refused = async (host: string, address: string, family = 4) => {
      const options = { resolve: async () => [{ address, family }], network: { allowPrivate: true } }
      const got = createPublicFetch(options)(`http://${host}:${port}/`, { permit, timeoutMs: 200 })
      return got.then(
        () => 'reached',
        (error: { code: string }) => error.code,
      )
    }
    for (const [address, family] of [
      ['169.254.169.254', 4],
      ['fd00:ec2::254', 6],
      ['127.0.0.1', 4],
    ] as const)
      expect(await refused('instance-data.ec2.internal', address, family), address).toBe('policy.address_refused')
    expect(await refused('wiki.corp', '10.255.255.1')).toBe('fetch.failed')
    expect(await refused('localhost', '127.0.0.1')).toBe('reached')
    expect(await refused('localhost', '10.255.255.1')).toBe('fetch.failed')
  })

  it('goes where a name leads in a range that was opened, and to no metadata service there', async () => {
    const port = await serve((_, response) => void response.end('inside'))
    const to = (address: string) => {
      const network = { allowRanges: ['127.0.0.0/8', '169.254.0.0/16'] }
      return createPublicFetch({ resolve: async () => [{ address, family: 4 }], network })
    }
    const response = await to('127.0.0.1')(`http://service.example.com:${port}/`, { permit })
    expect(text(response.body)).toBe('inside')
    const run = to('169.254.169.254')(`http://service.example.com:${port}/`, { permit })
    await expect(run).rejects.toMatchObject({ code: 'policy.address_refused' })
  })

  it('keeps so many bytes at most, and ends a server that never does', async () => {
    const port = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      const write = () => response.write('x'.repeat(10_000), () => setImmediate(write))
      write()
    })
    const response = await createPublicFetch()(`http://127.0.0.1:${port}/`, { permit, maxBytes: 25_000 })
    expect(response.body.length).toBe(25_000)
    expect(response.isCut).toBe(true)
  })

  it('says in one line what went wrong, and passes an abort on as it is', async () => {
    const silent = await serve(() => undefined)
    const get = createPublicFetch()
    await expect(get(`http://127.0.0.1:${silent}/`, { permit, timeoutMs: 20 })).rejects.toMatchObject({
      code: 'fetch.failed',
      message: `http://127.0.0.1:${silent}/ cannot be read: no answer within 0.02 s.`,
    })
    await expect(get('http://127.0.0.1:1/', { permit })).rejects.toMatchObject({ code: 'fetch.failed' })
    const controller = new AbortController()
    const run = get(`http://127.0.0.1:${silent}/`, { permit, signal: controller.signal })
    controller.abort()
    await expect(run).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('createPublicLookup', () => {
  it('keeps a fetch to a public name from this machine, and lets what is named so be reached', async () => {
    let hits = 0
    const port = await serve((_, response) => {
      hits++
      response.end('here')
    })
    const lookup = createPublicLookup({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
    const send = (host: string) => {
      const url = `http://${host}:${port}/`
      return createOriginFetch({ baseUrl: url, lookup })(url, { method: 'POST', body: 'x' })
    }
    await expect(send('rebound.example.com')).rejects.toMatchObject({ cause: { code: 'policy.address_refused' } })
    expect(hits).toBe(0)
    expect(await (await send('localhost')).text()).toBe('here')
    expect(await (await send('127.0.0.1')).text()).toBe('here')
  })
})
