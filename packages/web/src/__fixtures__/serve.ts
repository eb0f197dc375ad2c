import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject, JsonValue } from '@hermes/contracts'
import type { Action } from '@hermes/contracts/policy'
import { createAllowAllPolicy, createOriginFetch } from '@hermes/safety'
import type { Failure } from '../testing/search-cases.js'

/** A request as it came. */
export interface Seen {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: JsonValue
}

/** What is answered: JSON, or whatever is done with the response. */
export type Reply = JsonObject | ((response: ServerResponse, seen: Seen) => void)

/** A server on loopback that answers by path. */
export async function serve(reply: (seen: Seen) => Reply) {
  const requests: Seen[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const seen: Seen = {
      method: request.method!,
      path: request.url!,
      headers: request.headers,
      body: text === '' ? null : (JSON.parse(text) as JsonValue),
    }
    requests.push(seen)
    const answer = reply(seen)
    if (typeof answer === 'function') answer(response, seen)
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    baseUrl,
    requests,
    fetchTo: (address: string) => createOriginFetch({ baseUrl: address }),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Gives leave for everything, and keeps what it was asked for. */
export function allowing() {
  const actions: Action[] = []
  const policy = createAllowAllPolicy()
  const subject = { sessionId: 's', platform: 'test', agentPath: ['root'], origin: 'model', tainted: false } as const
  return {
    actions,
    permit: async (action: Action) => {
      actions.push(action)
      const decision = await policy.decide(action, subject)
      if (decision.type !== 'allow') throw new Error('not allowed')
      return decision.permit
    },
  }
}

/** How a service goes wrong, over HTTP. */
export function failingReply(failure: Failure): Reply {
  return (response) => {
    switch (failure.type) {
      case 'status':
        response.writeHead(failure.status, { 'content-type': 'application/json', ...failure.headers })
        response.end(JSON.stringify({ error: `no: ${'because '.repeat(400)}` }))
        break
      case 'html':
        response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title>')
        break
      case 'error-as-200':
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"success":false,"error":"it is broken"}')
        break
      case 'silence':
        break
      case 'endless':
        endless(response)
        break
      default:
        failure satisfies never
    }
  }
}

function endless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const piece = Buffer.alloc(1_000_000, 32)
  const more = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', more)
  more()
}
