import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openRuntime } from './open-runtime.js'

/** A server that answers `say` and tells of one path what it runs. */
async function localServer(path: string, body: object) {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url === path) return void response.end(JSON.stringify(body))
    if (request.method !== 'POST') return void response.writeHead(404).end('{}')
    request.resume().on('end', () => {
      const choices = [{ message: { role: 'assistant', content: 'done' }, finish_reason: 'stop' }]
      response.end(JSON.stringify({ choices, usage: { prompt_tokens: 2_000, completion_tokens: 1 } }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close }
}

it.each([
  ['ollama', '/api/ps', { models: [{ name: 'm:latest', context_length: 2_048 }] }, true],
  ['llamacpp', '/props', { default_generation_settings: { n_ctx: 2_048 } }, true],
  ['ollama', '/api/ps', { models: [{ name: 'm:latest', context_length: 65_536 }] }, false],
] as const)(
  'warns when %s says at %s that prompt and tools do not fit, and only then: %j',
  async (provider, path, body, warns) => {
    await using home = await temporaryHome()
    const server = await localServer(path, body)
    const config = { model: { default: 'm', provider, base_url: server.baseUrl }, title_generation: { enabled: false } }
    await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
    const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path, surface: 'test' }
    const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
    try {
      const { agent } = await runtime.createAgent({})
      const notices: string[] = []
      for await (const event of agent.run('hi')) if (event.type === 'notice') notices.push(event.text)
      expect(notices.filter((text) => /^System text and tools alone take about \d+ tokens/.test(text))).toHaveLength(
        warns ? 1 : 0,
      )
    } finally {
      await runtime.close()
      server.close()
    }
  },
)
