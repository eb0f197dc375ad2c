import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { userText } from '@hermes/contracts/conversation'
import type { WireApi } from '@hermes/contracts/model'
import { expect, it, onTestFinished } from 'vitest'
import { createTransport } from '../index.js'

const JSON_TYPE = { 'content-type': 'application/json' }

/** A server that answers everything so, and what one call of it comes to. */
async function callOf(api: WireApi, answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const transport = createTransport({ provider: 'custom', baseUrl, api, timeoutMs: 1_500, stallTimeoutMs: 300 })
  const call = transport.stream({ model: 'm', messages: [userText('Hi')], tools: [] }, { credential: 'key' })
  try {
    for await (const _ of call);
    return 'an answer'
  } catch (error) {
    return (error as { readonly code: string }).code
  }
}

function forEver(response: ServerResponse): void {
  const more = () => {
    while (response.write(Buffer.alloc(65_536, 'a')));
    response.once('drain', more)
  }
  response.on('close', () => response.removeAllListeners('drain'))
  more()
}

const APIS = ['chat-completions', 'responses', 'anthropic-messages'] as const

// How much is heard is counted in one place, before any wire.
it('a refusal that never ends is heard up to a limit, and an answer in one piece is none then', async () => {
  const refusal = await callOf('responses', (response) => forEver(response.writeHead(401, JSON_TYPE)))
  const answer = await callOf('chat-completions', (response) => forEver(response.writeHead(200, JSON_TYPE)))
  expect([refusal, answer]).toEqual(['transport.auth', 'transport.malformed_response'])
})

it.each(APIS)('a refusal that goes silent is heard up to there: %s', async (api) => {
  const code = await callOf(api, (response) => response.writeHead(401, JSON_TYPE).write('{"error"'))
  expect(code).toBe('transport.auth')
})

it.each(APIS)('an answer in one piece that goes silent is no answer: %s', async (api) => {
  const code = await callOf(api, (response) => response.writeHead(200, JSON_TYPE).write('{"id"'))
  expect(code).toBe('transport.malformed_response')
})
