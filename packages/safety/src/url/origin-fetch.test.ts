import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOriginFetch } from './origin-fetch.js'

let server: Server
let other: Server
let origin = ''
let seenByOther = 0

const listen = (target: Server) =>
  new Promise<string>((resolve) =>
    target.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(target.address() as AddressInfo).port}`)),
  )

beforeAll(async () => {
  other = createServer((_, response) => {
    seenByOther++
    response.end('other')
  })
  const away = await listen(other)
  server = createServer((request, response) => {
    const target = { '/away': away, '/near': '/ok', '/loop': '/loop' }[request.url ?? '']
    if (target) response.writeHead(307, { location: target }).end()
    else response.end(`${request.method} ${request.url} ${request.headers.authorization}`)
  })
  origin = await listen(server)
})
afterAll(() => {
  server.close()
  other.close()
})

describe('createOriginFetch', () => {
  it('reaches its origin, whatever the path of the base URL', async () => {
    const fetch = createOriginFetch({ baseUrl: `${origin}/v1` })
    const headers = { authorization: 'Bearer x' }
    expect(await (await fetch(`${origin}/v2/chat`, { method: 'POST', headers })).text()).toBe('POST /v2/chat Bearer x')
    expect(await (await fetch(new Request(`${origin}/r`, { headers }))).text()).toBe('GET /r Bearer x')
  })

  it('refuses another origin before anything is sent', async () => {
    const fetch = createOriginFetch({ baseUrl: 'https://api.example.com/v1' })
    for (const url of [
      'http://api.example.com/v1',
      'https://api.example.com:8443/',
      'https://api.example.com.evil.dev/',
      origin,
    ]) {
      await expect(fetch(url)).rejects.toMatchObject({ code: 'policy.origin_refused' })
    }
  })

  it('follows redirects inside the origin for GET, and hands them back otherwise', async () => {
    const fetch = createOriginFetch({ baseUrl: origin })
    expect(await (await fetch(`${origin}/near`)).text()).toContain('GET /ok')
    expect((await fetch(`${origin}/near`, { method: 'POST', body: 'x' })).status).toBe(307)
    expect((await fetch(`${origin}/loop`)).status).toBe(307)
  })

  it('does not follow a redirect that leaves the origin', async () => {
    const fetch = createOriginFetch({ baseUrl: origin })
    for (const method of ['GET', 'POST']) {
      await expect(fetch(`${origin}/away`, { method })).rejects.toMatchObject({ code: 'policy.origin_refused' })
    }
    expect(seenByOther).toBe(0)
  })

  it('lets an abort through as it is', async () => {
    const fetch = createOriginFetch({ baseUrl: origin })
    await expect(fetch(`${origin}/x`, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('refuses a base URL that is none', () => {
    expect(() => createOriginFetch({ baseUrl: 'api.example.com' })).toThrow(
      expect.objectContaining({ code: 'policy.bad_origin' }),
    )
  })
})
