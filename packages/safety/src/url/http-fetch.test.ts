import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createRawServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { createHttpFetch } from './http-fetch.js'

const httpFetch = createHttpFetch()

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function serve(listener: RequestListener) {
  const server = createServer(listener)
  const connections = { count: 0 }
  server.on('connection', () => connections.count++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, connections }
}

const plain = { redirect: 'manual' } as const

describe('createHttpFetch', () => {
  it('sends method, headers and text, gives status, headers and body, and keeps the connection', async () => {
    const { url, connections } = await serve(async (request, response) => {
      response.writeHead(201, { 'x-kind': request.headers['x-kind'] })
      response.end(`${request.method} ${request.headers['content-length']} ${await text(request)}`)
    })
    for (let round = 0; round < 2; round++) {
      const response = await httpFetch(url, { ...plain, method: 'POST', headers: { 'x-kind': 'a' }, body: 'é' })
      expect([response.status, response.headers.get('x-kind'), await response.text()]).toEqual([201, 'a', 'POST 2 é'])
    }
    expect(connections.count).toBe(1)
  })

  /** Says that it keeps connections, and closes each one when a second request comes on it. */
  const closing = (type: string) => {
    const seen = new WeakSet<object>()
    const dropped: string[] = []
    const listener: RequestListener = (request, response) => {
      if (seen.has(request.socket)) {
        dropped.push(request.method!)
        return void request.socket.destroy()
      }
      seen.add(request.socket)
      response.writeHead(200, { 'content-type': type, connection: 'keep-alive' }).end('data: [DONE]\n\n')
    }
    return { listener, dropped }
  }

  it.each(['text/event-stream; charset=utf-8', 'application/x-ndjson', 'application/vnd.amazon.eventstream'])(
    'takes no connection again after a stream of %s for what may not be sent twice',
    async (type) => {
      const { listener, dropped } = closing(type)
      const { url, connections } = await serve(listener)
      await (await httpFetch(url, plain)).text()
      for (let round = 0; round < 3; round++)
        await (await httpFetch(url, { ...plain, method: 'POST', body: 'x' })).text()
      expect([connections.count, dropped]).toEqual([4, []])
    },
  )

  it('uses a connection again after a stream for model calls, until a server that announces otherwise closes one', async () => {
    const ask = async (fetch: typeof httpFetch, url: string) =>
      (await fetch(url, { ...plain, method: 'POST', body: 'x' })).text()
    const keeping = await serve((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: [DONE]\n\n'),
    )
    const toModel = createHttpFetch({ repeatsPosts: true })
    for (let round = 0; round < 3; round++) await ask(toModel, keeping.url)
    expect(keeping.connections.count).toBe(1)

    const { listener, dropped } = closing('text/event-stream')
    const unasked = await serve(listener)
    const toOther = createHttpFetch({ repeatsPosts: true })
    for (let round = 0; round < 4; round++) expect(await ask(toOther, unasked.url)).toBe('data: [DONE]\n\n')
    // The first is met closed once; afterwards each stream has one of its own.
    expect([unasked.connections.count, dropped]).toEqual([4, ['POST']])
  })

  it('gives all that came before an answer broke off, and then the break', async () => {
    const gone = Promise.withResolvers<void>()
    const { url } = await serve((_request, response) => {
      response.on('close', () => setImmediate(gone.resolve))
      response.writeHead(200, { 'content-length': '100' })
      response.write('the half', () => response.destroy())
    })
    const response = await httpFetch(url, plain)
    await gone.promise
    const pieces: string[] = []
    const read = async () => {
      for await (const piece of response.body!) pieces.push(Buffer.from(piece).toString())
    }
    await expect(read()).rejects.toMatchObject({ message: 'terminated' })
    expect(pieces).toEqual(['the half'])
  })

  it.each([
    { method: 'GET', repeatsPosts: false, ends: 'text' },
    { method: 'POST', repeatsPosts: true, ends: 'text' },
    { method: 'POST', repeatsPosts: false, ends: 'ECONNRESET' },
    { method: 'DELETE', repeatsPosts: true, ends: 'ECONNRESET' },
  ])('meets a kept connection that was closed: $method, repeating POST $repeatsPosts: $ends', async (row) => {
    const { method, repeatsPosts, ends } = row
    const { listener, dropped } = closing('application/json')
    const { url, connections } = await serve(listener)
    const requested = createHttpFetch({ repeatsPosts })
    const send = async () =>
      (await requested(url, { ...plain, method, ...(method === 'GET' ? {} : { body: 'x' }) })).text()
    await send()
    const again = await send().then(
      () => 'text',
      (error: unknown) => (error as { readonly cause: { readonly code: string } }).cause.code,
    )
    expect([again, dropped]).toEqual([ends, [method]])
    expect(connections.count).toBe(ends === 'text' ? 2 : 1)
  })

  it('asks once more at most, and never when a byte of the answer came', async () => {
    let count = 0
    const server = createRawServer((socket) => {
      let requests = 0
      socket.on('error', () => undefined)
      socket.on('data', () => {
        count++
        if (++requests === 1 && count === 1)
          return socket.write('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok')
        if (count === 2 || count === 5) return socket.resetAndDestroy()
        if (count === 3) return socket.destroy()
        if (requests === 1) return socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
        return socket.write('HTTP/1.1 2', () => socket.destroy())
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    await (await httpFetch(url, plain)).text()
    // The kept one is reset, and so is the fresh one.
    await expect(httpFetch(url, plain)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
    expect(count).toBe(3)
    await (await httpFetch(url, plain)).text()
    count = 10
    await expect(httpFetch(url, plain)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
    expect(count).toBe(11)
  })

  it('hands back a redirect', async () => {
    const { url } = await serve((_request, response) => response.writeHead(302, { location: '/there' }).end())
    const response = await httpFetch(url)
    expect([response.status, response.headers.get('location')]).toEqual([302, '/there'])
  })

  it('fails when the headers of an answer are too long', async () => {
    const { url } = await serve((_request, response) => response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end())
    await expect(httpFetch(url, plain)).rejects.toMatchObject({ cause: { code: 'HPE_HEADER_OVERFLOW' } })
  })

  it('gives an answer without a body', async () => {
    const { url } = await serve((_request, response) => response.writeHead(204).end())
    expect(await (await httpFetch(url, plain)).text()).toBe('')
  })

  it('reads no answer whole that never ends, and lets go of the connection', async () => {
    const piece = Buffer.alloc(4_000_000, ' ')
    const gone = Promise.withResolvers<void>()
    const { url } = await serve((_request, response) => {
      const more = () => {
        while (response.write(piece));
      }
      response.on('drain', more).on('close', () => gone.resolve())
      more()
    })
    const response = await httpFetch(url, plain)
    await expect(response.json()).rejects.toMatchObject({ code: 'fetch.too_large' })
    await gone.promise
  })

  it('reads no answer whole that is large only when it is unpacked', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(65_000_000)))
    })
    await expect((await httpFetch(url, plain)).text()).rejects.toMatchObject({ code: 'fetch.too_large' })
  })

  it('unpacks what a server packed unasked', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed'))
    })
    expect(await (await httpFetch(url, plain)).text()).toBe('packed')
  })

  it('gives no body for HEAD, whatever the headers say of one', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '20' }).end()
    })
    const response = await httpFetch(url, { ...plain, method: 'HEAD' })
    expect([response.headers.get('content-length'), await response.text()]).toEqual(['20', ''])
  })

  it('rejects with the reason of an abort, before the answer and in the middle of it', async () => {
    const { url } = await serve((request, response) => {
      if (request.method === 'POST') response.writeHead(200).write('half')
    })
    const first = new AbortController()
    const waiting = httpFetch(url, { ...plain, signal: first.signal })
    first.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })

    const second = new AbortController()
    const response = await httpFetch(url, { ...plain, method: 'POST', body: '', signal: second.signal })
    const reader = response.body!.getReader()
    await reader.read()
    second.abort()
    await expect(reader.read()).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('stays whole when an abort meets an answer that is all there but not read yet', async () => {
    const { url } = await serve((_request, response) => {
      response.write('one')
      response.end('two')
    })
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController()
      const sent = { ...plain, method: 'POST', body: 'x'.repeat(50_000), signal: controller.signal }
      const reader = (await httpFetch(url, sent)).body!.getReader()
      await reader.read()
      controller.abort()
      await reader.read().catch(() => undefined)
      await new Promise((resolve) => setImmediate(resolve))
    }
  })

  it('rejects as fetch does when nobody answers and when the answer is cut', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('cut', () => response.destroy())
    })
    const response = await httpFetch(url, plain)
    await expect(response.text()).rejects.toMatchObject({ name: 'TypeError', message: 'terminated' })
    await expect(httpFetch('http://127.0.0.1:1/', plain)).rejects.toMatchObject({
      name: 'TypeError',
      cause: { code: 'ECONNREFUSED' },
    })
  })

  it('closes the connection when the reader leaves', async () => {
    let closed: Promise<unknown> | undefined
    const { url } = await serve((_request, response) => {
      closed = once(response, 'close')
      response.writeHead(200).write('more to come')
    })
    const response = await httpFetch(url, plain)
    await response.body!.cancel()
    await closed
  })

  it('says what broke an answer off, and not only that it was', async () => {
    const server = createRawServer((socket) => {
      socket.on('error', () => undefined)
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\nno size\r\n')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(() => server.close())
    const response = await httpFetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, plain)
    await expect(response.text()).rejects.toMatchObject({
      name: 'TypeError',
      cause: { code: 'HPE_INVALID_CHUNK_SIZE' },
    })
  })
})
