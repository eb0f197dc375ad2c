// Servers of the network that send more than anybody reads.
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

it.each([
  ['application/json', 32, undefined],
  ['text/event-stream', 4, 4 * 1024 * 1024],
] as const)(
  'an answer of 100 MB in one message is given up, as %s of more than %i MB',
  async (type, megabytes, mostBytes) => {
    const { url, sent, gone } = await sending(type, 100, LONG)
    const answer = await limitedFetch(fetch, mostBytes)(url)
    await expect(answer.text()).rejects.toMatchObject({
      code: 'mcp.too_large',
      message: expect.stringContaining(`more than ${megabytes} MB`),
    })
    // Nothing more is fetched.
    await gone
    expect(sent()).toBeLessThan(100)
  },
)

it('events that are more together are read, since each is short', async () => {
  const { url } = await sending('text/event-stream', 5, `${LONG.slice(1)}\n`)
  expect(await (await limitedFetch(fetch, 2 * MEGABYTE)(url)).text()).toHaveLength(5 * MEGABYTE)
})
