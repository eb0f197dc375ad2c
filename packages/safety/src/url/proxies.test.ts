import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request as httpRequest, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createHttpFetch } from './http-fetch.js'
import { createOriginFetch } from './origin-fetch.js'
import { proxyFor, readProxies } from './proxies.js'

const closers: (() => void)[] = []
afterEach(() => {
  vi.unstubAllEnvs()
  for (const close of closers.splice(0)) close()
})

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A forward proxy that finds every host on this machine, and refuses what lacks `login`. */
async function startProxy(login?: string) {
  const seen: string[] = []
  const wanted = login && `Basic ${Buffer.from(login).toString('base64')}`
  const server = createServer((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url}`)
    const { pathname, port } = new URL(incoming.url!)
    const onward = httpRequest(
      { port, path: pathname, method: incoming.method, headers: incoming.headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      },
    )
    incoming.pipe(onward)
  })
  server.on('connect', (incoming, socket) => {
    seen.push(`CONNECT ${incoming.url}`)
    if (wanted && incoming.headers['proxy-authorization'] !== wanted) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      return
    }
    const onward = connect(Number(incoming.url!.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    closers.push(() => onward.destroy())
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
  })
  return { address: `127.0.0.1:${await listen(server)}`, seen }
}

const pem = (name: string) => readFileSync(`${import.meta.dirname}/__fixtures__/models.test.${name}.pem`, 'utf8')
const echo = (incoming: { readonly url?: string }, response: { end(text: string): unknown }) =>
  response.end(`got ${incoming.url}`)
const post = { method: 'POST', body: '{}' }

describe('createOriginFetch behind a proxy', () => {
  it('asks the proxy for the address, and keeps the connection', async () => {
    const port = await listen(createServer(echo))
    const proxy = await startProxy()
    const { proxies } = readProxies({ http_proxy: `http://${proxy.address}/` })
    const fetch = createOriginFetch({ baseUrl: `http://models.test:${port}/v1`, proxies })
    for (const path of ['/v1/a', '/v1/b'])
      expect(await (await fetch(`http://models.test:${port}${path}`, post)).text()).toBe(`got ${path}`)
    expect(proxy.seen).toEqual([`POST http://models.test:${port}/v1/a`, `POST http://models.test:${port}/v1/b`])
  })

  it('reaches https addresses through one tunnel, with the login in the address', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const port = await listen(createTlsServer({ key: pem('key'), cert: pem('cert') }, echo))
    const proxy = await startProxy('me:secret')
    const baseUrl = `https://models.test:${port}`
    const fetch = createOriginFetch({ baseUrl, ...readProxies({ HTTPS_PROXY: `http://me:secret@${proxy.address}` }) })
    for (const path of ['/a', '/b']) expect(await (await fetch(`${baseUrl}${path}`, post)).text()).toBe(`got ${path}`)
    expect(proxy.seen).toEqual([`CONNECT models.test:${port}`])
  })

  it('sends a login in any script', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const port = await listen(createTlsServer({ key: pem('key'), cert: pem('cert') }, echo))
    const proxy = await startProxy('жук:пароль')
    const baseUrl = `https://models.test:${port}`
    const fetch = createOriginFetch({ baseUrl, ...readProxies({ HTTPS_PROXY: `http://жук:пароль@${proxy.address}` }) })
    expect(await (await fetch(`${baseUrl}/a`, post)).text()).toBe('got /a')
  })

  it('uses the connections of one way for that way alone', async () => {
    const port = await listen(createServer(echo))
    const proxy = await startProxy()
    const fetch = createHttpFetch(readProxies({ HTTP_PROXY: proxy.address }))
    for (const host of ['models.test', '127.0.0.1', 'models.test'])
      expect(await (await fetch(`http://${host}:${port}/a`, post)).text()).toBe('got /a')
    expect(proxy.seen).toEqual(Array(2).fill(`POST http://models.test:${port}/a`))
  })

  it('fails in the usual way when the proxy refuses', async () => {
    const proxy = await startProxy('me:secret')
    const baseUrl = 'https://models.test'
    const fetch = createOriginFetch({ baseUrl, ...readProxies({ HTTPS_PROXY: `http://${proxy.address}` }) })
    await expect(fetch(baseUrl, post)).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { code: 'ERR_PROXY_TUNNEL' },
    })
  })

  it('goes straight to this machine, and to hosts that NO_PROXY names', async () => {
    const port = await listen(createServer(echo))
    const proxy = await startProxy()
    const env = { HTTP_PROXY: proxy.address, NO_PROXY: 'example.com, models.test' }
    const here = createOriginFetch({ baseUrl: `http://127.0.0.1:${port}`, ...readProxies(env) })
    expect(await (await here(`http://127.0.0.1:${port}/x`, post)).text()).toBe('got /x')
    const named = createOriginFetch({ baseUrl: `http://models.test:${port}`, ...readProxies(env) })
    await expect(named(`http://models.test:${port}/x`, post)).rejects.toMatchObject({ message: 'fetch failed' })
    expect(proxy.seen).toEqual([])
  })
})

