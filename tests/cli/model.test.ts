// `hermes model`, endpoints of config.yaml and the way to them through a proxy, from a clean install.
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
beforeEach(() => mkdir(scene.home, { recursive: true }))

const hermes = (args: readonly string[], env: Record<string, string> = {}) => runCli(args, { ...scene, env })
const config = (yaml: string) => writeFile(join(scene.home, 'config.yaml'), yaml)

describe('hermes model', () => {
  it('lists providers and whether they are ready, and the models of one', async () => {
    await config(`providers:\n  lab: { base_url: '${scene.server.baseUrl}' }\n`)
    const all = JSON.parse((await hermes(['model', 'list', '--json'], { XAI_API_KEY: 'k' })).stdout) as {
      id: string
      ready: boolean
    }[]
    expect(all.filter(({ ready }) => ready).map(({ id }) => id)).toEqual(
      expect.arrayContaining(['lab', 'xai', 'ollama', 'bedrock']),
    )
    expect(all.find(({ id }) => id === 'openai')?.ready).toBe(false)
    expect(await hermes(['model', 'list', 'lab'])).toMatchObject({ exitCode: 0, stdout: 'scripted\n' })
  })

  it('keeps a model that the endpoint lists, and names the nearest for another', async () => {
    await config(`providers:\n  lab: { base_url: '${scene.server.baseUrl}' }\n`)
    const wrong = await hermes(['model', 'set', 'scriptd', '--provider', 'lab'])
    expect(wrong.exitCode).not.toBe(0)
    expect(wrong.stderr).toContain('lab does not list "scriptd". Did you mean scripted?')
    expect(await hermes(['model', 'set', 'scripted', '--provider', 'lab'])).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await readFile(join(scene.home, 'config.yaml'), 'utf8')).toMatch(/default: scripted\n {2}provider: lab/)
    scene.server.enqueue({ text: 'Hello.' })
    expect(await hermes(['chat', '-q', 'hi'])).toMatchObject({ exitCode: 0, stdout: 'Hello.\n' })
    expect(scene.server.requests[0]?.body.model).toBe('scripted')
    expect((await hermes(['model', 'set', 'other', '--force'])).exitCode).toBe(0)
  })

  it('has Ollama make a model with a larger window and keeps that, and says where a server makes none', async () => {
    const made: unknown[] = []
    const server = createServer(async (incoming, response) => {
      response.setHeader('content-type', 'application/json')
      if (incoming.url === '/v1/models') return void response.end('{"data":[{"id":"qwen3:8b"},{"id":"other"}]}')
      if (incoming.url !== '/api/create') return void response.writeHead(404).end('{}')
      const wanted = JSON.parse(await text(incoming))
      made.push(wanted)
      if (wanted.from === 'other') return void response.writeHead(404).end('{"error":"not found"}')
      response.end('{"status":"success"}')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    await config(`model: { provider: ollama, base_url: '${url}' }\n`)
    const set = (model: string, window: string) => hermes(['model', 'set', model, '--window', window])
    expect(await set('qwen3:8b', '32768')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^qwen3:8b-32k at/),
    })
    expect(made).toEqual([{ model: 'qwen3:8b-32k', from: 'qwen3:8b', parameters: { num_ctx: 32_768 }, stream: false }])
    expect((await set('other', '32768')).stderr).toMatch(
      /made no model with that window \(HTTP 404\)\. Only Ollama can/,
    )
    expect((await set('qwen3:8b', '12')).stderr).toContain('at least 1024')
    expect(await readFile(join(scene.home, 'config.yaml'), 'utf8')).toContain('default: qwen3:8b-32k')
    server.closeAllConnections()
    server.close()
  })

  it('keeps a model that nobody could be asked about, and says which it looks like', async () => {
    await config('models_dev: { refresh: false }\n')
    const kept = await hermes(['model', 'set', 'gpt-4.1-mnii', '--provider', 'openai'])
    expect(kept).toMatchObject({ exitCode: 0, stdout: 'gpt-4.1-mnii at openai is what Hermes uses from now on.\n' })
    expect(kept.stderr).toMatch(/^hermes: OpenAI needs a key/)
    expect(kept.stderr).toMatch(/could not be asked whether it has "gpt-4\.1-mnii"\. Did you mean gpt-4\.1-mini\b/)
    const known = await hermes(['model', 'set', 'gpt-4.1-mini', '--provider', 'openai'])
    expect(known.stderr).not.toContain('Did you mean')
  })

  it('says what is known about a model and who says so; the configuration counts most', async () => {
    const known = await hermes(['model', 'info', 'claude-sonnet-4-5', '--provider', 'anthropic'], {
      ANTHROPIC_API_KEY: 'k',
    })
    expect(known.stdout).toMatch(/^price +\$3 in, \$0\.3 cached, \$15 out per million tokens.* \(genai-prices, \d{4}-/m)
    await config(`
model_overrides:
  tiny: { context_window: 8000, supports_vision: true, input_price: 1, output_price: 2 }
`)
    const own = await hermes(['model', 'info', 'tiny', '--provider', 'ollama', '--json'])
    expect(JSON.parse(own.stdout)).toMatchObject({
      contextLength: { value: 8_000, source: 'config' },
      prices: { value: { inputPerMillion: 1, outputPerMillion: 2 }, source: 'config' },
      abilities: { vision: true },
    })
  })

  it('says what is known about a model without any key, and how to get one', async () => {
    const found = await hermes(['model', 'info', 'claude-sonnet-4-5'])
    expect(found).toMatchObject({ exitCode: 0, stderr: '' })
    expect(found.stdout).toMatch(/^provider +anthropic \(https:\/\/api\.anthropic\.com\)$/m)
    expect(found.stdout).toMatch(/^window +200,000 tokens/m)
    expect(found.stdout).toMatch(/^key +none\. Anthropic needs a key: export ANTHROPIC_API_KEY=/m)
    const named = await hermes(['model', 'info', 'glm-5.3', '--provider', 'zai', '--json'])
    expect(JSON.parse(named.stdout)).toMatchObject({ provider: 'zai', contextLength: { source: 'genai-prices' } })
    const wrong = await hermes(['model', 'info', 'claude-sonet-4-5'])
    expect(wrong).toMatchObject({ exitCode: 2, stdout: '' })
    expect(wrong.stderr).toMatch(
      /^hermes: No provider is known to have a model .* Did you mean claude-sonnet-4-5[^\n]*\n$/,
    )
  })

  it('fetches the catalogue from the mirror in config.yaml, and keeps what it had when that fails', async () => {
    const catalogue = { openai: { models: { 'gpt-4.1': { limit: { context: 5_000, output: 600 } } } } }
    const mirror = createServer((_request, response) => response.end(JSON.stringify(catalogue))).listen(0, '127.0.0.1')
    await once(mirror, 'listening')
    await config(`models_dev: { url: 'http://127.0.0.1:${(mirror.address() as AddressInfo).port}/api.json' }\n`)
    expect((await hermes(['model', 'refresh'])).exitCode).toBe(0)
    mirror.closeAllConnections()
    await new Promise((resolve) => mirror.close(resolve))
    expect(await hermes(['model', 'refresh'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /could not be read; the list known before stays, windows that were learned are forgotten/,
      ),
    })
    const { stdout } = await hermes(['model'], { OPENAI_API_KEY: 'k' })
    expect(stdout).toMatch(/^window +5,000 tokens \(models\.dev\)$/m)
    expect(stdout).toMatch(/^answer +up to 600 tokens \(models\.dev\)$/m)
  })
})

