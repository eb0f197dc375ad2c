import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'

const message = { role: 'assistant', content: 'done' }
const usage = { prompt_tokens: 90, completion_tokens: 10 }
const ANSWERS = {
  'text/event-stream': [{ choices: [{ delta: message, finish_reason: 'stop' }], usage }, '[DONE]']
    .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    .join(''),
  'application/json': JSON.stringify({ choices: [{ message, finish_reason: 'stop' }], usage }),
}

/** As llama.cpp does: it announces that it keeps the connection, and closes it when the next request comes. */
async function closingServer(type: keyof typeof ANSWERS) {
  const used = new WeakSet<object>()
  const counts = { answered: 0, dropped: 0 }
  const server = createServer((request, response) => {
    if (used.has(request.socket)) {
      counts.dropped++
      return void request.socket.destroy()
    }
    used.add(request.socket)
    request.resume().on('end', () => {
      counts.answered++
      response.writeHead(200, { 'content-type': type, connection: 'keep-alive' }).end(ANSWERS[type])
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, counts, close }
}

it.each([
  // Whether the server closes is known once it did.
  { type: 'text/event-stream' },
  { type: 'application/json' },
] as const)('a server that closes kept connections after $type costs no attempt and no second budget', async (row) => {
  const server = await closingServer(row.type)
  const home = await temporaryHome()
  const config = {
    model: { default: 'm', context_length: 100_000, base_url: server.baseUrl },
    title_generation: { enabled: false },
    // A second reservation of the usual output would not fit.
    budget: { day: { tokens: 65_000 } },
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
  const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  try {
    const { agent } = await runtime.createAgent({})
    for (let turn = 0; turn < 4; turn++) {
      const run = agent.run('go on')
      const events: string[] = []
      for await (const { type } of run) events.push(type)
      expect(await run.result).toMatchObject({ status: 'completed', text: 'done' })
      expect(events.filter((type) => /retry|wait/.test(type))).toEqual([])
    }
    expect(server.counts.answered).toBe(4)
    expect(server.counts.dropped).toBeLessThanOrEqual(2)
  } finally {
    await runtime.close()
    server.close()
  }
})