describe('readProxies', () => {
  it.each([
    [{}, null],
    [{ NO_PROXY: 'x' }, null],
    [{ https_proxy: 'proxy:3128', HTTPS_PROXY: 'http://other' }, { HTTPS_PROXY: 'http://proxy:3128' }],
    [
      { ALL_PROXY: 'http://p:1', no_proxy: 'x' },
      { HTTP_PROXY: 'http://p:1', HTTPS_PROXY: 'http://p:1', NO_PROXY: 'x' },
    ],
    [{ ALL_PROXY: 'socks5://p:1' }, { HTTP_PROXY: 'socks5://p:1', HTTPS_PROXY: 'socks5://p:1' }],
    [
      { ALL_PROXY: 'socks5://p:1', HTTPS_PROXY: 'http://p:2' },
      { HTTP_PROXY: 'socks5://p:1', HTTPS_PROXY: 'http://p:2' },
    ],
  ])('reads %j', (env, proxies) => {
    const { notes: _notes, ...read } = readProxies(env)
    expect(read).toEqual({ proxies, problems: [] })
  })

  it('says what is wrong with an address, without the login in it, and does not do without it', () => {
    expect(readProxies({ ALL_PROXY: 'socks5://me:secret@p:1', HTTP_PROXY: 'socks5h://p:2' }).notes).toEqual([
      'ALL_PROXY is "socks5://p:1": this machine looks the names of hosts up itself, past the proxy. For the proxy to do that: socks5h://p:1',
    ])
    const { proxies, problems } = readProxies({ ALL_PROXY: 'quic://me:p@w@p:1', HTTP_PROXY: 'http://p:2' })
    expect(problems).toEqual([
      'ALL_PROXY is "quic://p:1", which is no address of an HTTP or SOCKS5 proxy: nothing is sent that it is for. Correct it, or unset it to connect directly.',
    ])
    expect(proxyFor(new URL('http://a.test'), proxies)?.href).toBe('http://p:2/')
    expect(() => proxyFor(new URL('https://a.test'), proxies)).toThrow(
      expect.objectContaining({ code: 'fetch.bad_proxy', message: expect.not.stringContaining('w@') }),
    )
  })
})

it.each(['http', 'socks5h'])('names the setting when the login of a proxy cannot be read: %s', async (scheme) => {
  const { proxies, problems } = readProxies({ HTTPS_PROXY: `${scheme}://me:100%@p:1` })
  const why = (name: string) =>
    `The login in ${name} (for "${scheme}://p:1") cannot be read, a percent sign is written %25: nothing is sent that the proxy is for.`
  expect(problems).toEqual([why('HTTPS_PROXY')])
  const fetch = createOriginFetch({ baseUrl: 'https://models.test', proxies })
  await expect(fetch('https://models.test', post)).rejects.toMatchObject({
    code: 'fetch.bad_proxy',
    message: why('HTTPS_PROXY or ALL_PROXY'),
  })
})

describe('proxyFor', () => {
  const leads = (url: string, NO_PROXY: string) => proxyFor(new URL(url), { HTTP_PROXY: 'http://p', NO_PROXY }) !== null

  it.each([
    ['http://a.test', 'b.test, a.test'],
    ['http://A.test', 'a.TEST'],
    ['http://a.test', 'a.test:80'],
    ['http://a.test:8080', 'x a.test:8080'],
    ['http://b.a.test', '.a.test'],
    ['http://b.a.test', '*.a.test'],
    ['http://b.a.test', 'a.test'],
    ['http://c.b.a.test:80', 'a.test:80'],
    ['http://a.test', '.a.test'],
    ['http://a.test', '*'],
    ['http://10.1.2.3', '10.0.0.0/8'],
    ['http://10.1.2.3:81', '10.1.2.3'],
    ['http://[fd00::1]', 'fd00::1'],
    ['http://[fd00::1]:81', '[fd00::1]:81'],
    ['http://[fd00::1]', 'fd00::/8'],
    ['http://localhost:1', ''],
  ])('leads straight to %s by %j', (url, list) => {
    expect(leads(url, list)).toBe(false)
  })

  it.each([
    ['http://a.test', ''],
    ['http://a.test', 'a.test:443'],
    ['http://ba.test', 'a.test'],
    ['http://ba.test', '.a.test'],
    ['http://a.test.b', 'a.test'],
    ['http://a.test', 'test.'],
    ['http://10.1.2.3', '2.3'],
    ['http://a.test', '*.a.test'],
    ['http://11.1.2.3', '10.0.0.0/8'],
    ['http://[fd01::1]', 'fd00::1'],
  ])('leads to %s through the proxy in spite of %j', (url, list) => {
    expect(leads(url, list)).toBe(true)
  })
})
