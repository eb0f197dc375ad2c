import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createRawServer, type Server as RawServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { type SocksServerOptions, startSocksServer } from '@hermes/testkit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createPermit } from '../permit.js'
import { createOriginFetch } from './origin-fetch.js'
import { readProxies } from './proxies.js'
import { createPublicFetch } from './public-fetch.js'

const closers: (() => void)[] = []
afterEach(() => {
  vi.unstubAllEnvs()
  for (const close of closers.splice(0)) close()
})

async function listen(server: Server | RawServer): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function socks(options?: SocksServerOptions) {
  const server = await startSocksServer(options)
  closers.push(() => server.close())
  return server
}

const pem = (name: string) => readFileSync(`${import.meta.dirname}/__fixtures__/models.test.${name}.pem`, 'utf8')
const echo = (incoming: { readonly url?: string }, response: { end(text: string): unknown }) =>
  response.end(`got ${incoming.url}`)
const post = { method: 'POST', body: '{}' }
const permit = async (action: Parameters<typeof createPermit>[0]) => createPermit(action)

/** A fetch to a port of `models.test`, with what the environment says. */
const through = (protocol: 'http' | 'https', port: number, env: Record<string, string>) => {
  const baseUrl = `${protocol}://models.test:${port}`
  const fetch = createOriginFetch({ baseUrl, ...readProxies(env) })
  return (path: string, init: RequestInit = post) => fetch(baseUrl + path, init)
}

const reply = (work: Promise<unknown>) =>
  work.then(
    () => 'went through',
    ({ cause, message }: Error) => (cause instanceof Error ? cause.message : message),
  )

describe('a SOCKS5 proxy', () => {
  it('finds the names, carries http, and one connection serves the next request', async () => {
    const port = await listen(createServer(echo))
    const proxy = await socks()
    const fetch = through('http', port, { ALL_PROXY: `socks5h://${proxy.address}` })
    for (const path of ['/a', '/b']) expect(await (await fetch(path)).text()).toBe(`got ${path}`)
    expect(proxy.seen).toEqual([`name models.test:${port}`])
  })

  it('carries https for the host that was asked for, with the login in the address', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const names: unknown[] = []
    const server = createTlsServer({ key: pem('key'), cert: pem('cert') }, echo)
    server.on('secureConnection', ({ servername }) => names.push(servername))
    const port = await listen(server)
    const proxy = await socks({ login: 'me:p@ss:w/rd' })
    const fetch = through('https', port, { HTTPS_PROXY: `socks5h://me:p%40ss%3Aw%2Frd@${proxy.address}` })
    for (const path of ['/a', '/b']) expect(await (await fetch(path)).text()).toBe(`got ${path}`)
    expect([proxy.seen, names]).toEqual([[`name models.test:${port}`], ['models.test']])
  })

  it('is given the address that was found here when it is a socks5 one', async () => {
    const port = await listen(createServer(echo))
    const proxy = await socks()
    const { proxies } = readProxies({ http_proxy: `socks5://${proxy.address}` })
    for (const [address, family, seen] of [
      ['93.184.215.14', 4, '93.184.215.14'],
      ['2606:2800::1', 6, '[26062800000000000000000000000001]'],
    ] as const) {
      const get = createPublicFetch({ proxies, resolve: async () => [{ address, family }] })
      const { body } = await get(`http://public.example.com:${port}/x`, { permit })
      expect(String(Buffer.from(body))).toBe('got /x')
      expect(proxy.seen.at(-1)).toBe(`address ${seen}:${port}`)
    }
    const inside = createPublicFetch({ proxies, resolve: async () => [{ address: '10.0.0.1', family: 4 }] })
    await expect(inside(`http://public.example.com:${port}/x`, { permit })).rejects.toMatchObject({
      code: 'policy.address_refused',
    })
  })

  it.each<[string, SocksServerOptions, string, string]>([
    ['a wrong login', { login: 'me:other' }, 'me:secret@', 'does not accept the login'],
    ['a missing login', { login: 'me:other' }, '', 'wants a login as in socks5://NAME:PASSWORD@HOST:PORT'],
    ['a rule', { reply: 2 }, '', 'does not reach models.test: its rules forbid it'],
    ['a reply of no meaning', { reply: 77 }, '', 'does not reach models.test: reply 77'],
  ])('says in one line why it does not connect, without the login: %s', async (_, options, login, why) => {
    const proxy = await socks(options)
    const fetch = through('https', 443, { ALL_PROXY: `socks5h://${login}${proxy.address}` })
    expect(await reply(fetch('/'))).toBe(`The proxy socks5h://${proxy.address} ${why}`)
  })

  it('says so when it is none, hangs up or is not there', async () => {
    const other = await listen(createServer())
    const hangsUp = await listen(createRawServer((socket) => socket.once('data', () => socket.destroy())))
    const to = (port: number) => reply(through('http', 80, { ALL_PROXY: `socks5h://me:secret@127.0.0.1:${port}` })('/'))
    expect(await to(other)).toBe(`The proxy socks5h://127.0.0.1:${other} speaks no SOCKS5`)
    expect(await to(hangsUp)).toBe('socket hang up')
    expect(await to(1)).toBe('The proxy socks5h://127.0.0.1:1 cannot be reached (ECONNREFUSED)')
  })
})

