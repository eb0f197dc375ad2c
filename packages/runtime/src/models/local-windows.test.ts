import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'

const OFF = { title_generation: { enabled: false }, session_summary: { enabled: false } }

/** A server that answers `say` and tells of one path what it runs. */
async function localServer(path: string, body: object) {
  const requested: string[] = []
  const server = createServer((request, response) => {
    requested.push(`${request.method} ${request.url}`)
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
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requested, close }
}

/** As documented. @see https://docs.ollama.com/api/ps */
const running = (context_length: number) => ({
  models: [
    {
      ...{ name: 'm:latest', model: 'm:latest', size: 6_591_830_464, digest: 'c6eb396dbd59' },
      details: {
        ...{ parent_model: '', format: 'gguf', family: 'm', families: ['m'] },
        ...{ parameter_size: '8.0B', quantization_level: 'Q4_K_M' },
      },
      ...{ expires_at: '2026-10-17T16:47:07.93355-07:00', size_vram: 5_333_539_264, context_length },
    },
  ],
})
const SMALL = { ps: running(2_048) }

it.each([
  { provider: 'ollama', path: '/api/ps', body: SMALL.ps, advice: /model set MODEL --window .*OLLAMA_CONTEXT_LENGTH=/ },
  { provider: 'llamacpp', path: '/props', body: { default_generation_settings: { n_ctx: 2_048 } }, advice: / -c / },
  { provider: 'custom', path: '/props', body: { default_generation_settings: { n_ctx: 2_048 } }, advice: / -c / },
  { provider: 'custom', path: '/api/ps', body: SMALL.ps, advice: /model set MODEL --window / },
  { provider: 'custom', path: '/api/v0/models/m', body: { loaded_context_length: 2_048 }, advice: /./ },
  { provider: 'custom', path: '/v1/models', body: { data: [{ id: 'm', max_model_len: 2_048 }] }, advice: /./ },
  { provider: 'openai', path: '/api/ps', body: SMALL.ps, advice: /model set MODEL --window / },
  // As with --base-url.
  { provider: null, path: '/api/ps', body: SMALL.ps, advice: /model set MODEL --window / },
  {
    provider: 'ollama',
    path: '/api/ps',
    body: running(65_536),
    advice: null,
  },
  {
    provider: 'custom',
    path: '/api/ps',
    body: running(65_536),
    advice: null,
  },
])(
  'asks $provider at $path before the first request, and says how to load more when prompt and tools do not fit: $advice',
  async ({ provider, path, body, advice }) => {
    await using home = await temporaryHome()
    const server = await localServer(path, body)
    const model = provider === null ? {} : { default: 'm', provider, base_url: server.baseUrl, api_key: 'k' }
    await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ model, auxiliary: OFF }))
    const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
    const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
    try {
      const request = provider === null ? { baseUrl: server.baseUrl, model: 'm' } : {}
      const { agent } = await runtime.createAgent(request)
      const notices: string[] = []
      for await (const event of agent.run('hi')) if (event.type === 'notice') notices.push(event.text)
      const notified = notices.filter((text) => /^System text and tools alone take about \d+ tokens/.test(text))
      expect(notified).toEqual(advice === null ? [] : [expect.stringMatching(advice)])
      const firstCall = server.requested.findIndex((line) => /^POST .*(?:completions|responses)$/.test(line))
      expect(server.requested.slice(0, firstCall)).toContain(`GET ${path}`)
    } finally {
      await runtime.close()
      server.close()
    }
  },
)