describe('an endpoint of config.yaml', () => {
  it('is all it takes: address, key, headers, fields, wire', async () => {
    await config(`
model: { provider: lab }
providers:
  lab:
    base_url: ${scene.server.anthropicBaseUrl}
    api_mode: anthropic_messages
    key_env: LAB_KEY
    extra_headers: { x-team: blue }
    models: { claude-own: { context_length: 40000 } }
`)
    scene.server.enqueue({ text: 'Hello.' })
    const result = await hermes(['chat', '-q', 'hi'], { LAB_KEY: 'secret-of-lab' })
    expect(result).toMatchObject({ exitCode: 0, stdout: 'Hello.\n' })
    expect(scene.server.requests[0]).toMatchObject({
      api: 'anthropic-messages',
      headers: { 'x-api-key': 'secret-of-lab', 'x-team': 'blue' },
      body: { model: 'claude-own' },
    })
    expect((await hermes(['config', 'get', 'providers.lab.extra_headers'])).stdout).not.toContain('blue')
    expect((await hermes(['config', 'check'])).exitCode).toBe(0)
  })

  it('elsewhere does not get the key of OpenAI by accident', async () => {
    const result = await hermes(['chat', '-q', 'hi', '--base-url', 'https://llm.example/v1', '-m', 'm'], {
      OPENAI_API_KEY: 'sk-private',
    })
    expect(result.exitCode).not.toBe(0)
    expect(result.stderr).toMatch(/^hermes: OPENAI_API_KEY is not sent to llm\.example: [^\n]*\n$/)
  })

  it('is named by its nearest name when it is mistyped, also by config check', async () => {
    await config('model: { provider: opnai, default: m }\ntoolsets: [hermes-clii]\n')
    const result = await hermes(['config', 'check'])
    expect(result.exitCode).toBe(1)
    expect(result.stdout).toMatch(/1:20: model\.provider: there is no provider "opnai"\. Did you mean openai\?/)
    expect(result.stdout).toMatch(/2:12: toolsets\.0: there is no toolset "hermes-clii"\. Did you mean hermes-cli\?/)
  })
})

