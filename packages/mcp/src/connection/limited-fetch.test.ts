// Servers of the network that send 100 MB.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { limitedFetch } from './limited-fetch.js'

const MEGABYTE = 1_000_000
let close: () => Promise<void> = async () => undefined

afterEach(() => close())

/** A server that sends so many pieces of a megabyte, as fast as they are taken; `sent` says how many were. */
async function sending(type: string, pieces: number, piece: string) {
  let sent = 0
  const gone = Promise.withResolvers<void>()
  const write = (response: ServerResponse): void => {
    while (sent < pieces) {
      sent++
      if (!response.write(piece)) return void response.once('drain', () => write(response))
    }
    response.end()
  }
  const server = createServer((_request, response) => {
    response.on('close', gone.resolve)
    write(response.writeHead(200, { 'content-type': type }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  close = async () => {
    server.closeAllConnections()
    server.close()
  }
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, sent: () => sent, gone: gone.promise }
}

const LONG = 'x'.repeat(MEGABYTE)

it.each(['application/json', 'text/event-stream'])(
  'an answer of 100 MB in one message is given up, as %s',
  async (type) => {
    const { url, sent, gone } = await sending(type, 100, LONG)
    const answer = await limitedFetch(fetch)(url)
    await expect(answer.text()).rejects.toMatchObject({
      code: 'mcp.too_large',
      message: expect.stringContaining('32 MB'),
    })
    // Nothing more is fetched.
    await gone
    expect(sent()).toBeLessThan(100)
  },
)

it('events of 40 MB together are read, since each is short', async () => {
  const { url } = await sending('text/event-stream', 40, `${LONG.slice(1)}\n`)
  expect(await (await limitedFetch(fetch)(url)).text()).toHaveLength(40 * MEGABYTE)
})