describe('a proxy that never answers', () => {
  it.each(['socks5h', 'http'])('is left at once by an abort: %s', async (scheme) => {
    const gone = Promise.withResolvers<void>()
    const there = Promise.withResolvers<void>()
    const silent = createRawServer((socket) => {
      socket.on('error', () => undefined).on('close', () => gone.resolve())
      socket.once('data', () => there.resolve())
    })
    const port = await listen(silent)
    const controller = new AbortController()
    const fetch = through('https', 443, { ALL_PROXY: `${scheme}://127.0.0.1:${port}` })
    const requested = fetch('/', { ...post, signal: controller.signal })
    await there.promise
    controller.abort()
    await expect(requested).rejects.toMatchObject({ name: 'AbortError' })
    await gone.promise
  })
})

describe('what no proxy can carry', () => {
  it('is not sent, by whichever kind of body, rather than going out directly', async () => {
    let hits = 0
    const port = await listen(
      createServer((_, response) => {
        hits++
        response.end()
      }),
    )
    const { proxies } = readProxies({ ALL_PROXY: 'quic://me:secret@p:1' })
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    const network = { allowRanges: ['127.0.0.0/8'] }
    const line =
      'HTTP_PROXY or ALL_PROXY is "quic://p:1", which is no address of an HTTP or SOCKS5 proxy: nothing is sent that it is for. Correct it, or unset it to connect directly.'
    const get = createPublicFetch({ proxies, resolve, network })
    await expect(get(`http://models.test:${port}/`, { permit })).rejects.toThrow(line)
    const baseUrl = `http://models.test:${port}`
    const fetch = createOriginFetch({ baseUrl, proxies })
    for (const body of ['x', new FormData(), new Blob(['x']).stream()])
      await expect(fetch(baseUrl, { method: 'POST', body, duplex: 'half' } as RequestInit)).rejects.toThrow(line)
    expect(hits).toBe(0)
  })

  it('goes through the proxy too when it is a request, a form or a stream', async () => {
    const port = await listen(
      createServer(async (incoming, response) => {
        const body = await text(incoming)
        response.end(`${incoming.headers['content-type']?.split(';')[0]} ${body.length}`)
      }),
    )
    const proxy = await socks()
    const fetch = through('http', port, { ALL_PROXY: `socks5h://${proxy.address}` })
    const form = new FormData()
    form.set('a', 'b')
    expect(await (await fetch('/', { method: 'POST', body: form })).text()).toMatch(/^multipart\/form-data 1\d\d$/)
    const stream = { method: 'POST', body: new Blob(['four']).stream(), duplex: 'half' } as RequestInit
    expect(await (await fetch('/', stream)).text()).toBe('undefined 4')
    expect(proxy.seen.length).toBe(1)
  })
})

describe('NO_PROXY', () => {
  it('leads straight to an address that was checked, as without a proxy', async () => {
    let hits = 0
    const port = await listen(
      createServer((_, response) => {
        hits++
        response.end('inside')
      }),
    )
    const { proxies } = readProxies({ HTTP_PROXY: 'http://127.0.0.1:1', NO_PROXY: 'rebound.example.com' })
    const get = createPublicFetch({ proxies, resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
    await expect(get(`http://rebound.example.com:${port}/`, { permit })).rejects.toMatchObject({
      code: 'policy.address_refused',
    })
    expect(hits).toBe(0)
  })
})