describe('a proxy', () => {
  it('leads to endpoints elsewhere, and calls there have a cost with its source and date', async () => {
    const seen: string[] = []
    const proxy = createServer((incoming, response) => {
      seen.push(`${incoming.method} ${incoming.url}`)
      const { port, pathname } = new URL(incoming.url!)
      const onward = request({ port, path: pathname, method: incoming.method, headers: incoming.headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      })
      incoming.pipe(onward)
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    scene.server.enqueue({ text: 'Through the proxy.' })
    const port = new URL(scene.server.baseUrl).port
    const result = await hermes(['chat', '-q', 'hi', '--base-url', `http://models.test:${port}/v1`, '-m', 'm'], {
      HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    })
    expect(result).toMatchObject({ exitCode: 0, stdout: 'Through the proxy.\n' })
    expect(seen[0]).toBe(`POST http://models.test:${port}/v1/chat/completions`)
    // What a call elsewhere costs is known, with where the price is from.
    const usage = { inputTokens: 1_000_000, outputTokens: 100_000 }
    scene.server.enqueue({ text: 'Paid for.', usage })
    const env = {
      HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      ANTHROPIC_BASE_URL: `http://models.test:${port}`,
      ANTHROPIC_API_KEY: 'k',
    }
    await config('models_dev: { refresh: false }\n')
    const paid = await hermes(['chat', '-q', 'hi', '--provider', 'anthropic', '-m', 'claude-3-haiku'], env)
    expect(paid).toMatchObject({ exitCode: 0, stdout: 'Paid for.\n' })
    const spent = JSON.parse((await hermes(['usage', '--json', '--by', 'model'])).stdout) as { rows: object[] }
    expect(spent.rows[0]).toMatchObject({
      key: 'claude-3-haiku',
      usage: { costUsd: 0.375 },
      priceSources: [expect.stringMatching(/^genai-prices \d{4}-\d\d-\d\d$/)],
    })
    proxy.closeAllConnections()
    proxy.close()
  })
})
