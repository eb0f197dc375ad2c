import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type JsonObject, silentLogger, systemClock } from '@hermes/contracts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readConfigHooks } from './declarations.js'
import type { Moment } from './moment.js'
import { createOutbound } from './outbound.js'

let server: Server
const received: JsonObject[] = []
const open: ServerResponse[] = []
let isHolding = false

beforeEach(async () => {
  received.length = open.length = 0
  isHolding = false
  server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('')
    received.push(JSON.parse(body) as JsonObject)
    if (isHolding) open.push(response)
    else response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => new Promise((resolve) => server.close(resolve)))

const moment = (toolName: string, id: string): Moment => ({
  ...{ point: 'tool-result', sessionId: 's', platform: 'cli', agentPath: ['root'], cwd: '/w', runId: 'r', model: 'm' },
  permissionMode: 'default',
  call: { id, toolName, args: {}, result: { text: 'done', isError: false, durationMs: 1 } },
})

function outbound(more: object, warnings: string[] = []) {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { outbound: hooks } = readConfigHooks({ outbound: [{ url, events: ['post_tool_call'], ...more }] }, 'c')
  return createOutbound(hooks, {
    ...{ fetchTo: () => fetch, secret: () => undefined, profile: 'default', clock: systemClock },
    logger: { ...silentLogger, warn: (text) => void warnings.push(text) },
  })
}

const calls = () => received.map(({ extra }) => (extra as JsonObject)['tool_call_id'])

it('a webhook is told of the tools that its matcher names', async () => {
  const webhook = outbound({ matcher: 'terminal|patch' })
  for (const name of ['terminal', 'read_file', 'patch', 'terminals']) webhook.tell(moment(name, name), (text) => text)
  await webhook.close()
  expect(calls()).toEqual(['terminal', 'patch'])
})

it('a webhook that is behind drops what comes after a hundred events, and says so', async () => {
  isHolding = true
  const warnings: string[] = []
  const webhook = outbound({ name: 'ops' }, warnings)
  for (let at = 1; at <= 103; at++) webhook.tell(moment('terminal', String(at)), (text) => text)
  await expect.poll(() => open.length).toBe(1)
  isHolding = false
  open[0]!.writeHead(204).end()
  await expect.poll(() => received.length).toBe(100)
  await webhook.close()
  expect(calls()).toEqual(Array.from({ length: 100 }, (_, at) => String(at + 1)))
  expect(warnings).toEqual(Array.from({ length: 3 }, () => 'The webhook ops is behind; an event was dropped.'))
})
